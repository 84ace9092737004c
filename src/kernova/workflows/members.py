"""Members of an ensemble in a study: what each says about a row, and what readers should know.

A member's surprise is -log2 of the fraction of ordinary rows that look at least as unusual to it.
A member speaks for a row that is more unusual to it than 19 of 20 ordinary rows.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from kernova.calibration.detector import CalibratedDetector
from kernova.text import plural
from kernova.typing import Indices
from kernova.workflows.effort import last_detector

if TYPE_CHECKING:
    from kernova.workflows.verdicts import JudgedPart

# One ordinary row in twenty looks as unusual.
_SPEAKS_FROM_BITS: Final = float(np.log2(20))
_MOST_COMPARED: Final = 20_000


def _has_members(chain: Sequence[Any]) -> bool:
    """Return whether a fitted chain ends in an ensemble."""
    return hasattr(chain[-1], "member_scores")


def chains_of(detector: CalibratedDetector) -> list[Pipeline]:
    """Return the fitted chains inside a calibrated detector: one, or one for each fold."""
    folds = getattr(detector, "folds_", None)
    return [detector.estimator_] if folds is None else [fold.estimator_ for fold in folds]


def member_bits(chains: Sequence[Any], rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return the surprise of rows for each member, in bits.

    Parameters
    ----------
    chains : sequence of Pipeline
        Fitted chains; of several, the mean is taken.
    rows : DataFrame
        The rows, as the chains take them.

    Returns
    -------
    DataFrame of shape (n_rows, n_members) or None
        With the index of ``rows``; NaN where a member does not judge such a row. None for a
        detector without members.
    """
    if not len(rows) or not all(_has_members(chain) for chain in chains):
        return None
    found = [
        chain[-1].member_scores(chain[:-1].transform(rows) if len(chain) > 1 else rows)
        for chain in chains
    ]
    total = pd.concat([pd.DataFrame(one).reset_index(drop=True) for one in found])
    names = list(dict.fromkeys(name for one in found for name in one))
    return total.groupby(level=0).mean()[names].set_axis(rows.index, axis=0)


def bits_of_parts(
    parts: "Sequence[JudgedPart]", features: pd.DataFrame, shown: Indices, notes: list[str]
) -> pd.DataFrame | None:
    """Return the surprise of the rows of a table for each member, by the rows' indices.

    Of many rows, those shown and a random sample are judged; a note says so. None for a detector
    without members.
    """
    if not len(shown) or not all(_has_members(part.model) for part in parts):
        return None
    chosen = np.arange(len(features))
    if len(features) > _MOST_COMPARED:
        drawn = np.random.default_rng(0).choice(len(features), _MOST_COMPARED, replace=False)
        chosen = np.union1d(drawn, shown)
        notes.append(
            f"Members of the ensemble are compared on {_MOST_COMPARED:,} rows, drawn at random, "
            "and on the first ones."
        )
    found = [
        member_bits([part.model], features.iloc[np.intersect1d(part.row_indices, chosen)])
        for part in parts
    ]
    # A member that one half left out is not compared.
    return pd.concat([one for one in found if one is not None], join="inner").sort_index()


def detector_notes(chains: Iterable[Pipeline]) -> list[str]:
    """Return what ensembles say about columns, samples and members left out, each once."""
    notes: dict[str, None] = {}
    for chain in chains:
        detector = last_detector(chain)
        notes |= dict.fromkeys(getattr(detector, "notes_", ()))
        sampled = getattr(detector, "sampled_", None)
        if sampled is not None:
            notes[sampled] = None
        notes |= dict.fromkeys(_left_out_notes(getattr(detector, "left_out_", {})))
    return list(notes)


def _left_out_notes(left_out: dict[str, str]) -> list[str]:
    """Return one sentence for each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return [
        f"The ensemble works without its {plural(len(of_one), 'member')} {', '.join(of_one)}: "
        f"{reason}"
        for reason, of_one in names.items()
    ]


def _speaking(bits: "pd.Series[float]") -> "pd.Series[float]":
    """Return the members that speak for a row, the most surprised first."""
    present = bits.dropna()
    return present[present >= _SPEAKS_FROM_BITS].sort_values(ascending=False, kind="stable")


def speaking_sentence(bits: "pd.Series[float]") -> str:
    """Return which members speak for a row, as a sentence.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workflows.members import speaking_sentence
    >>> speaking_sentence(pd.Series({"linear": 9.26, "columns": 1.5}))
    '1 of 2 members finds it more unusual than 19 of 20 ordinary rows: linear (9.3 bits)'
    """
    found = _speaking(bits)
    count = f"{len(found) or 'None'} of {len(bits.dropna())} members"
    verb = "finds" if len(found) <= 1 else "find"
    names = [f"{name} ({value:.1f} bits)" for name, value in found.items()]
    return f"{count} {verb} it more unusual than 19 of 20 ordinary rows" + (
        f": {', '.join(names)}" if names else ""
    )
