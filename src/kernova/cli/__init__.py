"""The command line: parse, run a study, print."""
