"""Station five: pictures and pages for people."""
