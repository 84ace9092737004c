"""``kernova project``: check, show, export, back up and repair project files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kernova.cli.console import (
    console,
    print_error,
    print_json,
    reporting_errors,
    table_target,
    write_targets,
)
from kernova.cli.exchange import (
    Audio,
    DataArgument,
    Images,
    LabelColumn,
    MissingValues,
    data_of_project,
    export_in_format,
)
from kernova.cli.options import AsJson, Drop, IdColumn, Raw, check_targets, examples
from kernova.workflows.settings import SimulationSettings

if TYPE_CHECKING:
    from kernova.discover.project.content import ProjectContent
    from kernova.discover.project.recovery import Recovery

# As in kernova.workbench.exports.formats, which is not imported for --help.
ExportFormats = Literal[
    "table", "csv", "parquet", "coco", "raven", "tps", "label-studio", "label-studio-interface"
]
_DAMAGED = 1
_ENTRIES_SHOWN = 10
_CATEGORIES_SHOWN = 20

VERIFY_EXAMPLE = examples("kernova project verify galaxies.kernova-project")
SHOW_EXAMPLE = examples("kernova project show galaxies.kernova-project --entries 50")
EXPORT_EXAMPLE = examples(
    "kernova project export galaxies.kernova-project -o labels.csv",
    "kernova project export galaxies.kernova-project galaxies.csv --id-column id "
    "--images thumbnails.zip --format coco -o galaxies.json",
)
BACKUP_EXAMPLE = examples(
    "kernova project backup galaxies.kernova-project",
    "kernova project backup galaxies.kernova-project -o /backups/galaxies-may.kernova-project",
)
REPAIR_EXAMPLE = examples(
    "kernova project repair galaxies.kernova-project -o repaired.kernova-project"
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=(
        "Check, show, export, back up and repair the project files of kernova discover.\n\n"
        "Every entry of a project has a checksum, so damage is detected and limited to the "
        "entries that it hits. These commands do not change the project, which may be open in "
        "another program."
    ),
    epilog=examples(
        "kernova project verify galaxies.kernova-project",
        "kernova project export galaxies.kernova-project -o labels.csv",
    ),
)

ProjectArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A project of kernova discover.")
]


@app.callback()
def _project() -> None:
    pass


@app.command("verify", short_help="Check every entry of a project.", epilog=VERIFY_EXAMPLE)
@reporting_errors
def verify(file: ProjectArgument, as_json: AsJson = False) -> None:
    """Check every entry, the settings and the row table of FILE against their checksums.

    If something is damaged, what is affected is listed, and the exit code is 1.
    """
    reading = _Reading(file)
    if as_json:
        print_json({"command": "project verify", **reading.summary(), **reading.damage()})
    else:
        reading.print_state()
    _exit_if_damaged(reading)


@app.command("show", short_help="Show what a project contains.", epilog=SHOW_EXAMPLE)
@reporting_errors
def show(
    file: ProjectArgument,
    entries: Annotated[
        int, typer.Option(min=0, help="Number of latest entries to show.")
    ] = _ENTRIES_SHOWN,
    as_json: AsJson = False,
) -> None:
    """Show settings, experts, categories and the latest entries of FILE."""
    reading = _Reading(file)
    if as_json:
        latest = {"latest": reading.latest(entries).to_dict("records")}
        print_json({"command": "project show", **reading.summary(), **latest, **reading.damage()})
    else:
        reading.print_state()
        out = console()
        out.print_table(reading.categories().head(_CATEGORIES_SHOWN), "Categories")
        out.print_table(reading.latest(entries), "Latest entries")
    _exit_if_damaged(reading)


@app.command("export", short_help="Write a project's labels to a table.", epilog=EXPORT_EXAMPLE)
@reporting_errors
def export(
    file: ProjectArgument,
    data: DataArgument = None,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="Write the labels here.")],
    format: Annotated[
        ExportFormats,
        typer.Option(
            help="Table: CSV, TSV, Parquet or Arrow by the ending of the file. COCO for pictures, "
            "Raven selection tables for sounds, TPS for specimens and Label Studio are for other "
            "programs, and need DATA; csv and parquet are the files of the page."
        ),
    ] = "table",
    images: Images = None,
    audio: Audio = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    missing: MissingValues = SimulationSettings.missing,
    raw: Raw = False,
    as_json: AsJson = False,
) -> None:
    """Write the labels of FILE, with ids, categories, questions, experts and remarks.

    A table has the rows with a label or a remark; the table that the project was started with is
    not needed for it. If the project is damaged, everything intact is written, and the exit code
    is 1.
    """
    kept = [file] if data is None else [file, data]
    if format == "table":
        check_targets(output, None, kept=kept)
    else:
        check_targets(None, None, output, kept=kept)
    opened = data_of_project(data, images, audio, id_column, label_column, drop, missing)
    if format != "table":
        export_in_format(file, opened, format, output, as_json=as_json)
        return
    reading = _Reading(file)
    labels = _labels_of(reading)
    written = write_targets({"output": table_target(output, labels, raw=raw)})
    if as_json:
        print_json({"command": "project export", "files": written, **reading.damage()})
    else:
        reading.print_state()
        n_labelled = int(labels["category"].notna().sum())
        console().print_lines(f"{n_labelled:,} labelled rows: {written['output']}")
    _exit_if_damaged(reading)


@app.command("backup", short_help="Copy a project and check the copy.", epilog=BACKUP_EXAMPLE)
@reporting_errors
def backup(
    file: ProjectArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Path of the copy (by default beside FILE, named by the time)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Copy FILE, even while it is open, and check every entry of the copy.

    An existing file is never overwritten. A damaged project is copied as it is, and the exit code
    is 1.
    """
    from kernova.discover.project.recovery import back_up

    copy = back_up(file, output)
    reading = _Reading(copy)
    if as_json:
        print_json(
            {"command": "project backup", "files": {"output": str(copy)}, **reading.damage()}
        )
    else:
        reading.print_state()
        console().print_lines(f"Copy: {copy}")
    _exit_if_damaged(reading)


