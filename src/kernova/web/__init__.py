"""The page for discovery: a request comes in, the workbench does it, JSON goes out."""
