"""Store results as flat arrays, and compare new results with stored ones.

A result is a nested structure of dictionaries, sequences, data frames, named tuples, arrays and
scalars. :func:`flatten` turns it into a dictionary of arrays, :func:`pack` replaces big arrays by
a hash and a numerical summary, and :func:`differences` compares a new result with a packed one.

Numbers are compared with a relative tolerance, or bit for bit if the environment variable
``KERNOVA_BIT_EQUAL`` is 1 (same machine, ``OMP_NUM_THREADS=1``). The last digit of sums depends on
the kernel that the BLAS chooses for a processor (``OPENBLAS_CORETYPE``); where a method amplifies
it, the tolerance is one of those named below.
"""

import hashlib
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd

DATA = Path(__file__).parents[1] / "data"
RTOL = 1e-10
# The search for a length-scale ends within 1e-6 of its logarithm, and memberships, scores and
# p-values vary with a small power of it. Searches of L-BFGS end alike.
SEARCHED = 1e-4
# The matrix of the literal length-scale has a ridge of 1e-8, so that its inverse has 8 digits less.
ILL_CONDITIONED = 1e-6
# Powers of recordings are sums in single precision (6e-8), of which levels are logarithms.
SINGLE_PRECISION = 1e-6
# Similarities of notes are functions of squared distances in single precision, which are
# differences of larger numbers.
SINGLE_DIFFERENCES = 1e-4
MAX_STORED = 600  # arrays with more elements are stored as a hash and a summary
N_SAMPLED = 24
BIT_EQUAL = os.environ.get("KERNOVA_BIT_EQUAL") == "1"

_NUMBER = re.compile(
    r"(?<![\w.\-])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])"
    r"|(?<![\w.\-])[-+−]?\.\d+(?![\w])"
)


def load_npz(path):
    """Read all arrays of an archive."""
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)


def vectors(name):
    """Read a file of reference vectors, such as ``"ksd"``."""
    return load_npz(DATA / "vectors" / f"ref_{name}.npz")


def inputs():
    """Read the small tables that were drawn once for the frozen results."""
    return load_npz(DATA / "frozen_inputs.npz")


def numbers_in(text):
    """Find the numbers of a text in order; thousands separators are removed.

    Digits inside of words and names, such as ``iris118`` or ``wine-010``, are not numbers.
    """
    return [float(token.replace(",", "").replace("−", "-")) for token in _NUMBER.findall(text)]


# Flattening


def flatten(value, path=""):
    """Turn a nested result into a dictionary of path to array."""
    if isinstance(value, pd.DataFrame):
        value = {str(name): column for name, column in value.items()}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        flat = {}
        for key, part in value.items():
            flat |= flatten(part, f"{path}/{key}" if path else str(key))
        return flat
    if isinstance(value, list | tuple) and any(_is_nested(part) for part in value):
        return flatten({str(place): part for place, part in enumerate(value)}, path)
    return {path: _plain_array(value)}


def _is_nested(value):
    is_several = isinstance(value, dict | pd.DataFrame | pd.Series | np.ndarray | list | tuple)
    return is_several or hasattr(value, "_asdict")


def _plain_array(value):
    """Give an array of numbers, booleans or texts, which an archive holds without pickle."""
    array = np.asarray("None" if value is None else value)
    if array.dtype.kind in "biufU":
        return array
    if array.dtype.kind == "c":
        return array.view(np.float64)
    values = pd.Series(array.ravel().tolist(), dtype=object)
    numbers = pd.to_numeric(values.where(values.notna(), np.nan), errors="coerce")
    is_text = values.map(lambda one: isinstance(one, str))
    if not is_text.any() and (numbers.notna() | values.isna()).all():
        return numbers.to_numpy(np.float64).reshape(array.shape)
    texts = ["None" if one is None or one is pd.NA else str(one) for one in values]
    return np.array(texts, dtype=np.str_).reshape(array.shape)


# Packing


def pack(flat):
    """Replace each big array by a hash of its bytes and a numerical summary."""
    packed = {}
    for path, array in flat.items():
        if array.size <= MAX_STORED:
            packed[path] = array
            continue
        packed[f"{path}#hash"] = np.array(_hash(array))
        packed[f"{path}#shape"] = np.array(array.shape)
        if array.dtype.kind in "biuf":
            packed[f"{path}#summary"] = _summary(array)
    return packed


def unpack_names(packed):
    """Give the paths that a packed dictionary was made of."""
    return {path.partition("#")[0] for path in packed}


