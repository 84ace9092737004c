"""Memory budgets for reading files: a floor for small files plus a multiple of the file's size.

A small file can describe a huge one: a few bytes unpack to gigabytes, or claim an array of 10**12
numbers. Readers therefore estimate what they are about to allocate, from headers or while they
read in blocks, and compare it with the budget of the file before they allocate it. The parameter
``memory_mb``, the option ``--memory-mb`` and the environment variable ``KERNOVA_MEMORY_MB`` replace
the budget by a fixed number of megabytes (of 10**6 bytes).
"""

import math
import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, Protocol

from kernova.errors import InputError

if TYPE_CHECKING:
    import numpy as np

MB: Final = 10**6

MEMORY_VARIABLE: Final = "KERNOVA_MEMORY_MB"
# The whole process should stay below 300 MB + 20 x file size; 200 MB are Python and its packages,
# and estimates of what a library allocates are too low at times.
_FLOOR: Final = 80 * MB
_PER_BYTE: Final = 16
_BLOCK: Final = 1 << 20
_ENTRY_BYTES: Final = 46  # at least, in the file
_ENTRY_OBJECT_BYTES: Final = 1_000
_LONGEST_END: Final = 66_000

_memory_mb: ContextVar[float | None] = ContextVar("kernova_memory_mb", default=None)


@contextmanager
def memory_limit(memory_mb: float | None) -> Iterator[None]:
    """Let readers inside the block use this many megabytes for each file; None changes nothing.

    Examples
    --------
    >>> from kernova.budget import Budget, memory_limit
    >>> with memory_limit(500):
    ...     Budget("fish.csv", 1000).limit
    500000000
    """
    if memory_mb is None:
        yield
        return
    token = _memory_mb.set(_checked(memory_mb, "memory_mb"))
    try:
        yield
    finally:
        _memory_mb.reset(token)


@dataclass(frozen=True)
class Budget:
    """Bytes of memory that reading one file may take, and the error for a file that needs more.

    Attributes
    ----------
    source : str
        The path of the file, for messages.
    size : int
        The size of the file in bytes.
    error : type of InputError
        The error to raise.

    Examples
    --------
    >>> from kernova.budget import Budget
    >>> budget = Budget("fish.npz", 2_300_000)
    >>> budget.limit
    116800000
    >>> budget.check(100 * 8)
    >>> budget.check(7_000_000_000)
    Traceback (most recent call last):
        ...
    kernova.errors.InputError: fish.npz (2.3 MB) needs at least 7,000 MB of memory, more than the
    117 MB allowed for a file of its size. If you trust it, allow more with memory_mb=... or the
    environment variable KERNOVA_MEMORY_MB.
    """

    source: str
    size: int
    error: type[InputError] = InputError

    @property
    def limit(self) -> int:
        """The bytes that may be allocated."""
        fixed = _fixed_limit()
        return default_limit(self.size) if fixed is None else fixed

    def check(self, needed: float) -> None:
        """Raise if reading the file needs more than this many bytes.

        Parameters
        ----------
        needed : float
            What will be held at once: a claim of the file's header, or an estimate from what has
            been read of it so far. It counts as a lower bound.
        """
        if needed > self.limit:
            raise self.error(
                f"{self.source} ({_in_mb(self.size)} MB) needs at least {_in_mb(needed)} MB of "
                f"memory, more than the {_in_mb(self.limit)} MB allowed for a file of its size. "
                f"If you trust it, allow more with memory_mb=... or the environment variable "
                f"{MEMORY_VARIABLE}."
            )

    def read(self, stream: "_Readable", per_byte: float = 1.0) -> bytearray:
        """Read an (unpacking) stream to its end, in blocks, within the budget.

        Parameters
        ----------
        stream : binary file
            What to read.
        per_byte : float, default=1.0
            Bytes of memory that each byte of the stream will take in the end.

        Returns
        -------
        bytearray
            All that the stream held.
        """
        content = bytearray()
        while block := stream.read(_BLOCK):
            content += block
            self.check(len(content) * per_byte)
        return content


def default_limit(size: int) -> int:
    """Return the bytes that reading a file of this size may take where nothing else is chosen."""
    return _FLOOR + _PER_BYTE * size


def budget_of(path: str | os.PathLike[str], error: type[InputError] = InputError) -> Budget:
    """Return the budget of a file that exists."""
    return Budget(os.fspath(path), os.stat(path).st_size, error)  # noqa: PTH116


class ArrayHeader(NamedTuple):
    """Shape and type of a stored array."""

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"

    @property
    def n_items(self) -> int:
        """Number of elements; an array without any counts as if no side were 0."""
        return math.prod(max(length, 1) for length in self.shape)

    @property
    def n_bytes(self) -> int:
        """Bytes of the array."""
        return self.n_items * max(self.dtype.itemsize, 1)


def array_header(stream: IO[bytes]) -> ArrayHeader:
    """Read the header of an NPY file; the stream then stands at its first element."""
    import numpy as np  # the help of the command line needs none

    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"NPY version {version}")
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        # As numpy.load would say.
        raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
    return ArrayHeader(shape, dtype)


def zip_directory_bytes(stream: BinaryIO) -> int:
    """Return the memory that the list of a ZIP archive's entries takes, at most."""
    stream.seek(0, 2)
    stream.seek(-min(stream.tell(), _LONGEST_END), 2)
    end = stream.read()
    sizes = [0]
    for mark, offset, kind in ((b"PK\x05\x06", 12, "<I"), (b"PK\x06\x06", 40, "<Q")):
        places = (found.start() + offset for found in re.finditer(mark, end))
        last = len(end) - struct.calcsize(kind)
        sizes += [struct.unpack_from(kind, end, at)[0] for at in places if at <= last]
    # An archive of more than 4 GB writes this in the first field, and the size in the second.
    known = [size for size in sizes if size != 0xFFFFFFFF]
    stream.seek(0)
    return max(known) // _ENTRY_BYTES * _ENTRY_OBJECT_BYTES


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _fixed_limit() -> int | None:
    chosen = _memory_mb.get()
    if chosen is None and (text := os.environ.get(MEMORY_VARIABLE)):
        chosen = _checked(text, MEMORY_VARIABLE)
    return None if chosen is None else int(chosen * MB)


def _checked(value: object, name: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        shown = repr(value)[:50]
        raise InputError(f"{name} must be a positive number of megabytes; got {shown}.")
    return number


def _in_mb(n_bytes: float) -> str:
    megabytes = n_bytes / MB
    return f"{megabytes:,.0f}" if megabytes >= 10 else f"{megabytes:.2g}"
