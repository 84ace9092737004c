"""Draw the small tables, specimens and recordings that frozen results were computed from.

They are drawn once, by ``make_frozen.py``, and stored in ``tests/data/frozen_inputs.npz``: what is
compared does not depend on a random generator.
"""

import numpy as np

RATE = 16000
OUTLINE = np.array([[-3, 0], [-2, 1], [0, 1.5], [2, 0.6], [3, 0.9], [3, -0.8], [1, -0.7]])


def draw_inputs():
    """Give all inputs as arrays by name."""
    return {**_tables(), **_specimens(), **_sounds()}


def _tables():
    random = np.random.default_rng(20240)
    classes = np.arange(120) % 3
    centres = np.array([[0, 0, 0], [4, 1, 0], [0, 5, 2]])
    rows = random.normal(size=(120, 3)) + centres[classes]
    rows[7] = rows[6]  # a copy
    angles = random.uniform(0, 2 * np.pi, 2400)
    ring = np.column_stack([np.cos(angles), np.sin(angles)]) * random.normal(5, 0.3, (2400, 1))
    sizes = [60, 25, 8, 5, 2]
    middles = random.normal(size=(5, 4)) * 6
    rare = np.concatenate(
        [random.normal(m, 1, (n, 4)) for m, n in zip(middles, sizes, strict=True)]
    )
    order = random.permutation(100)
    places = np.array(["river", "sea", "lake"])
    return {
        "rows": rows.round(6),
        "classes": np.array(["carp", "pike", "eel"])[classes],
        "new": (2.5 * random.normal(size=(40, 3)) + 1).round(6),
        "ring": ring.round(5),
        "ring_new": (4 * random.normal(size=(60, 2))).round(5),
        "rare": rare[order].round(6),
        "rare_labels": np.repeat(["a", "b", "c", "d", "e"], sizes)[order],
        "length": random.gamma(3.0, 2.0, 120).round(4),
        "is_adult": random.random(120) > 0.4,
        "place": places[random.integers(3, size=120)],
        "count": random.integers(20, size=120),
        "holdout_scores": random.normal(size=200).round(6),
        "unknown_scores": random.normal(-1.5, 1, 60).round(6),
    }


def _specimens():
    random = np.random.default_rng(20241)
    bends = 0.2 * random.normal(size=(4, 7, 2))
    groups = np.repeat(["rivalis", "lacustris", "marina", "palustris"], 14)
    codes = np.repeat(np.arange(4), 14)
    flat = OUTLINE + bends[codes] + 0.08 * random.normal(size=(56, 7, 2))
    turns = random.uniform(-0.4, 0.4, 56)
    turned = np.stack([one @ _turn(turn) for one, turn in zip(flat, turns, strict=True)])
    flat = turned * random.uniform(5, 9, (56, 1, 1)) + random.normal(size=(56, 1, 2))
    unnamed = OUTLINE + 0.08 * random.normal(size=(6, 7, 2))
    unnamed[:3] += bends[2]
    unnamed[0, 4] += [0.1, 1.2]
    return {
        "landmarks": flat.round(5),
        "groups": groups,
        "unnamed": unnamed.round(5),
        "solid": (random.normal(size=(5, 3)) + 0.1 * random.normal(size=(12, 5, 3))).round(5),
    }


def _turn(angle):
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def _sounds():
    """Draw clips of two notes, and a song of these and a stranger's, as 16-bit samples."""
    random = np.random.default_rng(20242)
    clips = [_note(kind, random) for kind in ("rising", "falling") for _ in range(4)]
    pieces, marks, position = [np.zeros(4800)], [], 4800
    for kind in ("rising", "trill", "falling", "falling", "rising", "trill", "rising"):
        note, gap = _note(kind, random), int(random.integers(1200, 2400))
        pieces += [note, np.zeros(gap)]
        marks.append((kind, position / RATE, (position + len(note)) / RATE))
        position += len(note) + gap
    song = np.concatenate([*pieces, np.zeros(4800)])
    song += random.normal(0, 0.004, len(song))
    known = [mark for mark in marks if mark[0] != "trill"]
    return {
        "clips": np.round(32767 * np.concatenate(clips)).astype(np.int16),
        "clip_lengths": np.array([len(clip) for clip in clips]),
        "clip_labels": np.repeat(["rising", "falling"], 4),
        "song": np.round(32767 * song).astype(np.int16),
        "song_labels": np.array([mark[0] for mark in known]),
        "song_times": np.array([mark[1:] for mark in known]).round(4),
    }


def _note(kind, random):
    seconds = {"rising": 0.08, "falling": 0.09, "trill": 0.1}[kind] * random.uniform(0.92, 1.08)
    t = np.arange(round(seconds * RATE)) / RATE
    pitch = random.normal(1, 0.02)
    if kind == "rising":
        wave = np.sin(2 * np.pi * pitch * (2000 * t + 12000 * t**2))
    elif kind == "falling":
        wave = np.sin(2 * np.pi * pitch * (5500 * t - 14000 * t**2))
    else:
        wave = np.sin(2 * np.pi * 3500 * pitch * t) * (np.sin(2 * np.pi * 45 * t) > -0.2)
    ramp = np.minimum(1.0, (np.arange(len(t)) + 1) / 64)
    return random.uniform(0.15, 0.3) * wave * ramp * ramp[::-1]
