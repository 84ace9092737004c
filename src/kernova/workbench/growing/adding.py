"""Adding a batch: read like the project's rows, compared, judged, and saved in one step."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

from kernova.discover.events import RowsAdded
from kernova.discover.growth.adding import stored_rows
from kernova.discover.growth.batches import bound_sentence
from kernova.discover.growth.sources import Source
from kernova.errors import InputError, quoted
from kernova.files import path_text
from kernova.tables.records import dropped_rows_notes, json_rows
from kernova.text import plural, quantity
from kernova.workbench.growing.judging import VERDICTS, JudgedBatch, judge_batch
from kernova.workbench.growing.project import GrowingProject, open_growing
from kernova.workbench.growing.reading import (
    PATH_OPTIONS,
    GrownRows,
    ReadRows,
    own_prefix,
    read_batch,
)
from kernova.workbench.growing.rows_before import Comparison, SameId, compared

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "same_id": ("error", "skip", "rename"),
    "missing_columns": ("error", "fill"),
}


@dataclass(frozen=True, eq=False)
class BatchResult:
    """What became of a file of new rows.

    Attributes
    ----------
    source : str
        The file.
    n_read : int
        Rows in it.
    n_before : int
        Rows of the project before.
    comparison : Comparison
        Rows that were in the project already, and copies.
    batch : RowsAdded or None
        What was stored; None if no row is new.
    number : int or None
        Number of the batch, counted from 1.
    judged : JudgedBatch or None
        Verdicts on the new rows.
    notes : list of str
        Remarks for the reader.
    """

    source: str
    n_read: int
    n_before: int
    comparison: Comparison
    batch: RowsAdded | None
    number: int | None
    judged: JudgedBatch | None
    notes: list[str]

    @property
    def n_added(self) -> int:
        """Number of rows that were added."""
        return 0 if self.batch is None else self.batch.n_rows

    @property
    def counts(self) -> dict[str, int]:
        """Number of added rows that look new, are known, and are neither."""
        if self.judged is None:
            return dict.fromkeys(VERDICTS, 0)
        found = self.judged.rows["verdict"].value_counts()
        return {name: int(found.get(name, 0)) for name in VERDICTS}

    @property
    def per_category(self) -> pd.DataFrame:
        """One line per category: known rows, and rows for which it is an uncertain suggestion."""
        rows = pd.DataFrame(columns=["category", "verdict"]) if self.judged is None else (
            self.judged.rows
        )  # fmt: skip
        rows = rows[(rows["verdict"] != "new") & rows["category"].notna()]
        counts = pd.crosstab(rows["category"], rows["verdict"])
        counts = counts.reindex(columns=["known", "uncertain"], fill_value=0)
        order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
        return counts.loc[order].rename_axis(index="category", columns=None).reset_index()

    @property
    def sentences(self) -> list[str]:
        """The result in sentences: what was added, and what was found out about it."""
        if self.batch is None:
            n_read = quantity(self.n_read, "row")
            return [f"Nothing was added: no row of {self.source} is new to the project ({n_read})."]
        counts = self.counts
        n_all = self.n_before + self.n_added
        sentences = [
            f"{quantity(self.n_added, 'row')} of {self.source} "
            f"{plural(self.n_added, 'was', 'were')} added; the project has {n_all:,} rows now.",
            bound_sentence(self.batch),
        ]
        rest = counts["known"] + counts["uncertain"]
        if self.judged is not None and self.judged.model is not None and rest:
            of_none = self.judged.rows
            n_none = int(((of_none["verdict"] == "uncertain") & of_none["of_no_category"]).sum())
            none = f", of which {n_none:,} {plural(n_none, 'is', 'are')} like no category named yet"
            sentences.append(
                f"Of the {'others' if counts['new'] else 'rows'}, {counts['known']:,} "
                f"{plural(counts['known'], 'is', 'are')} known and {counts['uncertain']:,} "
                f"uncertain{none if n_none else ''}."
            )
        return sentences

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        batch, judged = self.batch, self.judged
        chance = None if judged is None else judged.chance
        return {
            "source": self.source,
            "number": self.number,
            "read": self.n_read,
            "added": self.n_added,
            "in_project_already": self.comparison.n_present,
            "left_out": self.comparison.n_skipped,
            "renamed": self.comparison.renamed,
            "counts": self.counts,
            "by_chance": None if chance is None else chance.most,
            "expected_by_chance": None if chance is None else chance.expected,
            "confidence": None if chance is None else chance.confidence,
            "held_out_rows": 0 if batch is None else batch.n_held_out,
            "sentences": self.sentences,
            "categories": json_rows(self.per_category),
            "notes": self.notes,
            "rows": [] if judged is None else json_rows(judged.rows.astype(object)),
        }


def add_to(
    project: GrowingProject,
    new: str | os.PathLike[str],
    options: Mapping[str, Any] | None = None,
    *,
    same_id: SameId = "error",
    key: str | None = None,
) -> BatchResult:
    """Add the rows of a file to an open project, with what was found out about them.

    Parameters
    ----------
    project : GrowingProject
        The project; it has the new rows afterwards.
    new : str or path
        A file or folder like that the project was started with.
    options : mapping of str to object, optional
        How the file is read, where that differs from the project's own options;
        ``missing_columns="fill"`` counts columns that the file does not have as missing.
    same_id : {"error", "skip", "rename"}
        What is done with rows whose id is taken by a row with other values.
    key : str, optional
        Identifies the request: repeated with the same key, it adds nothing.

    Returns
    -------
    BatchResult
        What was added and found out. A row that is in the project already is not added again.

    Raises
    ------
    InputError
        If the file cannot be read like the project's rows; nothing is added then.
    """
    given = {**project.options, **(options or {}), "only": None}
    _check_choices({"same_id": same_id, **given})
    rows = read_batch(new, given, project.rows.first)
    try:
        prefix = own_prefix(rows.table, given)
        if prefix is not None:
            given["id_prefix"] = prefix
            ids = (prefix + rows.table.ids.astype(str)).rename(str(rows.table.ids.name))
            rows = rows._replace(table=replace(rows.table, ids=ids))
        return _added(project, new, rows, given, same_id, key)
    except BaseException:
        rows.media.media.close()
        raise


def _check_choices(given: Mapping[str, Any]) -> None:
    for name, allowed in _CHOICES.items():
        value = given.get(name, allowed[0])
        if value not in allowed:
            raise InputError(f"{name} is {quoted(value)}; choose one of {', '.join(allowed)}.")


def _added(
    project: GrowingProject,
    new: str | os.PathLike[str],
    rows: ReadRows,
    given: dict[str, Any],
    same_id: SameId,
    key: str | None,
) -> BatchResult:
    discovery = project.discovery
    before, n_read = discovery.table, len(rows.table.ids)
    comparison = compared(before, rows.table, same_id)
    source = path_text(rows.table.source)
    notes = [*rows.notes, *dropped_rows_notes(rows.table), *comparison.notes]
    if not len(comparison.kept):
        rows.media.media.close()
        return BatchResult(source, n_read, len(before.ids), comparison, None, None, None, notes)
    kept = _renamed(rows.at(comparison.kept), comparison.renamed)
    if comparison.renamed:
        given |= {
            "renamed_from": list(comparison.renamed), "renamed_to": [*comparison.renamed.values()],
        }  # fmt: skip
    encoded = discovery.encoding.encode(kept.table.features)
    judged = judge_batch(discovery.session, before, kept.table, encoded)
    stored = stored_rows(
        kept.table.features,
        kept.table.ids.tolist(),
        Source.of(new, given, discovery.project, PATH_OPTIONS),
    )
    discovery.session.add_rows(
        pd.DataFrame(encoded, columns=discovery.encoding.names, copy=False),
        kept.table.ids.tolist(),
        known=kept.table.labels,
        judgement=judged.for_log(),
        stored=stored,
        key=key,
    )
    project.rows = GrownRows([*project.rows.parts, kept])
    project.media = project.rows.media()
    project.discovery = discovery.grown(project.rows.table(), encoded, project.rows.context())
    batches = discovery.session.batches_
    return BatchResult(
        source, n_read, len(before.ids), comparison, batches[-1], len(batches), judged,
        [*notes, *judged.notes],
    )  # fmt: skip


def _renamed(rows: ReadRows, renamed: Mapping[str, str]) -> ReadRows:
    if not renamed:
        return rows
    ids = rows.table.ids.map(lambda one: renamed.get(one, one))
    return rows._replace(table=replace(rows.table, ids=ids))


def add_batch(
    project: str | os.PathLike[str],
    *new: str | os.PathLike[str],
    options: Mapping[str, Any] | None = None,
    same_id: SameId = "error",
    data: str | os.PathLike[str] | None = None,
    moved: Sequence[str | os.PathLike[str]] = (),
) -> list[BatchResult]:
    """Add files of new rows to a project file.

    Parameters
    ----------
    project : str or path
        The project.
    *new : str or path
        Files or folders with new rows, added one after the other.
    options : mapping of str to object, optional
        How these files are read, where that differs from the project's own options.
    same_id : {"error", "skip", "rename"}
        What is done with rows whose id is taken by a row with other values.
    data, moved : optional
        As for :func:`~kernova.workbench.growing.project.open_growing`.

    Returns
    -------
    list of BatchResult
        One for each file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, pandas as pd
    >>> from kernova.workbench.growing import add_batch, open_growing
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> lengths = np.random.default_rng(0).normal(10, 1, 100).round(3)
    >>> fish = pd.DataFrame({"fish": [f"carp {n}" for n in range(100)], "length": lengths})
    >>> fish.head(80).to_csv(folder / "fish.csv", index=False)
    >>> fish.assign(length=fish["length"].where(fish.index < 99, 40)).tail(25).to_csv(
    ...     folder / "more.csv", index=False)
    >>> options = {"id_column": "fish"}
    >>> path = folder / "fish.kernova-project"
    >>> open_growing(path, folder / "fish.csv", options=options).close()
    >>> (result,) = add_batch(path, folder / "more.csv")
    >>> result.n_added, result.comparison.n_present, result.counts["new"]
    (20, 5, 1)
    >>> add_batch(path, folder / "more.csv")[0].n_added
    0
    """
    with open_growing(project, data, moved=moved) as opened:
        return [add_to(opened, one, options, same_id=same_id) for one in new]
