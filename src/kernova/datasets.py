"""Digit images that come with scikit-learn, in full or with some digits made rare."""

from typing import Final

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

# Number of images of each digit, from common to rare.
DIGIT_COUNTS: Final = (170, 170, 150, 110, 70, 40, 20, 10, 6, 4)
_SEED: Final = 0


def digit_images() -> pd.DataFrame:
    """Return all 8 × 8 images: an id, the digit, and 64 pixels from p00 to p77."""
    digits = load_digits()
    rows = pd.DataFrame(digits.data, columns=[f"p{pixel // 8}{pixel % 8}" for pixel in range(64)])
    rows.insert(0, "id", [f"image-{number:04d}" for number in range(len(rows))])
    rows.insert(1, "digit", digits.target)
    return rows


def rare_digits() -> pd.DataFrame:
    """Return images of all digits, in decreasing numbers."""
    images = digit_images()
    random = np.random.default_rng(_SEED)
    kept = [
        random.permutation(np.flatnonzero(images["digit"] == digit))[:count]
        for digit, count in zip(random.permutation(10), DIGIT_COUNTS, strict=True)
    ]
    return images.iloc[random.permutation(np.concatenate(kept))]
