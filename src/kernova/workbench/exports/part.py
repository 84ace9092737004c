"""Exports of a workbench: a snapshot under the session's lock, written outside of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from kernova.media.row_media import RowMedia
from kernova.workbench.exports.formats import FORMATS, exported, format_named
from kernova.workbench.exports.labels import labels_csv, labels_parquet, labels_table
from kernova.workbench.exports.snapshot import Snapshot, snapshot_of
from kernova.workbench.recognizer import LearntModel
from kernova.workbench.shared import Part, SharedState


@dataclass(frozen=True)
class FormatOffered:
    """A format that the labels can be downloaded in."""

    name: str
    title: str
    file: str
    reason_against: Annotated[str | None, "Why there is no such file; null if there is one."]


@dataclass(frozen=True)
class FormatsReply:
    """All formats of the labels."""

    formats: list[FormatOffered]


class Exports(Part):
    """Files of the labels, for download.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    media : RowMedia
        Pictures, sounds or outlines of the rows.
    learnt : callable
        Returns the model that was learnt last, or None.
    """

    def __init__(
        self,
        shared: SharedState,
        media: RowMedia | None = None,
        learnt: Callable[[], LearntModel | None] = lambda: None,
    ) -> None:
        super().__init__(shared)
        self._media = media
        self._learnt = learnt

    def snapshot(self) -> Snapshot:
        """Return the project as it is now."""
        discovery, learnt = self._shared.discovery, self._learnt()
        with self._shared.lock:
            return snapshot_of(
                discovery.session.results_, discovery.head, discovery.table, self._media, learnt
            )

    def formats(self) -> FormatsReply:
        """Return all formats, with the reason where one does not apply."""
        snapshot = self.snapshot()
        return FormatsReply(
            [
                FormatOffered(one.name, one.title, one.file, one.reason_against(snapshot))
                for one in FORMATS
            ]
        )

    def file(self, name: str) -> bytes:
        """Return the labels in a format, by its name."""
        return exported(self.snapshot(), format_named(name))

    def labels(self) -> pd.DataFrame:
        """Return one line per row: id, category, question, expert, time, remarks, prior label."""
        return labels_table(self.snapshot())

    def labels_csv(self, *, raw: bool = False) -> bytes:
        """Return the labels as CSV; ids are written as they were read."""
        return labels_csv(self.snapshot(), raw=raw)

    def labels_parquet(self) -> bytes:
        """Return the labels as Parquet."""
        return labels_parquet(self.snapshot())
