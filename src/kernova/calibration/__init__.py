"""Station four: from scores to decisions whose error is bounded."""
