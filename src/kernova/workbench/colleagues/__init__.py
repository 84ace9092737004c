"""Several experts on one project: who is here, overlap, agreement, disagreements and undo."""
