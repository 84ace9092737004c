"""Station three: how usual is a row among known ones? High is usual, as in scikit-learn."""
