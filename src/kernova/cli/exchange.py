"""``kernova project report``, ``import`` and the formats of ``export``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from kernova.cli.console import (
    Target,
    console,
    page_target,
    print_error,
    print_json,
    progress_bars,
    reporting_errors,
    write_targets,
)
from kernova.cli.options import TABLE_FORMATS, AsJson, Drop, IdColumn, check_targets, examples
from kernova.workflows.settings import Missing, SimulationSettings

if TYPE_CHECKING:
    from kernova.media.row_media import DiscoveryData
    from kernova.workbench.closed_project import ClosedProject

_DAMAGED: Final = 1

REPORT_EXAMPLE = examples(
    "kernova project report galaxies.kernova-project galaxies.csv --id-column id "
    "--images thumbnails.zip -o report.html"
)
IMPORT_EXAMPLE = examples(
    "kernova project import galaxies.kernova-project labels.csv --dry-run",
    "kernova project import galaxies.kernova-project labels.csv --expert Anna "
    "--on-conflict opinion --as-expert Bob",
)

ProjectArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A project of kernova discover.")
]
DataArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]",
        help=f"The table of the project ({TABLE_FORMATS}), landmarks (TPS), a Raven selection "
        "table, or a folder of recordings, with the options that it was started with.",
    ),
]
Images = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|ZIP|COLUMN",
        help="Images of the rows: a folder, an archive, or a column of file names.",
    ),
]
Audio = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|COLUMN", help="Sounds of the rows: a folder, or a column of file names."
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of categories that were known in advance."),
]
MissingValues = Annotated[
    Missing,
    typer.Option(help="Treatment of missing values that the project was started with."),
]


def data_of_project(
    data: Path | None,
    images: str | None,
    audio: str | None,
    id_column: str | None,
    label_column: str | None,
    drop: list[str] | None,
    missing: str,
) -> "DiscoveryData | None":
    """Read the table of a project, if it is given."""
    from kernova.errors import InputError
    from kernova.media.opening import open_discovery_data

    if data is not None:
        return open_discovery_data(
            data,
            id_column=id_column,
            label_column=label_column,
            drop=drop or (),
            missing=missing,  # type: ignore[arg-type]
            images=images,
            audio=audio,
        )
    given = {
        "--images": images, "--audio": audio, "--id-column": id_column,
        "--label-column": label_column, "--drop": drop,
    }  # fmt: skip
    useless = [name for name, value in given.items() if value]
    if useless:
        raise InputError(
            f"{' and '.join(useless)} belong to a table: name it after the project, or leave them "
            "out."
        )
    return None


@reporting_errors
def report(
    file: ProjectArgument,
    data: DataArgument = None,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Write the report here (one HTML file).")
    ],
    images: Images = None,
    audio: Audio = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    missing: MissingValues = SimulationSettings.missing,
    as_json: AsJson = False,
) -> None:
    """Write a report of FILE: one page to print, which needs no other file.

    It shows what was asked, found, labelled and accepted, by whom and when; the discovery curve;
    examples of each category; agreement between experts; and how to cite it. Pictures, the random
    baseline and the quality of a model need DATA. If the project is damaged, everything intact is
    shown, and the exit code is 1.
    """
    from kernova.text import quantity
    from kernova.workbench.session_report.page import session_page

    check_targets(None, output, kept=[file] if data is None else [file, data])
    opened = data_of_project(data, images, audio, id_column, label_column, drop, missing)
    project, damage = read_closed(file, opened)
    with progress_bars():
        contents = project.report(file.name, missing, _command(file, data))
    written = write_targets({"report": page_target(output, lambda: session_page(contents))})
    if as_json:
        answer = {"command": "project report", "files": written, "damage": damage}
        print_json({**answer, "questions": contents.n_questions, "labelled": _n_labelled(contents)})
    else:
        console().print_lines(
            f"{quantity(contents.n_questions, 'question')}, "
            f"{quantity(_n_labelled(contents), 'labelled row')}: {written['report']}"
        )
    _end(damage)


@reporting_errors
def import_labels(
    file: ProjectArgument,
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            help="Labels by id: a table (CSV, TSV, Parquet, Arrow), Label Studio or COCO (JSON), a "
            "Raven selection table or specimens (TPS) that kernova exported.",
        ),
    ],
    on_conflict: Annotated[
        Literal["keep", "take", "opinion"],
        typer.Option(
            help="Rows that have another label: keep that label, take the one of LABELS, or record "
            "it as the opinion of another expert."
        ),
    ] = "keep",
    expert: Annotated[
        str | None, typer.Option(metavar="NAME", help="Your name, stored with the import.")
    ] = None,
    as_expert: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Whose the labels are where LABELS does not say it (you)."
        ),
    ] = None,
    id_column: IdColumn = None,
    category_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the categories.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported, and change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add the labels of LABELS to FILE, in one step that can be undone in the page.

    The table of the project is not needed. Notes, flags, further labels and headings come with
    the labels; labels accepted from a model stay apart from those given by hand.
    """
    from kernova.workbench.importing.into_file import import_into

    done = import_into(
        file,
        labels,
        on_conflict=on_conflict,
        expert=expert,
        as_expert=as_expert,
        id_column=id_column,
        category_column=category_column,
        only_preview=dry_run,
    )
    found = asdict(done.preview)
    del found["upload"]
    if as_json:
        print_json({"command": "project import", **found, "imported": done.message})
        return
    console().print_lines(*_preview_lines(found), done.message or "Nothing was changed.")


