"""Columns of exports for what was noted beside the labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from kernova.discover.results import SessionResults


def remark_columns(results: SessionResults, n_rows: int) -> dict[str, Any]:
    """Return columns with a value for each row: confidence, unsure, also, flagged, note.

    Parameters
    ----------
    results : SessionResults
        The session.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> from kernova.workbench.remarks import remark_columns
    >>> session = CategoryDiscovery("random").start(np.array([[0.0], [9.0]]), ids="ab")
    >>> session.review.tag(["b"], "blurred"), session.review.tag(["b"], "rare")
    (1, 2)
    >>> remark_columns(session.results_, 2)["also"].tolist()
    [<NA>, 'blurred; rare']
    """
    noted = results.annotations
    flagged = np.zeros(n_rows, dtype=np.bool_)
    flagged[list(noted.flagged)] = True
    also = {row: "; ".join(names) for row, names in noted.tags.items()}
    return {
        "confidence": _texts(results.confidences, n_rows),
        "unsure": results.is_unsure,
        "also": _texts(also, n_rows),
        "flagged": flagged,
        "note": _texts(noted.notes, n_rows),
    }


def _texts(of_rows: Mapping[int, str], n_rows: int) -> Any:
    """Return a column of texts, missing where a row has none."""
    texts = np.full(n_rows, None, dtype=object)
    texts[list(of_rows)] = list(of_rows.values())
    return pd.array(texts, dtype="string")
