"""From digitised specimens to comparable ones: curves slide, and sides are averaged.

Known and new specimens are prepared together, without regard to groups, so that neither is
favoured.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from kernova.errors import InputError, quoted
from kernova.shapes.completion import complete_specimens
from kernova.shapes.curves import landmarks_with_curves
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.shapes.sliding import slide_semilandmarks
from kernova.shapes.symmetry import guess_pairs, symmetric_components
from kernova.text import plural, quantity
from kernova.typing import Indices

__all__ = ["CURVES", "CurvesAs", "distinct_ids", "prepare_landmarks"]

CurvesAs = Literal["bending", "procrustes", "ignore"]
CURVES: tuple[CurvesAs, ...] = ("bending", "procrustes", "ignore")
# Ends of curves that are digitised by hand as the same point as a landmark.
_SAME_POINT = 0.02
_LEAST = {"bending": "least bending energy", "procrustes": "least Procrustes distance"}


def prepare_landmarks(
    sets: Sequence[Landmarks],
    *,
    curves: CurvesAs = "bending",
    sliders: Indices | None = None,
    symmetric: bool = False,
) -> tuple[Landmarks, ...]:
    """Slide semilandmarks and average sides, in several sets of specimens together.

    Parameters
    ----------
    sets : sequence of Landmarks
        Such as known and new specimens. Sets with different landmarks are returned as they are.
    curves : {"bending", "procrustes", "ignore"}, default="bending"
        What sliding minimises, or that curves are left out.
    sliders : ndarray of shape (n_sliders, 3), optional
        Rows [before, slide, after] of landmarks that are semilandmarks; see
        :func:`kernova.shapes.read_sliders`.
    symmetric : bool, default=False
        Replace each specimen by its symmetric component; pairs of landmarks are found from the
        consensus.

    Returns
    -------
    tuple of Landmarks
        The sets, in which ``notes`` tell what was done.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks
    >>> arc = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0], [3.0, 0.0]])
    >>> corners = np.array([[0.0, 0.0], [3.0, 0.0], [1.0, -2.0]])
    >>> fish = Landmarks(("a", "b"), np.stack([corners, corners + 0.1]),
    ...                  curves=((arc,), (arc + 0.1,)))
    >>> (prepared,) = prepare_landmarks([fish])
    >>> prepared.n_landmarks, prepared.notes[0][:29]
    (5, '1 curve per specimen was read')
    """
    if curves not in CURVES:
        raise InputError(f"curves is {quoted(curves)}; choose one of {', '.join(CURVES)}.")
    shapes = {one.coordinates.shape[1:] for one in sets}
    if len(shapes) > 1:
        return tuple(sets)
    joined, notes = _slid(_joined(sets), curves, sliders)
    if symmetric:
        joined, note = _symmetric(joined)
        notes.append(note)
    return _divided(joined, sets, notes) if notes else tuple(sets)


def _joined(sets: Sequence[Landmarks]) -> Landmarks:
    return Landmarks(
        distinct_ids([one.ids for one in sets]),
        np.concatenate([one.coordinates for one in sets]),
        scales=np.concatenate([one.scales for one in sets]),
        curves=tuple(lines for one in sets for lines in one.curves),
        source=" and ".join(dict.fromkeys(one.source for one in sets)),
    )


def distinct_ids(sets: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the ids of known and new specimens together; one that is taken is marked as new.

    Examples
    --------
    >>> distinct_ids([["a", "b"], ["b", "c"]])
    ('a', 'b', 'b (new)', 'c')
    """
    found: dict[str, None] = {}  # in order
    for ids in sets:
        for name in ids:
            own = name
            while own in found:
                own += " (new)"
            found[own] = None
    return tuple(found)


def _divided(
    joined: Landmarks, sets: Sequence[Landmarks], notes: Sequence[str]
) -> tuple[Landmarks, ...]:
    ends = np.cumsum([len(one) for one in sets])
    parts = np.split(joined.coordinates, ends[:-1])
    return tuple(
        replace(one, coordinates=part, curves=(), notes=(*one.notes, *notes))
        for one, part in zip(sets, parts, strict=True)
    )


