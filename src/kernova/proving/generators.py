"""Generated tables with rare categories: one generator for each way in which a category can hide.

Every draw varies the sizes, the positions and the number of columns at random, so that no single
geometry can be learnt by heart. Sizes of categories fall geometrically unless said otherwise.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from kernova.typing import Indices, Matrix

Random = np.random.Generator


class Rows(NamedTuple):
    """Generated rows and the category of each, as a number."""

    X: Matrix
    codes: Indices


class Shape(NamedTuple):
    """Ranges from which a draw takes the size of its table."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    categories: tuple[int, int]


def drawn_between(random: Random, low: int, high: int) -> int:
    """Draw a number between two others, evenly on a logarithmic scale."""
    return int(np.round(np.exp(random.uniform(np.log(low), np.log(high)))))


def falling_sizes(n_rows: int, n_categories: int, smallest: int) -> Indices:
    """Return sizes that fall geometrically to the smallest and add up to about ``n_rows``.

    Examples
    --------
    >>> falling_sizes(1000, 4, 8).tolist()
    [787, 168, 37, 8]
    """
    ratios = np.geomspace(1e-6, 1, 400)
    powers = np.arange(n_categories)[::-1]
    totals = (smallest * (1 / ratios[:, None]) ** powers).sum(axis=1)
    ratio = ratios[int(np.argmin(np.abs(np.log(totals / n_rows))))]
    sizes = np.maximum(smallest, np.round(smallest * (1 / ratio) ** powers)).astype(np.intp)
    sizes[0] = max(smallest, n_rows - sizes[1:].sum())
    return np.asarray(sizes)


def _sizes(random: Random, shape: Shape) -> Indices:
    n_rows = drawn_between(random, *shape.rows)
    n_categories = drawn_between(random, *shape.categories)
    return falling_sizes(n_rows, n_categories, int(random.integers(3, 12)))


def _columns(random: Random, shape: Shape) -> int:
    return drawn_between(random, *shape.columns)


def _spreads(random: Random, n_columns: int) -> NDArray[np.float64]:
    """Draw the deviations of a category along its own axes."""
    return np.exp(random.normal(0, 0.5, n_columns))


def _gaussian(random: Random, size: int, centre: Matrix, scale: float) -> Matrix:
    """Draw rows of one correlated Gaussian category."""
    n_columns = len(centre)
    rows = random.standard_normal((size, n_columns)) * scale * _spreads(random, n_columns)
    if 1 < n_columns <= 50:
        rows = rows @ ortho_group.rvs(n_columns, random_state=int(random.integers(2**31)))
    return np.asarray(rows + centre)


def _stacked(parts: list[Matrix]) -> Rows:
    codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Rows(np.concatenate(parts), codes)


def overlapping(random: Random, shape: Shape) -> Rows:
    """Draw Gaussian categories that overlap their neighbours."""
    sizes, n_columns = _sizes(random, shape), _columns(random, shape)
    reach = random.uniform(1.5, 3.0) * len(sizes) ** (1 / n_columns) / np.sqrt(min(n_columns, 8))
    return _stacked([_gaussian(random, n, random.normal(0, reach, n_columns), 1.0) for n in sizes])


def bulk(random: Random, shape: Shape) -> Rows:
    """Draw one dominant category, and rare dense groups inside it."""
    n_columns = _columns(random, shape)
    n_rows = drawn_between(random, *shape.rows)
    n_rare = max(2, drawn_between(random, *shape.categories) - 1)
    sizes = np.maximum(6, random.geometric(1 / 25, n_rare))
    parts = [random.standard_normal((n_rows, n_columns))]
    for size in sizes:
        # Inside, but narrow: as dense as ten to a hundred times the bulk around it.
        centre = random.normal(0, 0.8, n_columns)
        parts.append(
            centre + random.standard_normal((size, n_columns)) * random.uniform(0.05, 0.25)
        )
    return _stacked(parts)


def edge(random: Random, shape: Shape) -> Rows:
    """Draw one dominant category, and rare ones at its edge, as wide as they are far away."""
    n_columns = _columns(random, shape)
    sizes = _sizes(random, shape)
    parts = [random.standard_normal((sizes[0], n_columns))]
    for size in sizes[1:]:
        direction = random.standard_normal(n_columns)
        direction /= np.linalg.norm(direction)
        centre = direction * (np.sqrt(n_columns) + random.uniform(0.5, 4))
        parts.append(_gaussian(random, size, centre, random.uniform(0.2, 0.9)))
    return _stacked(parts)


def chains(random: Random, shape: Shape) -> Rows:
    """Draw categories along curves, some of which cross."""
    sizes, n_columns = _sizes(random, shape), max(2, _columns(random, shape))
    parts = []
    for size in sizes:
        along = random.uniform(0, 1, size)[:, None]
        start, bend, end = random.normal(0, 4, (3, n_columns))
        curve = (1 - along) ** 2 * start + 2 * along * (1 - along) * bend + along**2 * end
        parts.append(curve + random.normal(0, random.uniform(0.05, 0.3), (size, n_columns)))
    return _stacked(parts)


