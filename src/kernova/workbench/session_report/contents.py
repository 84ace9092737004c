"""Contents of a session report: a snapshot of the labels, the curve, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernova.discover.random_baseline import BaselineBand, random_baseline
from kernova.discover.results import SessionResults
from kernova.discover.stopping import Advice, advice_after
from kernova.typing import Matrix
from kernova.workbench.exports.snapshot import Snapshot, prior_rows


@dataclass(frozen=True, eq=False)
class ReportContents:
    """Everything that a session report shows.

    Attributes
    ----------
    snapshot : Snapshot
        The labels, the log, the media and the learnt model.
    project : str
        The project file.
    curve : list of int
        Number of categories found after each question.
    first_questions : dict of str to int
        Number of the first question about each category; those known before have none.
    n_skipped : int
        Number of questions without a label.
    questions_by_expert : dict
        Number of questions that each expert closed.
    advice : Advice
        Whether to continue.
    baseline : BaselineBand or None
        What random sampling would be expected to find; None where the table is not at hand.
    is_stale : bool
        Whether the labels have changed since the model was learnt.
    command : str
        The command that shows this project, for those who repeat it; empty where it is not known.
    notes : list of str
        Remarks on the table.
    """

    snapshot: Snapshot
    project: str
    curve: list[int]
    first_questions: dict[str, int]
    n_skipped: int
    questions_by_expert: dict[str | None, int]
    advice: Advice
    baseline: BaselineBand | None = None
    is_stale: bool = False
    command: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return len(self.curve)


def contents_of(
    results: SessionResults,
    snapshot: Snapshot,
    project: str,
    notes: Sequence[str] = (),
    *,
    is_stale: bool = False,
    command: str = "",
) -> ReportContents:
    """Return what a report shows of a session; hold its lock meanwhile."""
    progress = results.progress
    numbers = {row: number for number, row in enumerate(results.asked, start=1)}
    firsts = {
        name: min((numbers[row] for row in rows if row in numbers), default=0)
        for name, rows in results.categories.items()
    }
    return ReportContents(
        snapshot=snapshot,
        project=project,
        curve=results.curve,
        first_questions={name: first for name, first in firsts.items() if first},
        n_skipped=results.n_skipped,
        questions_by_expert=results.questions_by_expert,
        advice=advice_after(progress, snapshot.n_rows, results.n_labelled - progress.n_named),
        is_stale=is_stale,
        command=command,
        notes=list(notes),
    )


def with_baseline(contents: ReportContents, encoded: Matrix) -> ReportContents:
    """Return the contents with the random baseline; it takes long for very many questions.

    Parameters
    ----------
    contents : ReportContents
        As from :func:`contents_of`.
    encoded : ndarray of shape (n_rows, n_columns)
        The rows, as distances are computed between them.
    """
    if not contents.curve or not any(label is not None for label in contents.snapshot.labels):
        return contents
    prior = prior_rows(contents.snapshot.entries)
    n_questions = min(contents.n_questions, contents.snapshot.n_rows - len(prior))
    labels = np.asarray(contents.snapshot.labels)
    found = random_baseline(encoded, labels, n_questions, prior_rows=prior)
    return replace(contents, baseline=found if len(found.expected) else None)
