"""``kernova discover``: every category of a table in few questions, on a page or at a prompt."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from kernova.cli.console import console, reporting_errors, table_target
from kernova.cli.discover import options
from kernova.cli.discover.asking import ask_at_terminal
from kernova.cli.discover.colleagues import invited_names, overlap_plan, plan_overlap
from kernova.cli.discover.ending import finish
from kernova.cli.discover.growing import (
    Named,
    add_file,
    check_growth,
    finish_growth,
    open_demo,
    open_named,
    print_growth,
)
from kernova.cli.discover.page import Place, bound_endpoint, serve_page
from kernova.cli.options import (
    MAX_SEED,
    TABLE_FORMATS,
    Drop,
    Embeddings,
    IdColumn,
    Keep,
    MemoryMb,
    Raw,
    RotationInvariant,
    check_targets,
    examples,
)
from kernova.workflows import settings
from kernova.workflows.settings import SimulationSettings

EXAMPLE = examples(
    "kernova discover --demo",
    "kernova discover galaxies.csv --id-column id --drop label --images thumbnails.zip",
    "kernova discover photos/ --rotation-invariant",
    "kernova discover stars.csv --id-column name --show ra --link https://example.org/{name}",
    "kernova discover wines.csv --id-column wine --drop cultivar --terminal -o categories.csv",
    "kernova discover galaxies.kernova-project",
    "kernova discover galaxies.kernova-project --add night.parquet --report night.html --json",
)


@reporting_errors
def discover(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            help=f"Table of rows ({TABLE_FORMATS}), landmarks (TPS), a Raven "
            "selection table, a folder of recordings, or a folder or ZIP archive of pictures; or a "
            "project, which remembers them.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Use built-in images of handwritten digits.")
    ] = False,
    terminal: Annotated[
        bool,
        typer.Option("--terminal", help="Ask at the terminal, or read answers from a pipe."),
    ] = False,
    project: Annotated[
        Path | None,
        typer.Option(
            help="File with the answers; an existing one is continued (by default DATA's name with "
            ".kernova-project, in this folder)."
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Strategy that chooses the questions: novelty-groups (default), novelty-density, "
            "hms-ci, hms-ci-had, hms-out, hms-out-had, nndm, interleave, ms-interleave or random; "
            "stored in the project."
        ),
    ] = None,
    images: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR|ZIP|COLUMN",
            help="Images of the rows: a folder, an archive, or a column of file names. May be "
            "repeated; several files whose names begin with an id are all shown.",
        ),
    ] = None,
    audio: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|COLUMN", help="Sounds of the rows: a folder, or a column of file names."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the page (8317, or the next free one)."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to serve the page at; a token is required if other machines can reach it."
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            help="Access token for the page (random by default). Other users of this machine can "
            "see it in the process list; prefer --token-file or the variable KERNOVA_TOKEN."
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File that contains the access token.")
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Serve HTTPS with this certificate (PEM)."),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Private key of the certificate (PEM, unencrypted); by default in the same file.",
        ),
    ] = None,
    invite: Annotated[
        list[str] | None,
        typer.Option(
            "--invite",
            metavar="NAME",
            help="Print a link that lets one expert in, once, under this name (may be repeated).",
        ),
    ] = None,
    overlap: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Fraction of the rows that several experts are asked about, each without the "
            "answers of the others, such as 0.1; 0 ends it. Stored in the project.",
        ),
    ] = None,
    overlap_experts: Annotated[
        int | None,
        typer.Option(min=2, max=20, help="With --overlap: experts for each of these rows (2)."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print a link to the page without opening it.")
    ] = False,
    questions: Annotated[
        int | None,
        typer.Option(min=1, help="With --terminal: stop after this number of questions."),
    ] = None,
    id_column: IdColumn = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of categories known in advance, empty where unknown; it is not a feature.",
        ),
    ] = None,
    drop: Drop = None,
    keep: Keep = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to show beside each row, as written in the file; it is not a feature. May "
            "be repeated. By default all columns that are no features are shown, except those "
            "dropped.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Link of each row, such as https://example.org/{id}; braces name the id or a "
            "column. Nothing is fetched.",
        ),
    ] = None,
    embeddings: Embeddings = None,
    rotation_invariant: RotationInvariant = False,
    noun: Annotated[
        str | None,
        typer.Option(
            metavar="NOUN[,PLURAL]",
            help="Name of a row in all sentences, such as galaxy or leaf,leaves; stored in the "
            "project.",
        ),
    ] = None,
    multiple_labels: Annotated[
        bool | None,
        typer.Option(
            "--multiple-labels/--single-label",
            help="Allow further labels of a row beside its category; stored in the project.",
        ),
    ] = None,
    missing: Annotated[
        settings.Missing | None,
        typer.Option(
            help="Missing values: fill them and add an indicator, report an error, drop such rows, "
            f"or fill them ({SimulationSettings.missing}; stored in the project)."
        ),
    ] = None,
    add: options.Add = None,
    same_id: options.SameId = None,
    missing_columns: options.MissingColumns = None,
    moved: options.Moved = None,
    report: options.BatchReport = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write a table with every row's category here."),
    ] = None,
    raw: Raw = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_SEED,
            help="Random seed of strategies that sample at random (0); stored in the project.",
        ),
    ] = None,
    memory_mb: MemoryMb = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print a summary as JSON at the end; questions go to stderr."),
    ] = False,
) -> None:
    """Ask about the rows of DATA, one at a time, to find every category in few questions.

    A page opens in the browser; --terminal asks at a prompt instead. Each question shows a row
    with its picture, sound or outline, its unusual values, the reason for the question, and the
    rows that it represents. Answer with a category, a known one or a new one. Each answer is saved
    before the next question; stop at any time, and run the same command to continue.

    The project remembers the table and how it is read, so that its file alone opens it again. With
    --add, new rows are read like the others, compared with them, and added; those that look new
    are asked about first. With --report or --json besides, nobody is asked: the command ends when
    the rows are added, with exit code 0 also if there were none to add. It is 2 if they could not
    be read or the project is in use, and nothing was added.
    """
    _check_pillow()
    _check_combination(data, project, demo, terminal, questions)
    check_growth(add, report, same_id, missing_columns, demo)
    plan = overlap_plan(overlap, overlap_experts)
    invited = invited_names(invite or (), terminal=terminal)
    place = Place(host, port, token, token_file, tls_cert, tls_key)
    if demo:
        _check_demo(
            {
                "--images": images, "--audio": audio, "--id-column": id_column,
                "--label-column": label_column, "--drop": drop, "--keep": keep, "--show": show,
                "--link": link, "--embeddings": embeddings,
                "--rotation-invariant": rotation_invariant,
            }
        )  # fmt: skip
    named = Named.of(data, project)
    check_targets(output, report, kept=named.files(add))
    given = {
        "id_column": id_column, "label_column": label_column, "drop": drop, "missing": missing,
        "images": _one_or_all(images), "audio": audio, "keep": keep, "show": show, "link": link,
        "embeddings": embeddings, "rotation_invariant": rotation_invariant,
    }  # fmt: skip
    stored = {
        "strategy": strategy, "seed": seed, "noun": noun, "multiple_labels": multiple_labels
    }  # fmt: skip
    is_unattended = bool(add) and (report is not None or (as_json and not terminal))
    with ExitStack() as stack:
        needs_page = not terminal and not is_unattended
        endpoint = stack.enter_context(bound_endpoint(place)) if needs_page else None
        opened = (
            open_demo(named.project, stored)
            if demo
            else open_named(named, given, moved, stored, is_adding=bool(add))
        )
        stack.callback(opened.close)
        how = {"missing_columns": missing_columns, **given}
        results = [add_file(opened, one, how, same_id) for one in add or ()]
        discovery = opened.discovery
        plan_overlap(discovery, plan)
        if is_unattended:
            finish_growth(opened, results, report, output, raw=raw, as_json=as_json)
            return
        print_growth(results, console(stderr=as_json))
        if endpoint is None:
            # JSON has standard output to itself.
            ask_at_terminal(discovery, console(stderr=as_json), questions)
        else:
            opens = not no_browser
            serve_page(
                discovery, opened.media, endpoint, as_json=as_json, opens=opens, invited=invited
            )
        discovery.session.close()  # notices a project that is no longer in its place
        finish(discovery, table_target(output, discovery.rows, raw=raw), as_json, terminal=terminal)


def _check_pillow() -> None:
    from kernova.errors import InputError

    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise InputError(
            "kernova discover needs Pillow, which is not installed: pip install 'kernova[web]'."
        ) from error


def _check_combination(
    data: Path | None, project: Path | None, demo: bool, terminal: bool, questions: int | None
) -> None:
    from kernova.errors import InputError

    if data is None and project is None and not demo:
        raise InputError("There is no table to ask about. Name one, or pass --demo.")
    if data is not None and demo:
        raise InputError(f"--demo has its own table; leave out {data}, or leave out --demo.")
    if questions is not None and not terminal:
        raise InputError(
            "--questions limits the questions at the terminal: pass --terminal with it, or leave "
            "it out."
        )


def _one_or_all(images: "list[str] | None") -> "str | list[str] | None":
    """Return the only source of images by itself, for messages that name it."""
    return images[0] if images is not None and len(images) == 1 else images or None


def _check_demo(table_options: "dict[str, object]") -> None:
    from kernova.errors import InputError

    given = [name for name, value in table_options.items() if value]
    if given:
        raise InputError(
            f"--demo has its own table and images; leave out {' and '.join(given)}, or leave out "
            "--demo."
        )
