"""Review of many rows at once: their suggestions, doubtful labels, and decisions about them."""