def _n_curves(landmarks: Landmarks) -> int:
    return max((len(lines) for lines in landmarks.curves), default=0)


class _Slid(NamedTuple):
    landmarks: Landmarks
    notes: list[str]


def _slid(landmarks: Landmarks, curves: CurvesAs, sliders: Indices | None) -> _Slid:
    """Slide semilandmarks and curves; missing landmarks are estimated before, sizes are kept."""
    criterion = "bending" if curves == "ignore" else curves
    parts, notes = [], []
    if sliders is not None and len(sliders):
        _check_sliders(sliders, landmarks)
        parts.append(sliders)
        notes.append(f"{quantity(len(sliders), 'semilandmark')} slid to the {_LEAST[criterion]}.")
    if curves != "ignore" and _n_curves(landmarks):
        curved, of_curves = landmarks_with_curves(landmarks, tolerance=_SAME_POINT)
        parts.append(of_curves)
        notes.append(_curve_note(landmarks, curved, criterion))
        landmarks = curved
    if not parts:
        return _Slid(landmarks, notes)
    coordinates = landmarks.coordinates
    if np.isnan(coordinates).any():
        coordinates = complete_specimens(coordinates).coordinates
    slid = slide_semilandmarks(
        coordinates, np.concatenate(parts), criterion=criterion, ids=landmarks.ids
    )
    if not slid.is_converged:
        notes.append(
            f"Sliding stopped after {quantity(slid.n_rounds, 'round')}, before it converged; "
            "places along curves are approximate."
        )
    coordinates = slid.coordinates * slid.centroid_sizes[:, None, None]
    return _Slid(replace(landmarks, coordinates=coordinates), notes)


def _check_sliders(sliders: Indices, landmarks: Landmarks) -> None:
    highest = int(sliders.max()) + 1
    if highest > landmarks.n_landmarks:
        raise InputError(
            f"`sliders` names landmark {highest}, counted from 1, but the specimens of "
            f"{landmarks.source} have {landmarks.n_landmarks}. Correct the number."
        )


def _curve_note(landmarks: Landmarks, curved: Landmarks, criterion: CurvesAs) -> str:
    n_curves = _n_curves(landmarks)
    return (
        f"{quantity(n_curves, 'curve')} per specimen {plural(n_curves, 'was', 'were')} read as "
        f"{quantity(curved.n_landmarks - landmarks.n_landmarks, 'point')} beside "
        f"{landmarks.n_landmarks} landmarks, and slid to the {_LEAST[criterion]}. Leave curves out "
        "with --curves ignore."
    )


class _Symmetric(NamedTuple):
    landmarks: Landmarks
    note: str


def _symmetric(landmarks: Landmarks) -> _Symmetric:
    coordinates = landmarks.coordinates
    if np.isnan(coordinates).any():
        coordinates = complete_specimens(coordinates).coordinates
    procrustes = GeneralizedProcrustes(landmarks.n_dimensions).fit(coordinates)
    guess = guess_pairs(procrustes.consensus_)
    if not guess.is_symmetric:
        raise InputError(
            f"The consensus of {landmarks.source} is not symmetric, so pairs of landmarks on the "
            "left and on the right were not found. Leave out symmetric=True, or digitise both "
            "sides."
        )
    sizes = procrustes.align(coordinates).centroid_sizes
    symmetric = symmetric_components(coordinates, guess.pairs, tangent=False).symmetric
    pairs = ", ".join(f"{a + 1}-{b + 1}" for a, b in guess.pairs)
    note = (
        f"Symmetric components are compared: left and right were averaged, by the pairs of "
        f"landmarks {pairs}, found from the consensus. Check these pairs."
    )
    return _Symmetric(replace(landmarks, coordinates=symmetric * sizes[:, None, None]), note)
