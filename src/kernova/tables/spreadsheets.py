r"""Cells that a spreadsheet would run as formulas, marked so that it shows them as text.

A name such as ``=HYPERLINK("http://x")`` in a table from elsewhere becomes a formula on the
machine of whoever opens a result in a spreadsheet (CSV injection). So kernova writes CSV and TSV
files with an apostrophe before every text that would be one; ``raw=True``, or ``--raw`` on the
command line, writes texts as they are. Parquet, Arrow and JSON files are never marked.

A text is marked where it begins with ``= + - @`` (also after blanks, quotation marks, apostrophes
and invisible characters, and in full width), unless it is a plain number; where it begins with a
tab or a line break; and after a semicolon, a tab or a line break inside it, at which some
spreadsheets begin a new cell. A text that looks marked already gets one more apostrophe, so that
:func:`original_text` restores every text exactly. Readers do not remove apostrophes on their own:
a file from elsewhere may mean them.
"""

import re
from collections.abc import Callable
from io import BytesIO
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kernova.text import is_missing

if TYPE_CHECKING:
    import pandas as pd

# csv.QUOTE_MINIMAL and csv.QUOTE_NONNUMERIC, which are plain numbers to type checkers.
_QUOTE_FEW: Final = 0
_QUOTE_TEXTS: Final = 2
# Where some spreadsheets begin a new cell; commas are inside quotation marks in our files.
_BREAK: Final = r";\t\r\n"
# What a spreadsheet may skip before a formula: blanks, control and zero-width characters, quotes.
_SKIPPED: Final = (
    r"(?:[\x00-\x08\x0b\x0c\x0e-\x20\x7f-\xa0\xad'\"]"
    r"|[\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff])*+"
)
_FORMULA: Final = r"[=+\-@＝＋－＠]"
_NUMBER: Final = (
    r"\ *+[+-]?+(?:(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+|inf|nan)\ *+"
    rf"(?:\Z|[{_BREAK}])"
)
_PART: Final = rf"(?:\A|(?<=[{_BREAK}]))"
_STARTS_FORMULA: Final = rf"(?={_SKIPPED}{_FORMULA})(?!{_NUMBER})"
_STARTS_WITH_BREAK: Final = r"(?='*+[\t\r\n])"
# Most texts, for which one quick look is enough.
_HARMLESS: Final = re.compile(rf"\w[^{_BREAK}]*+")
_TO_MARK: Final = re.compile(rf"{_PART}{_STARTS_FORMULA}|\A{_STARTS_WITH_BREAK}")
_MARKED: Final = re.compile(rf"{_PART}'{_STARTS_FORMULA}|\A'{_STARTS_WITH_BREAK}")


def safe_text(text: str) -> str:
    """Return a text with apostrophes where a spreadsheet would begin a formula.

    Examples
    --------
    >>> from kernova.tables.spreadsheets import safe_text
    >>> [safe_text(text) for text in ("=1+2", "-2+3", "-3.5", "carp", "a;=1")]
    ["'=1+2", "'-2+3", '-3.5', 'carp', "a;'=1"]
    """
    return text if _HARMLESS.fullmatch(text) else _TO_MARK.sub("'", text)


def original_text(text: str) -> str:
    """Return the text that :func:`safe_text` marked; others are returned as they are.

    Examples
    --------
    >>> from kernova.tables.spreadsheets import original_text, safe_text
    >>> original_text("'=1+2"), original_text("'tis"), original_text(safe_text("'=1+2"))
    ('=1+2', "'tis", "'=1+2")
    """
    return _MARKED.sub("", text) if "'" in text else text


def safe_cells(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table whose texts and column names no spreadsheet takes for formulas.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.spreadsheets import original_cells, safe_cells
    >>> rows = pd.DataFrame({"@id": ["=A1", "carp"], "score": [-1.5, 2.0]})
    >>> safe_cells(rows)
        '@id  score
    0  '=A1   -1.5
    1  carp    2.0
    >>> original_cells(safe_cells(rows)).equals(rows)
    True
    """
    return _with_texts(rows, safe_text)


def original_cells(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table that :func:`safe_cells` marked.

    For tables that kernova wrote: read them with all apostrophes, for example by
    ``pandas.read_csv``, and pass them to this function.
    """
    return _with_texts(rows, original_text)


def save_separated(
    rows: "pd.DataFrame", target: Path | BytesIO, separator: str = ",", *, raw: bool = False
) -> None:
    r"""Write a table as CSV or TSV, marked by :func:`safe_cells` unless ``raw`` is true.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from kernova.tables.spreadsheets import save_separated
    >>> file = io.BytesIO()
    >>> save_separated(pd.DataFrame({"id": ["=A1"], "score": [-1.5]}), file)
    >>> file.getvalue()
    b"id,score\n'=A1,-1.5\n"
    """
    kept = rows if raw else safe_cells(rows)
    # A lone carriage return ends a line, but is not quoted where only what must be is.
    quotes_all = _has_carriage_return(kept)
    kept.to_csv(
        target, index=False, sep=separator, quoting=_QUOTE_TEXTS if quotes_all else _QUOTE_FEW
    )


def _has_carriage_return(rows: "pd.DataFrame") -> bool:
    texts = (
        _distinct(rows.iloc[:, i])
        for i, kind in enumerate(rows.dtypes)
        if not _is_without_text(kind)
    )
    values = (value for column in (rows.columns, *texts) for value in column)
    return any("\r" in (value if isinstance(value, str) else str(value)) for value in values)


def _with_texts(rows: "pd.DataFrame", change: Callable[[str], str]) -> "pd.DataFrame":
    import pandas as pd

    changed = rows.copy(deep=False)
    for number, dtype in enumerate(rows.dtypes):
        if not _is_without_text(dtype):
            column = rows.iloc[:, number]
            if isinstance(dtype, pd.StringDtype) and all(
                _changed(value, change) is value for value in _distinct(column)
            ):
                continue
            values = [_changed(value, change) for value in column]
            # A changed value need not be one of a column's categories.
            kept = dtype if isinstance(dtype, pd.StringDtype) else object
            changed.isetitem(number, pd.array(values, dtype=kept))
    changed.columns = pd.Index([_changed(name, change) for name in rows.columns])
    return changed


def _distinct(column: "pd.Series[Any]") -> Any:
    """Return values among which is each text of a column: of a million verdicts few differ."""
    import pandas as pd

    return column.unique() if isinstance(column.dtype, pd.StringDtype) else column


def _is_without_text(dtype: Any) -> bool:
    from pandas.api import types as is_kind

    return bool(
        is_kind.is_numeric_dtype(dtype)
        or is_kind.is_bool_dtype(dtype)
        or is_kind.is_datetime64_any_dtype(dtype)
    )


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if value is None or isinstance(value, Number) or is_missing(value):
        return value
    text = str(value)
    other = change(text)
    return value if other == text else other
