"""Encoding of a project's rows, learnt from those it was started with."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import pandas as pd

from kernova.tables.fill_values import far_cell_notes, far_cells, with_moved_cells
from kernova.tables.table import Table
from kernova.typing import Matrix
from kernova.workflows.detectors import table_encoder

_MOVED: Final = "Questions are chosen as if such rows had the nearest of the other values."


class Encoding:
    """Encoding of rows; rows that are added later change nothing about that of the others.

    Parameters
    ----------
    first : DataFrame
        The rows that the project was started with.
    missing : {"refuse", "drop", "fill"}
        Treatment of missing values.

    Attributes
    ----------
    names : ndarray of str
        Names of the encoded columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workbench.encoding import Encoding
    >>> fish = pd.DataFrame({"length": [10.0, 12.0, 14.0], "sex": ["f", "m", "f"]})
    >>> encoding = Encoding(fish, "refuse")
    >>> encoding.encode(fish.iloc[[0]]).round(2)
    array([[-1.22, 0.71, 0. , 0. ]])
    """

    def __init__(self, first: pd.DataFrame, missing: str) -> None:
        self._encoder = table_encoder("standard", missing)
        self._cells = far_cells(first)
        self._first = with_moved_cells(first, self._cells)
        self._encoder.fit(self._first)
        self.names = self._encoder.get_feature_names_out()

    def encode(self, rows: pd.DataFrame) -> Matrix:
        """Return further rows encoded, their far cells moved to the edge of the others."""
        moved = with_moved_cells(rows, far_cells(rows, beside=self._first))
        # A column that a batch does not have is missing in all its rows, and filled.
        fills = self._encoder.missing == "refuse" and bool(moved.isna().to_numpy().any())
        if not fills:
            return self._encoder.transform(moved)
        self._encoder.missing = "fill"
        try:
            return self._encoder.transform(moved)
        finally:
            self._encoder.missing = "refuse"

    def encode_parts(self, table: Table, ends: Sequence[int]) -> tuple[Matrix, list[str]]:
        """Return all rows of a table encoded, and notes on the far cells of the first ones.

        Parameters
        ----------
        table : Table
            The rows.
        ends : sequence of int
            End of each part; the first part is what the encoding was learnt from.
        """
        first = self._encoder.transform(self._first)
        more = [self.encode(table.features.iloc[begin:end]) for begin, end in pairwise(ends)]
        return np.vstack([first, *more]), far_cell_notes(table, self._cells, _MOVED, _MOVED)
