"""What every reader gives, and the one sentence for a file that a reader cannot follow."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow as pa

from kernova.errors import InputError


class RawTable(NamedTuple):
    """What a file holds, unjudged.

    ``own_id`` and ``own_label`` are columns that the format itself marks as such; ``aside`` are
    columns that are no features unless asked for, such as a saved row index.
    """

    columns: pa.Table
    own_id: str | None = None
    own_label: str | None = None
    aside: frozenset[str] = frozenset()


@contextmanager
def reading(source: str, kind: str) -> Iterator[None]:
    """Turn whatever a reader throws at a damaged file into one sentence.

    Only the reader's own calls belong inside: what they throw has no bounds (tokenizer and JSON
    errors, ``zlib.error``, ``MemoryError`` for a length of 2**60 ...), so everything is caught.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{source} cannot be read as {kind}; it is damaged, cut short, or another kind of file."
        ) from error


def empty_file(source: str) -> InputError:
    """Give the error for a file with nothing in it."""
    return InputError(f"{source} is empty; a table needs column names and at least one row.")
