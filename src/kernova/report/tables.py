"""Results as files that other programs read."""

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from kernova.files import check_ending, replacing

_WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".csv": lambda rows, path: rows.to_csv(path, index=False),
    ".tsv": lambda rows, path: rows.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda rows, path: rows.to_parquet(path, index=False),
    ".arrow": lambda rows, path: rows.to_feather(path),
    ".feather": lambda rows, path: rows.to_feather(path),
    ".json": lambda rows, path: rows.to_json(path, orient="records", date_format="iso", indent=2),
}


def check_table_path(path: str | os.PathLike[str]) -> None:
    """Refuse an ending that no table can be written with, before any work is done."""
    check_ending(path, _WRITERS, "a table")


def save_table(rows: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table by its ending; the file is either whole or not there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from kernova.report.tables import save_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "verdicts.csv"
    >>> save_table(pd.DataFrame({"id": ["a"], "verdict": ["usual"]}), path)
    >>> print(path.read_text())
    id,verdict
    a,usual
    """
    check_table_path(path)
    with replacing(path) as scratch:
        _WRITERS[Path(path).suffix.lower()](rows, scratch)
