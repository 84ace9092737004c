"""Media: what the rows of a table look and sound like."""
