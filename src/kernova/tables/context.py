"""Context of rows: columns that are shown beside them without being features, and links.

Values are shown as they are written in the file. A link is an address with placeholders, such as
``https://example.org/{id}``; values are percent-encoded, and nothing is fetched from it.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as compute

from kernova.errors import LONGEST_ECHO, InputError, quoted
from kernova.tables.columns import decoded
from kernova.text import listed
from kernova.typing import Indices

# The host is written out: no value of a row can change it.
_BEGINNING: Final = re.compile(r"https?://[^\s/?#{}\\@]+(?=[/?#])", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_ADDRESS: Final = re.compile(r"https?://[^\s\"<>\\]+", re.IGNORECASE)
# Fractions of a second that are all zeros, which a file need not have had.
_NO_FRACTION: Final = r"\.0+(Z|$)"


class ContextValue(NamedTuple):
    """A value of a row that is no feature."""

    name: str  # of its column
    text: str  # as written in the file; empty for a missing one
    address: str | None  # the value itself, if it is an address of the web


class LinkTemplate:
    """Address with placeholders for values of a row.

    Parameters
    ----------
    template : str
        Such as ``https://example.org/{id}``. A placeholder is the name of a column, or ``id``.
    columns : sequence of str
        The columns of the table.
    source : str
        The path of the table, for messages.

    Attributes
    ----------
    names : tuple of str
        The placeholders, each once.

    Examples
    --------
    >>> from kernova.tables.context import LinkTemplate
    >>> link = LinkTemplate("https://example.org/{id}?at={place}", ["place"], "fish.csv")
    >>> link.address({"id": "a/7", "place": "Lake & river"})
    'https://example.org/a%2F7?at=Lake%20%26%20river'
    >>> link.address({"id": "a/7", "place": None}) is None
    True
    """

    def __init__(self, template: str, columns: Sequence[str], source: str) -> None:
        if not _BEGINNING.match(template):
            raise InputError(
                "link must be an address that begins with http:// or https:// and a host, such as "
                f"https://example.org/{{id}}; got {quoted(template, LONGEST_ECHO)}."
            )
        self._template = template
        self.names = tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))
        if not self.names:
            raise InputError(
                f"The link {quoted(template, LONGEST_ECHO)} is the same for all rows; write {{id}} "
                "or the name of a column in braces where they differ."
            )
        for name in self.names:
            if name != "id" and name not in columns:
                close = difflib.get_close_matches(name, columns, n=1)
                hint = f" Did you mean {quoted(close[0])}?" if close else ""
                raise InputError(
                    f"{source} has no column {quoted(name)}, which the link names.{hint} Its "
                    f"columns are {listed(columns)}."
                )

    def address(self, values: Mapping[str, str | None]) -> str | None:
        """Return the address of a row; None if one of its values is missing."""
        found = {name: values.get(name) for name in self.names}
        if not all(found.values()):
            return None
        return _PLACEHOLDER.sub(lambda name: quote(found[name[1]] or "", safe=""), self._template)


class Context:
    """Columns that are shown beside the rows of a table, as texts.

    Parameters
    ----------
    columns : Table
        All columns of the file, for the rows of the table.
    shown : sequence of str
        The columns to show, in order.
    link : LinkTemplate, optional
        The link of each row.

    Attributes
    ----------
    names : tuple of str
        The columns to show.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from kernova.tables.context import Context
    >>> columns = pa.table({"mass": [0.1, 2.0], "note": ["small", None]})
    >>> [(value.name, value.text) for value in Context(columns, ["note", "mass"]).values(1)]
    [('note', ''), ('mass', '2')]
    """

    def __init__(
        self, columns: pa.Table, shown: Sequence[str] = (), link: LinkTemplate | None = None
    ) -> None:
        self.names = tuple(dict.fromkeys(shown))
        self._link = link
        linked = () if link is None else (name for name in link.names)
        wanted = [name for name in (*self.names, *linked) if name in columns.column_names]
        self._columns = {name: columns[name] for name in dict.fromkeys(wanted)}
        self._texts = {name: _texts_of(column) for name, column in self._columns.items()}

    def values(self, row: int) -> list[ContextValue]:
        """Return what is shown of a row."""
        texts = [(name, self._text(name, row) or "") for name in self.names]
        return [
            ContextValue(name, text, text if _ADDRESS.fullmatch(text) else None)
            for name, text in texts
        ]

    def link(self, row: int, row_id: str) -> str | None:
        """Return the address of a row; None without a link."""
        if self._link is None:
            return None
        return self._link.address(
            {name: self._text(name, row) or None for name in self._texts}
            | ({} if "id" in self._texts else {"id": row_id})
        )

    def column(self, name: str) -> pa.ChunkedArray:
        """Return the values of a column with their type in the file."""
        return decoded(self._columns[name])

    def texts(self, name: str) -> pa.ChunkedArray:
        """Return the values of a column as texts; null for missing ones."""
        return self._texts[name]

    def _text(self, name: str, row: int) -> str | None:
        text: str | None = self._texts[name][row].as_py()
        return text


NO_CONTEXT: Final = Context(pa.table({}))


def joined_context(parts: Sequence[tuple[Context, Indices]]) -> Context:
    """Return the context of rows of several tables, those at some places of each.

    Columns that a table lacks are empty there; the link is that of the first.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from kernova.tables.context import Context, joined_context
    >>> one = Context(pa.table({"mass": [0.1, 2.0]}), ["mass"])
    >>> other = Context(pa.table({"mass": ["3 g"], "note": ["new"]}), ["mass", "note"])
    >>> both = joined_context([(one, np.array([1])), (other, np.array([0]))])
    >>> [[value.text for value in both.values(row)] for row in (0, 1)]
    [['2', ''], ['3 g', 'new']]
    """
    contexts = [context for context, _ in parts]
    names = dict.fromkeys(name for one in contexts for name in one._columns)
    columns = {name: _joined_column(name, parts) for name in names}
    shown = dict.fromkeys(name for one in contexts for name in one.names)
    return Context(pa.table(columns), list(shown), contexts[0]._link)


def _joined_column(name: str, parts: Sequence[tuple[Context, Indices]]) -> pa.ChunkedArray:
    typed = [
        context.column(name).take(pa.array(places)) if name in context._columns else None
        for context, places in parts
    ]
    kinds = {one.type for one in typed if one is not None}
    kind = kinds.pop() if len(kinds) == 1 else pa.string()
    chunks = [
        pa.nulls(len(places), kind)
        if one is None
        else (one if one.type == kind else context.texts(name).take(pa.array(places)))
        for one, (context, places) in zip(typed, parts, strict=True)
    ]
    flat = [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in chunks]
    return pa.chunked_array(flat, kind)


def _texts_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values as texts: numbers in full, dates as year-month-day."""
    values = decoded(column)
    try:
        texts = values.cast(pa.string())
    except (pa.ArrowException, ValueError):  # lists, structures, bytes that are no text
        plain = [None if one is None else str(one) for one in values.to_pylist()]
        return pa.chunked_array([pa.array(plain, pa.string())])
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        return compute.replace_substring_regex(texts, _NO_FRACTION, r"\1")
    return texts