def _preview_lines(found: dict[str, Any]) -> list[str]:
    from kernova.text import first_few, quantity

    lines = [
        f"{quantity(found['labelled'], 'row')} with a label: {found['new_labels']:,} without one "
        f"in the project, {found['same']:,} with the same, {found['n_conflicts']:,} with another."
    ]
    if found["n_unknown"]:
        lines.append(
            f"{quantity(found['n_unknown'], 'id')} not in the project: "
            f"{first_few(found['unknown'], 5)}."
        )
    new = [one["name"] for one in found["categories"] if one["is_new"]]
    if new:
        lines.append(f"New categories: {first_few(new, 8)}.")
    return [*lines, *found["notes"]]


def _n_labelled(contents: Any) -> int:
    return sum(label is not None for label in contents.snapshot.labels)


def _command(file: Path, data: Path | None) -> str:
    from shlex import join

    return "" if data is None else join(["kernova", "discover", str(data), "--project", str(file)])


def read_closed(file: Path, data: "DiscoveryData | None") -> "tuple[ClosedProject, list[str]]":
    """Read a project without opening it; return it, and sentences on its damage."""
    from kernova.discover.project.reading import read_project
    from kernova.discover.project.recovery import damage_report, recover
    from kernova.workbench.closed_project import closed_project

    content = read_project(file).content
    recovery = recover(content)
    damage = damage_report(file, content, recovery)
    return closed_project(content, recovery, data), damage


def _end(damage: list[str]) -> None:
    for sentence in damage:
        print_error(sentence)
    if damage:
        raise typer.Exit(_DAMAGED)


def export_in_format(
    file: Path, data: "DiscoveryData | None", format: str, output: Path, *, as_json: bool
) -> None:
    """Write the labels of a project in the format of another program."""
    from kernova.errors import InputError
    from kernova.workbench.exports import exported, format_named

    chosen = format_named(format)
    project, damage = read_closed(file, data)
    reason = chosen.reason_against(project.snapshot())
    if reason is not None and data is None:
        raise InputError(
            f"{reason} Name the table of the project after {file}, with --images or --audio as it "
            "was started."
        )
    with progress_bars():
        learnt = project.learnt() if format == "label-studio" else None
        content = exported(project.snapshot(learnt), chosen)
    written = write_targets({"output": Target(output, lambda path: _write(path, content))})
    if as_json:
        print_json(
            {"command": "project export", "format": format, "files": written, "damage": damage}
        )
    else:
        console().print_lines(f"{chosen.title}: {written['output']}")
    _end(damage)


def _write(path: Path, content: bytes) -> None:
    from kernova.files import replacing

    with replacing(path) as scratch:
        scratch.write_bytes(content)
