"""Project files on disk: their lines, their content, appending to them, and older formats."""
