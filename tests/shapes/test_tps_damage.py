"""Landmark files cut, reordered and garbled: they raise, or are read as they are."""

import random
import re
from collections import Counter

import pytest

from kernova import InputError
from kernova.shapes import read_tps
from tests.shapes.literal_tps import compare_with_literal, literal_records
from tests.shapes.tps_samples import SNAILS


def cut(content, rng):
    return content[: rng.randrange(len(content))]


def remove_bytes(content, rng):
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.randint(1, 30) :]


def garble(content, rng):
    garbled = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        garbled[rng.randrange(len(garbled))] = rng.choice(b"0123456789.,-+eE=LM \t\n\r#\xe9\xff\0")
    return bytes(garbled)


def change_lines(content, rng):
    lines = content.split(b"\n")
    k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[k]
    elif kind == 1:
        lines.insert(k, lines[other])
    elif kind == 2:
        lines[k], lines[other] = lines[other], lines[k]
    elif kind == 3:
        lines.insert(
            k, rng.choice([b"LM=2", b"1 2", b"1 2 3", b"POINTS=1", b"????", b"ID=x", b"CURVES=1"])
        )
    else:
        lines[k : k + 2] = [b" ".join(lines[k : k + 2])]
    return b"\n".join(lines)


def change_a_count(content, rng):
    counts = list(re.finditer(rb"(?:LM|POINTS|CURVES)=(\d+)", content))
    found = rng.choice(counts)
    number = int(found[1]) + rng.choice([-1, 1, 10, -int(found[1])])
    return content[: found.start(1)] + str(number).encode() + content[found.end(1) :]


def shuffle_specimens(content, rng):
    specimens = [part if part.endswith(b"\n") else part + b"\n" for part in specimens_in(content)]
    rng.shuffle(specimens)
    return b"".join(specimens)


def specimens_in(content):
    starts = [found.start() for found in re.finditer(rb"(?m)^LM=", content)]
    return [content[a:b] for a, b in zip(starts, [*starts[1:], len(content)], strict=True)]


def samples(data_folder):
    """Up to six specimens of each real file, so that damage has something to hit."""
    files = sorted((data_folder / "landmarks").rglob("*.[tT][pP][sS]"))
    real = [path.read_bytes() for path in files]
    return [SNAILS.encode(), *(b"".join(specimens_in(content)[:6]) for content in real)]


@pytest.mark.soak
def test_damaged_files_raise_or_are_read_as_they_are(data_folder, tmp_path, long_bar):
    rng = random.Random(7)
    originals = samples(data_folder)
    ways = [cut, remove_bytes, garble, change_lines, change_a_count, shuffle_specimens]
    read, rejected = Counter(), Counter()
    path = tmp_path / "damaged.tps"
    for trial in range(long_bar(500)):
        way = ways[trial % len(ways)]
        content = way(rng.choice(originals), rng)
        path.write_bytes(content)
        sentence = error_of(path)
        if sentence is None:
            read[way.__name__] += 1
            compare_with_literal(read_tps(path), literal_records(content))
        else:
            rejected[way.__name__] += 1
            assert str(path) in sentence
            assert re.search(r"[Ll]ines? \d|is empty|binary|UTF-16", sentence), sentence
    print(f"\nread as it stands: {dict(read)}; rejected: {dict(rejected)}")
    assert rejected["shuffle_specimens"] == 0
    assert rejected["change_a_count"] > 0


def error_of(path):
    try:
        read_tps(path)
    except InputError as error:
        return str(error)
    return None
