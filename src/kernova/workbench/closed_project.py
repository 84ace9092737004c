"""A project file that is read but not opened: its labels, with or without the table they are of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernova.discover.project.content import ProjectContent, ProjectHead
from kernova.discover.project.recovery import Recovery
from kernova.discover.questions import OpenQuestions
from kernova.discover.results import SessionResults
from kernova.discover.rows import RowIds
from kernova.errors import InputError
from kernova.media.row_media import DiscoveryData
from kernova.tables.fill_values import far_cells, with_moved_cells
from kernova.tables.identity import describe_changes, table_digest, table_fingerprint
from kernova.typing import Matrix
from kernova.workbench.exports.snapshot import Snapshot, snapshot_of
from kernova.workbench.learning import labelling_groups
from kernova.workbench.recognizer import LearntModel, learn_from_answers
from kernova.workbench.session_report.contents import ReportContents, contents_of, with_baseline
from kernova.workflows.detectors import table_encoder


@dataclass(frozen=True, eq=False)
class ClosedProject:
    """A project that was read, also while it is open in another program.

    Attributes
    ----------
    results : SessionResults
        The labels and the log.
    head : ProjectHead
        Settings of the project.
    data : DiscoveryData or None
        The table and the media of its rows, if they are at hand.
    """

    results: SessionResults
    head: ProjectHead
    data: DiscoveryData | None = None

    def snapshot(self, learnt: LearntModel | None = None) -> Snapshot:
        """Return the labels for exports, with the suggestions of a model if one is given."""
        table, media = (None, None) if self.data is None else (self.data.table, self.data.media)
        return snapshot_of(self.results, self.head, table, media, learnt)

    def learnt(self) -> LearntModel | None:
        """Learn from the labels given by hand; None without the table, or with too few labels."""
        if self.data is None:
            return None
        labels = self.results.labels
        labels[self.results.is_accepted] = None
        groups = labelling_groups(self.results.entries, len(labels))
        try:
            return learn_from_answers(self.data.table, labels, groups=groups)
        except InputError:
            return None  # there is too little to learn from

    def report(self, project: str, missing: str = "fill", command: str = "") -> ReportContents:
        """Return the contents of a report; without the table, it has no random baseline.

        Parameters
        ----------
        project : str
            Name of the file.
        missing : {"refuse", "drop", "fill"}
            Treatment of missing values, as the project was started with.
        command : str
            The command that opens the project, for the reader.
        """
        notes = [] if self.data is None else self.data.notes
        snapshot = self.snapshot(self.learnt())
        contents = contents_of(self.results, snapshot, project, notes, command=command)
        if self.data is None:
            return contents
        return with_baseline(contents, _encoded(self.data, missing))


def closed_project(
    content: ProjectContent, recovery: Recovery, data: DiscoveryData | None = None
) -> ClosedProject:
    """Return a project that was read and recovered.

    Parameters
    ----------
    content : ProjectContent
        As from :func:`kernova.discover.project.reading.read_project`.
    recovery : Recovery
        As from :func:`kernova.discover.project.recovery.recover`.
    data : DiscoveryData, optional
        The table that the project was started with.

    Raises
    ------
    InputError
        If the settings are lost, or the table is another one.
    """
    head = content.head
    if head is None:
        raise InputError(
            "The settings of the project are not readable. Save its labels with "
            "`kernova project export`."
        )
    ids = _ids(content, head.n_rows)
    if data is not None:
        _check_table(content, head, data)
    results = SessionResults(RowIds(ids, head.n_rows), recovery.log, OpenQuestions())
    return ClosedProject(results, head, data)


def _ids(content: ProjectContent, n_rows: int) -> list[Any]:
    """Return the ids of the rows; where the project does not hold one, the row's index."""
    found = (content.id_of(row) for row in range(n_rows))
    return [f"row {row}" if one is None else one for row, one in enumerate(found)]


def _check_table(content: ProjectContent, head: ProjectHead, data: DiscoveryData) -> None:
    features, ids = data.table.features, data.table.ids.tolist()
    if table_fingerprint(features, ids) == head.fingerprint:
        return
    old = content.digest
    changed = "" if old is None else describe_changes(old, table_digest(features, ids))
    raise InputError(
        f"The project belongs to another table than {data.table.source}. "
        f"{changed or 'Its values, columns or ids differ.'} Give the table that the project was "
        "started with, with the same options."
    )


def _encoded(data: DiscoveryData, missing: str) -> Matrix:
    features = with_moved_cells(data.table.features, far_cells(data.table.features))
    return np.asarray(table_encoder("standard", missing).fit_transform(features))


def rows_by_id(ids: Sequence[Any]) -> dict[str, int]:
    """Return the row of each id as text.

    Examples
    --------
    >>> from kernova.workbench.closed_project import rows_by_id
    >>> rows_by_id(["a", 7])
    {'a': 0, '7': 1}
    """
    return {str(one): row for row, one in enumerate(ids)}
