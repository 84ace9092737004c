"""Station one: tables from files."""
