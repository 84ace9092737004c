"""Pictures and embeddings as tables of the commands that take tables."""
