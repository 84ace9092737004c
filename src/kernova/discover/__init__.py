"""Category discovery: choose which row to show an expert next, and record the answers."""
