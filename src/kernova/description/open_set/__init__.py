"""Open-set classification: which of the known classes a row belongs to, or none of them."""