def _hash(array):
    exact = np.ascontiguousarray(array)
    if exact.dtype.kind in "iu":
        exact = exact.astype(np.int64)  # which width counts are stored in is no result
    if exact.dtype.kind == "U":
        return hashlib.sha256("\0".join(exact.ravel().tolist()).encode()).hexdigest()
    return hashlib.sha256(exact.tobytes()).hexdigest()


def _summary(array):
    values = array.astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    weights = 1 + np.arange(len(finite)) % 7  # tells orders apart
    totals = [len(finite), np.abs(finite).max(initial=0.0), np.abs(finite).sum()]
    totals += [finite.sum(), (weights * finite).sum(), (finite**2).sum()]
    sampled = values[np.linspace(0, len(values) - 1, N_SAMPLED).astype(int)]
    return np.concatenate([totals, sampled])


# Comparing


def differences(result, packed, rtol=RTOL, bit_equal=BIT_EQUAL):
    """List in words how a result differs from a packed one; an empty list if it does not.

    ``rtol`` is a number, or numbers by the pattern of paths; other paths then have RTOL.
    """
    flat = flatten(result)
    found = [f"{path}: missing" for path in sorted(unpack_names(packed) - set(flat))]
    found += [f"{path}: not stored" for path in sorted(set(flat) - unpack_names(packed))]
    for path, array in flat.items():
        if path in packed:
            found += _unlike(path, array, packed[path], _rtol_at(path, rtol), bit_equal)
        elif f"{path}#hash" in packed:
            found += _unlike_big(path, array, packed, _rtol_at(path, rtol), bit_equal)
    return found


def _rtol_at(path, rtol):
    if not isinstance(rtol, dict):
        return rtol
    return next((one for part, one in rtol.items() if re.fullmatch(part, path)), RTOL)


def _unlike(path, array, expected, rtol, bit_equal):
    if array.shape != expected.shape:
        return [f"{path}: shape {array.shape}, was {expected.shape}"]
    is_number = {array.dtype.kind, expected.dtype.kind} <= set("biuf")
    if not is_number or bit_equal or (array.dtype.kind in "biu" and expected.dtype.kind in "biu"):
        is_same = np.array_equal(array, expected, equal_nan=is_number)
        return [] if is_same else [_words(path, array, expected)]
    return [] if _is_close(array, expected, rtol) else [_words(path, array, expected)]


def _unlike_big(path, array, packed, rtol, bit_equal):
    shape = tuple(packed[f"{path}#shape"].tolist())
    if array.shape != shape:
        return [f"{path}: shape {array.shape}, was {shape}"]
    if _hash(array) == str(packed[f"{path}#hash"]):
        return []
    if bit_equal or array.dtype.kind != "f":
        return [f"{path}: the hash of {array.size} values differs"]
    now, then = _summary(array), packed[f"{path}#summary"]
    n_totals = len(then) - N_SAMPLED
    scale = np.array([0, then[1], then[2], then[2], 7 * then[2], then[5]])
    is_same = (np.abs(now[:n_totals] - then[:n_totals]) <= rtol * scale).all()
    is_same &= _is_close(now[n_totals:], then[n_totals:], rtol, largest=then[1])
    return [] if is_same else [_words(path, now, then)]


def _is_close(array, expected, rtol, largest=None):
    if largest is None:
        finite = np.abs(expected[np.isfinite(expected)]) if expected.size else np.zeros(0)
        largest = finite.max(initial=0.0)
    # Differences of nearly equal numbers are compared on the scale of the whole array.
    return np.allclose(array, expected, rtol=rtol, atol=rtol * largest, equal_nan=True)


def _words(path, array, expected):
    if {array.dtype.kind, expected.dtype.kind} <= set("biuf") and array.size:
        with np.errstate(invalid="ignore"):
            gaps = np.abs(array.astype(float) - expected.astype(float))
        place = np.unravel_index(np.nanargmax(np.nan_to_num(gaps, nan=-1.0)), array.shape)
    else:
        place = next(iter(np.argwhere(array != expected).tolist()), ())
        place = tuple(place)
    where = f" at {tuple(map(int, place))}" if place else ""
    return f"{path}{where}: {array[place]!r}, was {expected[place]!r}"


# Archives of several results


def joined(results):
    """Pack several named results into one dictionary for an archive."""
    return {
        f"{name}|{path}": array
        for name, result in results.items()
        for path, array in pack(flatten(result)).items()
    }


def split(archive):
    """Undo :func:`joined`: give the packed result of each name."""
    packed = {}
    for key, array in archive.items():
        name, _, path = key.partition("|")
        packed.setdefault(name, {})[path] = array
    return packed
