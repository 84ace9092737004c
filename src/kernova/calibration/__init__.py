"""Calibration: thresholds, p-values and decisions with bounded error rates.

The defaults of the guarantee stand here, where they are imported without scikit-learn.
"""

from typing import Final

MAX_FALSE_ALARM: Final = 0.05
CONFIDENCE: Final = 0.95
BOUND: Final = "binomial"
HOLDOUT: Final = "auto"
CALIBRATION: Final = "holdout"
