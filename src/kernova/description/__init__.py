"""Describe: known classes in one shared kernel space, and an honest "none of these"."""
