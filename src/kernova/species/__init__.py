"""The study of species: whether a sample of specimens is a new species."""