def nested(random: Random, shape: Shape) -> Rows:
    """Draw clusters within clusters: groups of categories, each inside the spread of its parent."""
    sizes, n_columns = _sizes(random, shape), _columns(random, shape)
    centres, scales, parts = [np.zeros(n_columns)], [3.0], []
    for place, size in enumerate(sizes):
        if place == 0:
            parts.append(_gaussian(random, size, centres[0], scales[0]))
            continue
        parent = int(random.integers(len(centres)))
        scale = scales[parent] * random.uniform(0.1, 0.35)
        centre = centres[parent] + random.standard_normal(n_columns) * scales[parent]
        centres.append(centre)
        scales.append(scale)
        parts.append(_gaussian(random, size, centre, scale))
    return _stacked(parts)


def shells(random: Random, shape: Shape) -> Rows:
    """Draw categories that enclose each other: balls within spheres within spheres."""
    sizes, n_columns = _sizes(random, shape), max(2, _columns(random, shape))
    parts = []
    for place, size in enumerate(random.permutation(sizes)):
        direction = random.standard_normal((size, n_columns))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        radius = place * 1.5 + random.normal(0, 0.25, (size, 1))
        parts.append(direction * radius)
    return _stacked(parts)


def heavy_tails(random: Random, shape: Shape) -> Rows:
    """Draw categories with outliers of their own: Student's t with two to four degrees."""
    sizes, n_columns = _sizes(random, shape), _columns(random, shape)
    parts = []
    for size in sizes:
        freedom = random.uniform(2, 4)
        mixing = np.sqrt(freedom / random.chisquare(freedom, (size, 1)))
        centre = random.normal(0, 4, n_columns)
        parts.append(centre + random.standard_normal((size, n_columns)) * mixing)
    return _stacked(parts)


def skewed_columns(random: Random, shape: Shape) -> Rows:
    """Draw overlapping categories in columns of very different, mostly skewed distributions."""
    rows = overlapping(random, shape)
    X = rows.X / rows.X.std(axis=0)
    for column in range(X.shape[1]):
        kind = random.integers(4)
        if kind == 0:
            X[:, column] = np.exp(1.5 * X[:, column])
        elif kind == 1:
            X[:, column] = np.sinh(2 * X[:, column])
        X[:, column] *= 10 ** random.uniform(-4, 4)
    return Rows(X, rows.codes)


def categorical(random: Random, shape: Shape) -> Rows:
    """Draw indicator columns of categorical features, with other frequencies in each category."""
    sizes, n_features = _sizes(random, shape), _columns(random, shape)
    levels = random.integers(2, 7, n_features)
    sharpness = random.uniform(0.15, 0.5)
    parts = []
    for size in sizes:
        chosen = []
        for n_levels in levels:
            odds = random.dirichlet(np.full(n_levels, sharpness))
            chosen.append(np.eye(n_levels)[random.choice(n_levels, size, p=odds)])
        numbers = random.normal(random.normal(0, 1.5, 2), 1.0, (size, 2))
        parts.append(np.hstack([*chosen, numbers]))
    return _stacked(parts)


def repeated_rows(random: Random, shape: Shape) -> Rows:
    """Draw rows of few whole numbers, so that most rows repeat others."""
    sizes, n_columns = _sizes(random, shape), _columns(random, shape)
    parts = [
        random.poisson(random.gamma(1.0, 2.5, n_columns), (size, n_columns)).astype(float)
        for size in sizes
    ]
    return _stacked(parts)


def noise_columns(random: Random, shape: Shape) -> Rows:
    """Draw categories that differ in few of very many columns; the others are noise."""
    sizes, n_columns = _sizes(random, shape), _columns(random, shape)
    n_informative = max(2, int(n_columns * random.uniform(0.05, 0.25)))
    parts = []
    for size in sizes:
        rows = random.standard_normal((size, n_columns))
        rows[:, :n_informative] += random.normal(0, 3.5, n_informative)
        parts.append(rows)
    X, codes = _stacked(parts)
    # Noise may be correlated, too: a few hidden factors in all columns.
    factors = random.standard_normal((len(X), 3)) @ random.normal(0, 0.5, (3, n_columns))
    return Rows(X + factors, codes)


def own_columns(random: Random, shape: Shape) -> Rows:
    """Draw categories that each stand out in columns of their own."""
    sizes, n_columns = _sizes(random, shape), max(4, _columns(random, shape))
    parts = []
    for size in sizes:
        rows = random.standard_normal((size, n_columns))
        own = random.choice(n_columns, int(random.integers(1, 4)), replace=False)
        rows[:, own] = rows[:, own] * 0.4 + random.choice([-1, 1], len(own)) * random.uniform(2, 4)
        parts.append(rows)
    return _stacked(parts)


def background(random: Random, shape: Shape) -> Rows:
    """Draw groups of all sizes in a uniform background, which is a category, too."""
    sizes, n_columns = _sizes(random, shape), _columns(random, shape)
    parts = [random.uniform(-6, 6, (sizes[0], n_columns))]
    for size in sizes[1:]:
        scale = random.uniform(0.1, 0.8)
        parts.append(_gaussian(random, size, random.uniform(-5, 5, n_columns), scale))
    return _stacked(parts)


GENERATORS: Final[dict[str, Callable[[Random, Shape], Rows]]] = {
    "overlapping": overlapping,
    "bulk": bulk,
    "edge": edge,
    "chains": chains,
    "nested": nested,
    "shells": shells,
    "heavy-tails": heavy_tails,
    "skewed-columns": skewed_columns,
    "categorical": categorical,
    "repeated-rows": repeated_rows,
    "noise-columns": noise_columns,
    "own-columns": own_columns,
    "background": background,
}
