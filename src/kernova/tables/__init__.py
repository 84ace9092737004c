"""Tables: reading from files, columns, encoding as numbers, and result records."""
