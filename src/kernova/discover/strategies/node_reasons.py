"""Why a cluster of the hierarchy is worth a question, in a sentence and in numbers."""

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS: Final = ("size", "outlierness", "compactness", "isolation", "compactness_isolation")


def evidence_of(
    nodes: "pd.DataFrame", bandwidths: NDArray[np.float64], node: int
) -> dict[str, float]:
    """Give the numbers that the hierarchy holds of a node."""
    line = nodes.iloc[node]
    return {
        **{name: float(line[name]) for name in _NUMBERS},
        "from_bandwidth": float(bandwidths[int(line["born"])]),
        "to_bandwidth": float(bandwidths[int(line["last"])]),
    }


def reason_of(known: dict[str, float], criterion: str, n_rows: int) -> str:
    """Say why a node is asked, without the full stop: more may follow."""
    size = int(known["size"])
    is_root = size == n_rows > 1
    span = f"from bandwidth {known['from_bandwidth']:.3g} to {known['to_bandwidth']:.3g}"
    if size == 1:
        start = f"This row stands alone {span}"
    elif is_root:
        start = f"All {size:,} rows are one cluster from bandwidth {known['from_bandwidth']:.3g} on"
    else:
        start = f"The {size:,} rows of this cluster stay together, and apart from others, {span}"
    return start + _merit(known, criterion, is_root)


def _merit(known: dict[str, float], criterion: str, is_root: bool) -> str:
    if is_root:
        return ", and this one lies nearest its centre"
    if criterion == "outlierness":
        return f": an outlierness of {known['outlierness']:.3g}, long for its size"
    its = "it holds" if known["size"] == 1 else "they hold"
    return (
        f", and {its} {_share(known['isolation'])} of the density at the centre "
        f"(compactness {_share(known['compactness'])})"
    )


def _share(value: float) -> str:
    """Write a share in percent; all but a little is not all."""
    percent = 100 * value
    return "over 99 %" if 99 < percent < 100 - 1e-7 else f"{percent:.0f} %"
