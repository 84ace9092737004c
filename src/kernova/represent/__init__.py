"""Station two: what was loaded, as numbers that a distance makes sense on."""
