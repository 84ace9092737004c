"""Sets of labelled pictures: made or packaged ones to choose descriptors on, and galaxies.

Each is an array of pixels and a label for each picture; categories are unequal, as in collections.
"""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import matplotlib
import numpy as np
import pandas as pd
import soundfile
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits

from kernova.media.sounds import spectrogram_picture

_SIDE = 64
# Rows of categories from the most frequent on: half as many each time, five at least.
_LARGEST, _FEWEST = 400, 5


class Pictures(NamedTuple):
    """Pixels of shape (n_pictures, side, side, 3), and the category of each picture."""

    pixels: np.ndarray
    labels: np.ndarray
    features: np.ndarray | None = None  # that came with the pictures


def unequal(pixels: np.ndarray, labels: np.ndarray, seed: int) -> Pictures:
    """Keep fewer and fewer pictures of the categories, in random order of the categories."""
    random = np.random.default_rng(seed)
    kept = []
    for place, name in enumerate(random.permutation(np.unique(labels))):
        rows = random.permutation(np.flatnonzero(labels == name))
        kept.append(rows[: max(_FEWEST, int(_LARGEST / 1.6**place))])
    rows = random.permutation(np.concatenate(kept))
    return Pictures(pixels[rows], labels[rows].astype(str))


def _coloured(grey: np.ndarray) -> np.ndarray:
    return np.repeat(np.clip(grey, 0, 255).astype(np.uint8)[..., None], 3, axis=-1)


def digits(seed: int) -> Pictures:
    """Return scikit-learn's digits, enlarged from 8 to 32 pixels."""
    found = load_digits()
    enlarged = [
        np.asarray(Image.fromarray((one * 15.9).astype(np.uint8)).resize((32, 32), 3))
        for one in found.images
    ]
    return unequal(_coloured(np.stack(enlarged)), found.target, seed)


