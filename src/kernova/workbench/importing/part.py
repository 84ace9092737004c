"""Import of labels into a workbench: a file is previewed first, then added in one step."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final

from kernova.discover.names import expert_name
from kernova.discover.results import SessionResults
from kernova.text import quantity
from kernova.workbench.asking import Request
from kernova.workbench.importing.lines import LARGEST_FILE, LabelFile
from kernova.workbench.importing.matching import (
    Matches,
    OnConflict,
    categories_of,
    conflicts,
    import_parts,
    matched,
)
from kernova.workbench.importing.reading import read_label_file
from kernova.workbench.messages import Subject
from kernova.workbench.shared import Part, SharedState, WorkbenchError

_SHOWN: Final = 20
_CATEGORIES_SHOWN: Final = 200
# Uploads that wait for a decision; the oldest are forgotten.
_MOST_UPLOADS: Final = 8


@dataclass(frozen=True)
class ImportedCategory:
    """A category of a file."""

    name: str
    rows: Annotated[int, "Number of rows with it in the file."]
    is_new: Annotated[bool, "Whether the project does not have it."]


@dataclass(frozen=True)
class ImportConflict:
    """A row whose label in the file is another one than in the project."""

    row: int
    id: str
    mine: str
    theirs: str


@dataclass(frozen=True)
class ImportPreview:
    """What a file of labels holds, before anything is changed."""

    upload: Annotated[str, "Identifies the file in the request that imports it."]
    name: str
    columns: Annotated[list[str], "Columns of a table; empty for other formats."]
    id_column: str | None
    category_column: Annotated[str | None, "Null where it has to be chosen."]
    lines: Annotated[int, "Lines of rows that the project has."]
    labelled: Annotated[int, "Rows that the file labels."]
    new_labels: Annotated[int, "Rows of these without a label in the project."]
    same: Annotated[int, "Rows of these with the same label."]
    n_conflicts: Annotated[int, "Rows of these with another label."]
    conflicts: Annotated[list[ImportConflict], "The first of them."]
    n_unknown: Annotated[int, "Ids that the project does not have."]
    unknown: Annotated[list[str], "The first of them."]
    categories: Annotated[list[ImportedCategory], "The most frequent first."]
    n_new_categories: int
    experts: Annotated[list[str], "Experts whom the file names."]
    notes: Annotated[list[str], "What else the file brings, and what was assumed."]


class Imports(Part):
    """Files of labels that were uploaded, and their import."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._uploads: OrderedDict[str, LabelFile] = OrderedDict()
        self._rows: tuple[int, dict[str, int]] = (0, {})

    def preview(
        self,
        name: str,
        content: bytes,
        id_column: str | None = None,
        category_column: str | None = None,
    ) -> ImportPreview:
        """Read a file, and return what it would change.

        Parameters
        ----------
        name : str
            Name of the file; its ending determines the format.
        content : bytes
            The file.
        id_column, category_column : str, optional
            Columns of a table; by default they are found.
        """
        rows = self._row_of_ids()
        file = read_label_file(name, content, rows, id_column, category_column)
        words = [name, id_column or "", category_column or ""]
        upload = hashlib.sha256("\0".join(words).encode() + content).hexdigest()[:32]
        with self._shared.lock:
            self._uploads[upload] = file
            self._uploads.move_to_end(upload)
            while len(self._uploads) > _MOST_UPLOADS:
                self._uploads.popitem(last=False)
            return preview_of(file, upload, matched(file, rows), self._shared.session.results_)

    def request(
        self,
        expert: str | None,
        upload: str,
        on_conflict: OnConflict,
        as_expert: str | None,
        key: str | None,
    ) -> Request:
        """Request that a previewed file is imported, in one step that can be undone.

        Parameters
        ----------
        expert : str or None
            Who imports it.
        upload : str
            As in the preview.
        on_conflict : {"keep", "take", "opinion"}
            Treatment of rows that have another label.
        as_expert : str or None
            Whose the labels are of which the file does not say it; None for who imports it.
        key : str or None
            Idempotency key.
        """
        by, holder = expert_name(expert), expert_name(as_expert)

        def write() -> int:
            session = self._shared.session
            file = self._uploads.get(upload)
            if file is None:
                raise WorkbenchError(
                    "This file is not here any more: the server was started again, or others were "
                    "chosen since. Choose the file again.",
                    "not found",
                )
            matches = matched(file, self._row_of_ids())
            return session.review.import_labels(
                file.name,
                lambda: import_parts(matches, session.results_, on_conflict, holder, by),
                expert=by,
                key=key,
            )

        return Request(by, key, Subject(), write)

    def _row_of_ids(self) -> dict[str, int]:
        """Return the row of each id; projects may grow."""
        ids = self._shared.session.ids_
        if self._rows[0] != len(ids):
            self._rows = len(ids), {str(one): row for row, one in enumerate(ids)}
        return self._rows[1]


