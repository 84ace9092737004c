"""The study of species: whether a sample of specimens is a new species.

The defaults of the study stand here, where they are imported without scikit-learn.
"""

from typing import Final

COMPONENTS: Final = 12
BANDWIDTH: Final = "nearest"
# Novelty scores of single specimens, the default first.
SCORES: Final = ("likelihood-ratio", "neighbors", "mahalanobis", "depth")
CONFIDENCE: Final = 0.95
LARGEST_ERROR: Final = 0.25
FALSE_DISCOVERY_RATE: Final = 0.05
HALVINGS: Final = 20