def letters(seed: int) -> Pictures:
    """Return capital letters in the fonts of matplotlib, moved, blurred and noisy."""
    random = np.random.default_rng([seed, 1])
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    paths = sorted(folder.glob("DejaVu*.ttf")) + sorted(folder.glob("STIXGeneral*.ttf"))
    paths = [path for path in paths if "Display" not in path.name]
    pixels, labels = [], []
    for letter in "ABCDEFGHIKLMNPRSTVXZ":
        for _ in range(_LARGEST // 2):
            font = ImageFont.truetype(str(random.choice(paths)), int(random.integers(30, 50)))
            image = Image.new("L", (_SIDE, _SIDE), int(random.integers(0, 90)))
            place = 32 + random.normal(0, 4, size=2)
            ink = int(random.integers(150, 256))
            ImageDraw.Draw(image).text(tuple(place), letter, fill=ink, font=font, anchor="mm")
            grey = gaussian_filter(np.asarray(image, dtype=float), random.uniform(0, 1.5))
            pixels.append(grey + random.normal(0, 12, size=grey.shape))
            labels.append(letter)
    return unequal(_coloured(np.stack(pixels)), np.array(labels), seed)


def _shape(kind: str, random: np.random.Generator) -> np.ndarray:
    """Return a bright thing on a dark ground, turned at random."""
    y, x = (np.mgrid[:_SIDE, :_SIDE] - (_SIDE - 1) / 2) - random.normal(0, 1.5, size=(2, 1, 1))
    turn = random.uniform(0, 2 * np.pi)
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    size = random.uniform(7, 12)
    if kind.startswith("spiral"):
        sense = 1 if kind.endswith("left") else -1
        radius, angle = np.hypot(u, v), np.arctan2(v, u)
        arms = 0.5 + 0.5 * np.cos(2 * (angle + sense * radius / size * random.uniform(1.2, 2)))
        return np.exp(-((radius / size) ** 2) / 2) * (0.25 + 0.75 * arms**2)
    if kind == "bar":
        return np.exp(-((u / size) ** 2) / 2 - (v / size * random.uniform(4, 7)) ** 2 / 2)
    if kind == "ellipse":
        return np.exp(-np.hypot(u, v * random.uniform(1.0, 1.6)) / size * 1.5)
    if kind == "ring":
        return np.exp(-(((np.hypot(u, v) - 1.3 * size) / 3) ** 2) / 2)
    if kind == "pair":
        gap = random.uniform(0.8, 1.5) * size
        both = [np.exp(-np.hypot(u - side, v) / size * 2.5) for side in (-gap, gap)]
        return both[0] + random.uniform(0.4, 1) * both[1]
    if kind == "star":
        cross = np.exp(-np.abs(u) / 1.2 - np.abs(v) / 20) + np.exp(
            -np.abs(v) / 1.2 - np.abs(u) / 20
        )
        return cross + np.exp(-np.hypot(u, v) / 2)
    return np.exp(-(v**2) / 2 / random.uniform(0.6, 1.2)) * 0.7  # a trail across


def shapes(seed: int) -> Pictures:
    """Return shapes of several kinds, turned at random; spirals differ in their sense alone."""
    random = np.random.default_rng([seed, 2])
    kinds = ["ellipse", "bar", "spiral left", "spiral right", "ring", "pair", "star", "trail"]
    pixels, labels = [], []
    for kind in kinds:
        for _ in range(_LARGEST):
            light = 255 * random.uniform(0.4, 1.1) * _shape(kind, random)[..., None]
            tint = np.array([1.0, random.uniform(0.75, 1), random.uniform(0.5, 1)])
            noise = random.normal(0, 10, size=(_SIDE, _SIDE, 3))
            pixels.append(light * tint + gaussian_filter(noise, (0.7, 0.7, 0)) + 12)
            labels.append(kind)
    return unequal(np.clip(np.stack(pixels), 0, 255).astype(np.uint8), np.array(labels), seed)


def _texture(kind: int, random: np.random.Generator) -> np.ndarray:
    y, x = np.mgrid[:_SIDE, :_SIDE] + random.uniform(0, 50, size=(2, 1, 1))
    turn = random.uniform(-0.2, 0.2)
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    period = (5, 5, 9, 9, 7, 7)[kind] if kind < 6 else 0
    if kind < 4:
        return np.sin(2 * np.pi * (u if kind % 2 else v) / period)
    if kind == 4:
        return np.sign(np.sin(2 * np.pi * u / period) * np.sin(2 * np.pi * v / period))
    if kind == 5:
        return np.where((u % period - 3) ** 2 + (v % period - 3) ** 2 < 5, 1.5, -0.5)
    noise = random.normal(size=(_SIDE, _SIDE))
    sigma = {6: (0.6, 0.6), 7: (1.5, 1.5), 8: (4, 4), 9: (0.6, 4), 10: (4, 0.6)}[kind]
    smooth = gaussian_filter(noise, sigma)
    return smooth / smooth.std()


def textures(seed: int) -> Pictures:
    """Return textures, each in one of a few colours, that differ in some kinds only."""
    random = np.random.default_rng([seed, 3])
    palette = np.array([[200, 160, 90], [90, 150, 80], [110, 120, 180], [170, 90, 90]])
    pixels, labels = [], []
    for kind in range(11):
        for _ in range(_LARGEST // 2):
            colour = int(random.integers(4))
            # Of two textures, two colours are categories of their own.
            name = f"{kind} {colour % 2}" if kind in (7, 8) else str(kind)
            contrast = random.uniform(10, 45)
            light = random.normal(0, 20) + contrast * _texture(kind, random)[..., None]
            light = light + random.normal(0, 5, size=(_SIDE, _SIDE, 1))
            pixels.append(palette[colour] + light)
            labels.append(name)
    return unequal(np.clip(np.stack(pixels), 0, 255).astype(np.uint8), np.array(labels), seed)


def spectrograms(seed: int) -> Pictures:
    """Return spectrograms of a zebra finch's notes, in grey."""
    pixels, labels = [], []
    folder = Path(os.environ["KERNOVA_DATA"]) / "calls" / "zebra_finch_G402"
    for table in sorted(folder.glob("*.selections.txt")):
        notes = pd.read_csv(table, sep="\t")
        sound, rate = soundfile.read(str(table).replace(".selections.txt", ".wav"))
        for start, end, label in notes[["Begin Time (s)", "End Time (s)", "Annotation"]].to_numpy():
            samples = sound[int(start * rate) : int(end * rate)]
            drawn = spectrogram_picture(samples, rate, 12_000, _SIDE, _SIDE)
            pixels.append(np.asarray(Image.open(io.BytesIO(drawn.content)).convert("L")))
            labels.append(label)
    return unequal(_coloured(np.stack(pixels)), np.array(labels, dtype=str), seed)


def galaxies(seed: int) -> Pictures:
    """Return two thirds of the thumbnails of galaxies, with their 20 features."""
    folder = Path(os.environ["KERNOVA_DATA"]) / "images" / "galaxy_zoo1"
    table = pd.read_csv(folder / "galaxies.csv", dtype={"id": str})
    with ZipFile(folder / "thumbnails.zip") as archive:
        names = {Path(name).name: name for name in archive.namelist()}
        pixels = [
            np.asarray(Image.open(io.BytesIO(archive.read(names[Path(one).name]))).convert("RGB"))
            for one in table["thumbnail"]
        ]
    kept = np.random.default_rng(seed).permutation(len(table))[: len(table) * 2 // 3]
    features = table.drop(columns=["id", "label", "thumbnail"]).to_numpy(float)
    return Pictures(np.stack(pixels)[kept], table["label"].to_numpy(str)[kept], features[kept])


def galaxies_spirals_together(seed: int) -> Pictures:
    """Return galaxies with spirals of both senses as one category."""
    found = galaxies(seed)
    is_spiral = np.char.startswith(found.labels, "spiral")
    return found._replace(labels=np.where(is_spiral, "spiral", found.labels))


CHOOSING: dict[str, Callable[[int], Pictures]] = {
    "digits": digits,
    "letters": letters,
    "shapes": shapes,
    "textures": textures,
    "spectrograms": spectrograms,
}
CONFIRMING: dict[str, Callable[[int], Pictures]] = {
    "galaxies": galaxies,
    "galaxies, spirals together": galaxies_spirals_together,
}
