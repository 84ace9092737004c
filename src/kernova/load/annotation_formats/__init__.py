"""One module for each kind of annotation file: from its text to segments, and back."""
