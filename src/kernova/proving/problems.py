"""Problems of the proving ground: tables with rare categories, in many random draws each.

A draw of a public table leaves out a fifth of the rows of each category; where the categories of a
table are balanced, it makes them rare at random instead. Generated tables are drawn anew. The
problems were split at random, before anything was run, into those on which a strategy may be chosen
and those that only confirm (``SPLIT_SEED``); a problem's draws are all on one side.
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.proving.generators import GENERATORS, Shape
from kernova.proving.tables import READERS, LabelledRows
from kernova.typing import Indices, Matrix

Part = Literal["choosing", "confirming"]
Labels = NDArray[np.str_]

#: The problems, in alphabetical order, are permuted with this seed; the first half is for choosing.
SPLIT_SEED: Final = 20
_KEPT: Final = 0.8
_FEWEST_KEPT: Final = 2


class Problem(NamedTuple):
    """A problem: where its rows come from, and how a draw thins them out."""

    name: str
    kind: Literal["table", "generator"]
    make: Callable[[Path, np.random.Generator], LabelledRows]
    n_draws: int


class Drawn(NamedTuple):
    """One draw of a problem: rows in random order, and the category of each."""

    problem: str
    seed: int
    X: Matrix
    labels: Labels


@lru_cache(maxsize=64)
def _whole(name: str, folder: Path) -> LabelledRows:
    return READERS[name](folder)


def _subsampled(labels: Labels, random: np.random.Generator) -> Indices:
    """Leave out a fifth of each category; categories of one row stay."""
    kept = []
    for label in np.unique(labels):
        rows = random.permutation(np.flatnonzero(labels == label))
        kept.append(rows[: max(_FEWEST_KEPT, round(_KEPT * len(rows)))])
    return np.concatenate(kept)


def _thinned(sizes: tuple[int, ...]) -> Callable[[Labels, np.random.Generator], Indices]:
    """Return a rule that gives the categories these sizes, in random order."""

    def rows_of(labels: Labels, random: np.random.Generator) -> Indices:
        kept = []
        chosen = random.permutation(np.unique(labels))[: len(sizes)]
        for label, size in zip(chosen, sizes, strict=True):
            rows = np.flatnonzero(labels == label)
            kept.append(random.permutation(rows)[:size])
        return np.concatenate(kept)

    return rows_of


def _all_classes(n_rows: int) -> Callable[[Labels, np.random.Generator], Indices]:
    """Return a rule that draws rows until every category is among them."""

    def rows_of(labels: Labels, random: np.random.Generator) -> Indices:
        n_categories = len(np.unique(labels))
        for _ in range(10_000):
            rows = random.permutation(len(labels))[:n_rows]
            if len(np.unique(labels[rows])) == n_categories:
                return rows
        raise InputError(f"{n_rows} random rows do not hold all {n_categories} categories.")

    return rows_of


def _halving(largest: int, n: int, smallest: int = 8) -> tuple[int, ...]:
    """Return sizes that halve from one category to the next."""
    return tuple(max(smallest, largest >> place) for place in range(n))


_RULES: Final[dict[str, Callable[[Labels, np.random.Generator], Indices]]] = {
    "shuttle": _all_classes(4000),
    "mammography": _all_classes(4000),
    "optdigits": _thinned(_halving(512, 10)),
    "letter": _thinned((512, 512, 256, 256, 128, 128, 64, 64, 32, 32, 16, 16, *[8] * 14)),
    "segment": _thinned(_halving(256, 7)),
    "digits": _thinned((170, 120, 80, 50, 30, 20, 12, 8, 5, 3)),
    "penbased": _thinned(_halving(1000, 10, smallest=5)),
    "satimage": _thinned((1000, 500, 120, 40, 15, 5)),
    "texture": _thinned(_halving(400, 11, smallest=4)),
    "vowel": _thinned((90, 80, 60, 40, 25, 16, 10, 8, 6, 4, 4)),
    "vehicle": _thinned((190, 60, 15, 5)),
    "marketing": _thinned((1000, 500, 200, 100, 50, 30, 20, 10, 10)),
    "splice": _thinned((800, 60, 8)),
    "led7digit": _thinned((45, 40, 30, 25, 20, 12, 8, 5, 4, 3)),
    "movement-libras": _thinned((24, 24, 20, 20, 16, 16, 12, 12, 8, 8, 6, 6, 4, 4, 3)),
    "finch-notes": _thinned((30, 30, 24, 18, 12, 9, 6, 4, 3)),
    "warbler-calls": _thinned((30, 30, 20, 14, 10, 6, 4, 3)),
    "cichlid-species": _thinned((11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2)),
}


def _table(name: str) -> Problem:
    rule = _RULES.get(name, _subsampled)

    def make(folder: Path, random: np.random.Generator) -> LabelledRows:
        whole = _whole(name, folder)
        rows = rule(whole.labels, random)
        return LabelledRows(whole.X[rows], whole.labels[rows])

    return Problem(name, "table", make, n_draws=10)


# Rows, columns and categories of the small and the large variant of each generator.
_SMALL: Final = Shape((300, 1500), (2, 12), (3, 12))
_LARGE: Final = Shape((1500, 6000), (5, 40), (5, 25))
_SHAPES: Final[dict[str, tuple[Shape, ...]]] = {
    "nested": (_SMALL, Shape((1500, 6000), (2, 10), (20, 40))),
    "noise-columns": (
        Shape((300, 1500), (20, 60), (3, 8)),
        Shape((800, 3000), (100, 200), (4, 15)),
    ),
    "categorical": (Shape((300, 1500), (4, 10), (3, 10)), Shape((1500, 6000), (8, 20), (5, 25))),
    "repeated-rows": (_SMALL, Shape((1500, 6000), (3, 8), (4, 12))),
    "bulk": (
        _SMALL,
        Shape((1500, 6000), (3, 10), (3, 10)),
        Shape((50_000, 50_000), (6, 10), (4, 9)),
    ),
    "heavy-tails": (_SMALL, _LARGE, Shape((20_000, 20_000), (4, 12), (6, 20))),
    "background": (Shape((300, 1500), (2, 4), (3, 12)), Shape((1500, 6000), (3, 6), (5, 25))),
}
_FEW_DRAWS, _MANY_ROWS = 3, 10_000


def _generated(kind: str, which: int, shape: Shape) -> Problem:
    def make(_: Path, random: np.random.Generator) -> LabelledRows:
        rows = GENERATORS[kind](random, shape)
        return LabelledRows(rows.X, rows.codes.astype(np.str_))

    name = f"{kind}-{'abc'[which]}"
    n_draws = _FEW_DRAWS if shape.rows[1] > _MANY_ROWS else 10
    return Problem(name, "generator", make, n_draws)


_PROBLEMS: Final[dict[str, Problem]] = {
    problem.name: problem
    for problem in (
        *(_table(name) for name in READERS),
        *(
            _generated(kind, which, shape)
            for kind in GENERATORS
            for which, shape in enumerate(_SHAPES.get(kind, (_SMALL, _LARGE)))
        ),
    )
}


def split() -> dict[str, Part]:
    """Return for each problem whether it is for choosing or for confirming."""
    names = sorted(_PROBLEMS)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(names))
    n_choosing = len(names) // 2
    return {
        names[which]: "choosing" if place < n_choosing else "confirming"
        for place, which in enumerate(order.tolist())
    }


def problem_names(part: Part | None = None) -> list[str]:
    """Return the names of all problems, or of those of one part, in alphabetical order."""
    return sorted(name for name, of in split().items() if part is None or of == part)


def problem_named(name: str) -> Problem:
    """Return a problem by its name."""
    problem = _PROBLEMS.get(name)
    if problem is None:
        raise InputError(
            f"There is no problem named {quoted(name)}. Use some of {', '.join(sorted(_PROBLEMS))}."
        )
    return problem


def drawn(name: str, seed: int, folder: Path) -> Drawn:
    """Draw a problem; the rows do not depend on other problems.

    Parameters
    ----------
    name : str
        The problem.
    seed : int
        The draw.
    folder : Path
        Folder of the public tables; generated problems do not need it.
    """
    random = np.random.default_rng([seed, *name.encode()])
    rows = problem_named(name).make(folder, random)
    # Of tied rows the first is asked about, so the order must not depend on the category.
    order = random.permutation(len(rows.X))
    return Drawn(name, seed, np.ascontiguousarray(rows.X[order]), rows.labels[order])
