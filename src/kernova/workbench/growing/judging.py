"""Judgement of new rows: those that look new, those that were recognised, and all others.

Whether a row looks new is a question about all rows before the batch, labelled or not, and has a
bound (:mod:`kernova.workbench.growing.chance`). Which category the others are of is a question
about the labelled rows, and is answered by the model that the workbench learns from them.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.growth.batches import BatchJudgement
from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError
from kernova.tables.table import Table
from kernova.typing import Indices, Mask, Matrix, Vector
from kernova.workbench.growing.chance import Chance, chance_of
from kernova.workbench.learning import labelling_groups
from kernova.workbench.recognizer import VERDICTS as RECOGNIZER_VERDICTS
from kernova.workbench.recognizer import LearntModel, Negative, learn_from_answers, what_is_missing
from kernova.workflows.confusion import unknown_groups
from kernova.workflows.novelty import NoveltyResult, find_novelties
from kernova.workflows.settings import NoveltySettings

Verdict = Literal["new", "known", "uncertain"]

#: The three lists of a batch.
VERDICTS: Final[tuple[Verdict, ...]] = ("new", "known", "uncertain")

# With fewer rows before the batch nothing is held out: half of them prove next to nothing.
_FEWEST_BEFORE: Final = 40
_EXPLAINED: Final = 24
_RECOGNISED: Final = RECOGNIZER_VERDICTS.index("known")


@dataclass(frozen=True, eq=False)
class JudgedBatch:
    """Verdicts on the rows of a batch, and what they follow from.

    Attributes
    ----------
    rows : DataFrame
        One line per row: ``id``, ``verdict`` ("new", "known" or "uncertain"), ``category`` and
        ``probability`` (the best suggestion), ``of_no_category`` (whether the model knows no
        category like it), ``p_value``, ``group`` (0 is none) and ``because``.
    unlike : ndarray of int
        The rows that look new, the most unusual first.
    chance : Chance or None
        The threshold, and how many rows chance explains; None if there were too few rows before.
    n_held_out : int
        Number of held-out rows.
    novelty : NoveltyResult or None
        Scores and reasons.
    model : LearntModel or None
        The model of the categories; None if too few rows are labelled.
    notes : list of str
        Remarks for the reader.
    """

    rows: pd.DataFrame
    unlike: Indices
    chance: Chance | None
    n_held_out: int
    novelty: NoveltyResult | None
    model: LearntModel | None
    notes: list[str]

    def for_log(self) -> BatchJudgement:
        """Return what is stored with the batch."""
        of_unlike = self.rows.iloc[self.unlike]
        return BatchJudgement(
            unlike=self.unlike.tolist(),
            p_values=of_unlike["p_value"].tolist(),
            groups=of_unlike["group"].tolist(),
            by_chance=0 if self.chance is None else self.chance.most,
            n_held_out=self.n_held_out,
            n_known=int((self.rows["verdict"] == "known").sum()),
        )


def judge_batch(
    session: CategoryDiscovery, before: Table, new: Table, encoded: Matrix, seed: int = 0
) -> JudgedBatch:
    """Judge new rows before they are added.

    Parameters
    ----------
    session : CategoryDiscovery
        The answers so far.
    before : Table
        All rows of the session.
    new : Table
        The new rows, with the same columns. Columns without any value are left out.
    encoded : array of shape (n_new, n_encoded)
        The new rows as the session sees them, to find groups of unusual ones.
    seed : int
        Random seed of the split into rows to learn from and held-out rows.
    """
    n_new = len(new.features)
    novelty = _novelty(before, new, seed)
    p_values, notes = np.full(n_new, np.nan), []
    chance, n_held_out, is_unlike = None, 0, np.zeros(n_new, dtype=np.bool_)
    if novelty is not None:
        n_held_out = len(novelty.detector.holdout_scores_)
        chance = chance_of(n_new, n_held_out)
        p_values = novelty.rows["p_value"].to_numpy()
        is_unlike = np.rint(p_values * (n_held_out + 1)) <= chance.rank
        notes += novelty.remarks
    order = np.argsort(p_values if novelty is None else novelty.scores, kind="stable")
    model = _learnt(session, before, new)
    if model is not None:
        notes += [note for note in model.notes if note not in notes]
    rows = _lines(new, is_unlike, p_values, model)
    rows["group"] = unknown_groups(encoded, is_unlike)
    rows["because"] = "" if novelty is None else novelty.rows["because"].to_numpy()
    return JudgedBatch(rows, order[is_unlike[order]], chance, n_held_out, novelty, model, notes)


def _novelty(before: Table, new: Table, seed: int) -> NoveltyResult | None:
    """Compare the new rows with all before; None if these are too few."""
    if len(before.features) < _FEWEST_BEFORE:
        return None
    names = [name for name in before.features if new.features[name].notna().any()]
    settings = NoveltySettings(top=min(_EXPLAINED, len(new.features)), seed=seed)
    try:
        return find_novelties(
            replace(before, features=before.features[names]),
            replace(new, features=new.features[names]),
            settings,
        )
    except InputError:
        return None  # rows without any variation, or without a column in common


def _learnt(session: CategoryDiscovery, before: Table, new: Table) -> LearntModel | None:
    """Learn from the labels given by hand, and judge the new rows; None if they are too few."""
    results = session.results_
    labels = results.labels
    labels[results.is_accepted] = None
    sizes = pd.Series(labels, dtype=object).value_counts()
    if what_is_missing({str(name): int(size) for name, size in sizes.items()}) is not None:
        return None
    rejected = results.annotations.rejected
    is_used = pd.notna(labels)
    is_used[list(rejected)] = True
    used = np.flatnonzero(is_used)
    n_new = len(new.features)
    place = {row: number for number, row in enumerate(used.tolist())}
    negatives = [Negative(place[row], name) for row, names in rejected.items() for name in names]
    groups = labelling_groups(session.entries_, len(labels))
    table = Table(
        pd.concat([before.features.iloc[used], new.features], ignore_index=True),
        pd.concat([before.ids.iloc[used], new.ids], ignore_index=True).rename("id"),
        None,
        new.source,
    )
    return learn_from_answers(
        table,
        np.concatenate([labels[used], np.full(n_new, None, dtype=object)]),
        groups=np.concatenate([groups[used], -2 - len(labels) - np.arange(n_new)]),
        negatives=negatives,
    )


def _lines(
    new: Table, is_unlike: Mask, p_values: Vector, model: LearntModel | None
) -> pd.DataFrame:
    n_new = len(new.features)
    category = np.full(n_new, None, dtype=object)
    probability = np.full(n_new, np.nan)
    is_known, is_foreign = np.zeros((2, n_new), dtype=np.bool_)
    if model is not None:
        own = slice(len(model.ids) - n_new, None)
        judged = model.judged
        category = np.array([*model.names, None], dtype=object)[judged.suggested[own]]
        probability = judged.probability[own]
        is_known = np.asarray(model.verdicts[own] == _RECOGNISED) & ~is_unlike
        is_foreign = judged.is_unknown[own]
    return pd.DataFrame(
        {
            "id": new.ids.to_numpy(),
            "verdict": _verdicts(is_unlike, is_known),
            "category": category,
            "probability": probability,
            "of_no_category": is_foreign,
            "p_value": p_values,
        }
    )


def _verdicts(is_unlike: Mask, is_known: Mask) -> NDArray[Any]:
    return np.where(is_unlike, "new", np.where(is_known, "known", "uncertain")).astype(object)