@app.command("repair", short_help="Write what is intact to a new project.", epilog=REPAIR_EXAMPLE)
@reporting_errors
def repair(
    file: ProjectArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Path of the new project; it must not exist yet.")
    ],
    journal: Annotated[
        bool,
        typer.Option(
            "--journal", help="Read the journal (-wal) of a project of an older format, too."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write everything that is intact in FILE to a new project, which can be continued.

    Entries that are lost, or that depend on a lost one, are left out and listed; all others keep
    their numbers and their meaning.
    """
    from kernova.discover.project.recovery import write_repaired

    reading = _Reading(file, trusts_journal=journal)
    write_repaired(output, reading.content, reading.recovery)
    if as_json:
        files = {"output": str(output)}
        print_json({"command": "project repair", "files": files, **reading.damage()})
    else:
        reading.print_state()
        console().print_lines(f"Repaired project: {output}")


def _labels_of(reading: "_Reading") -> Any:
    """Return the rows with a label or a remark; where the settings are lost, the labels alone."""
    from kernova.discover.project.recovery import labels_table as recovered_labels
    from kernova.workbench.closed_project import closed_project
    from kernova.workbench.exports.labels import labels_table

    if reading.content.head is None:
        return recovered_labels(reading.content, reading.recovery)
    snapshot = closed_project(reading.content, reading.recovery).snapshot()
    rows = snapshot.rows_with_content
    labels = labels_table(snapshot).iloc[rows].reset_index(drop=True)
    labels.insert(0, "row", rows)
    return labels


def _exit_if_damaged(reading: "_Reading") -> None:
    if reading.sentences:
        raise typer.Exit(_DAMAGED)


class _Reading:
    """A project that was read for one of the commands, and sentences on its damage."""

    def __init__(self, path: Path, *, trusts_journal: bool = False) -> None:
        from kernova.discover.project.reading import read_project
        from kernova.discover.project.recovery import damage_report, recover

        self.path = path
        reading = read_project(path, trusts_journal=trusts_journal)
        self.content: ProjectContent = reading.content
        self.recovery: Recovery = recover(self.content)
        self.sentences = damage_report(path, self.content, self.recovery)
        self.notes = [
            f"{journal} is not part of the project; nothing of it was read."
            for journal in reading.foreign
        ]

    def print_state(self) -> None:
        from kernova.text import quantity

        summary = self.summary()
        n_entries = quantity(summary["entries"], "entry", "entries")
        experts = ", ".join(f"{name} {n}" for name, n in summary["experts"].items())
        out = console()
        out.print_lines(
            f"{self.path}: {'intact' if not self.sentences else 'damaged'}, {n_entries}"
            + (f" ({experts})" if experts else "")
            + f", {quantity(summary['labelled'], 'labelled row')} in "
            + f"{quantity(summary['categories'], 'category', 'categories')}.",
        )
        n_added, n_batches = sum(summary["batches"]), len(summary["batches"])
        batches = quantity(n_batches, "batch", "batches")
        added = f" ({n_added:,} of them added in {batches})" if n_batches else ""
        if summary["strategy"] is not None:
            out.print_lines(
                f"Table: {summary['rows']:,} rows{added}, {summary['columns']:,} columns. "
                f"Strategy: {summary['strategy']}, seed {summary['seed']}. "
                f"Format: {summary['format']}."
            )
        if summary["last"]:
            out.print_lines(f"First entry: {summary['first']}. Last entry: {summary['last']}.")
        for sentence in [*self.sentences, *self.notes]:
            print_error(sentence)

    def summary(self) -> dict[str, Any]:
        content, state, head = self.content, self.recovery.log.state, self.content.head
        times = [record.at for record in content.records.values()]
        experts: dict[str, int] = {}
        for record in content.records.values():
            if record.by is not None:
                experts[record.by] = experts.get(record.by, 0) + 1
        return {
            "project": str(self.path),
            "format": content.version,
            "id": content.project,
            "strategy": None if head is None else head.strategy,
            "seed": None if head is None else head.seed,
            "rows": None if head is None else content.n_rows,
            "batches": [part.n_rows for part in content.parts[1:]],
            "sources": [
                None if part.source is None else part.source.data.absolute for part in content.parts
            ],
            "columns": None if head is None else head.n_columns,
            "entries": len(content.records),
            "experts": experts,
            "labelled": sum(entry.label is not None for entry in state.entries.values()),
            "questions": len(state.questions),
            "categories": len(state.categories),
            "first": times[0] if times else None,
            "last": times[-1] if times else None,
        }

    def damage(self) -> dict[str, Any]:
        return {
            "intact": not self.sentences,
            "damage": self.sentences,
            "notes": self.notes,
            "unreadable_entries": self.recovery.unreadable,
            "dependent_entries": self.recovery.dependent,
        }

    def categories(self) -> Any:
        import pandas as pd

        categories = self.recovery.log.state.categories
        sizes = sorted(((len(rows), name) for name, rows in categories.items()), reverse=True)
        return pd.DataFrame(
            {"category": [name for _, name in sizes], "rows": [n for n, _ in sizes]}
        )

    def latest(self, n_entries: int) -> Any:
        import pandas as pd

        from kernova.workbench.messages import entry_message

        records, ids = self.recovery.log.records, _Ids(self.content)
        numbers = range(max(1, len(records) - n_entries + 1), len(records) + 1)
        return pd.DataFrame(
            {
                "entry": list(numbers),
                "time": [records[number - 1].at for number in numbers],
                "expert": [records[number - 1].by or "" for number in numbers],
                "what": [
                    entry_message(records[number - 1].event, ids, lambda one: records[one - 1])
                    for number in numbers
                ],
            }
        )


class _Ids(Sequence[object]):
    """Ids of rows by index; the index itself where the project does not hold the id."""

    def __init__(self, content: "ProjectContent") -> None:
        self._content = content

    def __getitem__(self, row: Any) -> Any:
        found = self._content.id_of(row)
        return f"row {row}" if found is None else found

    def __len__(self) -> int:
        return self._content.n_rows
