"""Descriptors of pictures without deep learning: colour, edges, texture and layout."""