def preview_of(
    file: LabelFile, upload: str, matches: Matches, results: SessionResults
) -> ImportPreview:
    """Return what an import would change, for people to decide."""
    differing = list(conflicts(matches, results))
    labelled = matches.rows
    n_new = sum(results.label_of(row) is None for row in labelled)
    counts = categories_of(matches).most_common()
    new = {name for name, _ in counts if not results.has_category(name)}
    return ImportPreview(
        upload=upload,
        name=file.name,
        columns=file.columns,
        id_column=file.id_column,
        category_column=file.category_column,
        lines=len(matches.lines),
        labelled=len(labelled),
        new_labels=n_new,
        same=len(labelled) - n_new - len(differing),
        n_conflicts=len(differing),
        conflicts=[
            ImportConflict(one.row, str(results.ids[one.row]), one.mine, one.theirs)
            for one in differing[:_SHOWN]
        ],
        n_unknown=len(matches.unknown),
        unknown=matches.unknown[:_SHOWN],
        categories=[
            ImportedCategory(name, n_rows, name in new)
            for name, n_rows in islice(counts, _CATEGORIES_SHOWN)
        ],
        n_new_categories=len(new),
        experts=_distinct(line.expert for _, line in matches.lines),
        notes=[*file.notes, *_notes(matches, new, results)],
    )


def _distinct(names: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name is not None))


def _notes(matches: Matches, new: set[str], results: SessionResults) -> list[str]:
    """Return sentences on what else a file brings, and on what looks like a mistake."""
    lines = [line for _, line in matches.lines]
    brought = {
        "note": sum(line.note is not None for line in lines),
        "flag": sum(line.is_flagged for line in lines),
        "further label": sum(len(line.tags) for line in lines),
        "undecided row": sum(line.status == "unsure" for line in lines),
        "label accepted from a model": sum(line.status == "accepted" for line in lines),
    }
    counted = [
        quantity(n, name, name.replace("label accepted", "labels accepted"))
        if "accepted" in name
        else quantity(n, name)
        for name, n in brought.items()
        if n
    ]
    known = {name.casefold(): name for name in results.category_sizes}
    alike = [(name, known[name.casefold()]) for name in new if name.casefold() in known]
    return [
        *([f"It also holds {', '.join(counted)}."] if counted else []),
        *(
            [f"{quantity(matches.n_empty, 'line')} without a label or a remark."]
            if matches.n_empty
            else []
        ),
        *(
            [f"{quantity(matches.n_repeated, 'line')} repeated; the last one of a row counts."]
            if matches.n_repeated
            else []
        ),
        *(
            f"The category {name!r} would be new, and differs from {other!r} in case only."
            for name, other in sorted(alike)[:_SHOWN]
        ),
    ]


__all__ = ["LARGEST_FILE", "ImportPreview", "Imports", "preview_of"]
