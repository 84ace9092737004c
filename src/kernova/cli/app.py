"""The ``kernova`` command, its subcommands (one file each), and ``kernova demo``."""

from pathlib import Path
from typing import Annotated

import typer

from kernova._version import __version__
from kernova.cli import (
    discover,
    exchange,
    find_like,
    notes,
    novelty,
    outliers,
    project,
    recognize,
    reproduce,
    simulate,
    species,
)
from kernova.cli.console import (
    console,
    prepare_streams,
    progress_bars,
    reporting_errors,
    treat_termination_as_interrupt,
)

app = typer.Typer(
    name="kernova",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help: drawing boxes would import half of rich and double the time to the first line.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Find what is new in data, with a proven bound on false alarms.\n\n"
        "Compare new rows with known ones: kernova reports which are unlike all known rows "
        "and how certain that is, and shows why in a report with figures. Other commands find "
        "outliers, recognise classes, discover categories, compare species and detect notes in "
        "recordings."
    ),
    epilog=(
        "\b\nFirst steps:\n"
        "  kernova demo\n"
        "  kernova novelty demo/known.csv demo/new.csv --id-column id --label-column digit "
        "--scaling none --report page.html"
    ),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kernova {__version__}")
        raise typer.Exit


@app.callback()
def _kernova(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


app.command("novelty", short_help="Find new rows unlike all known ones.", epilog=novelty.EXAMPLE)(
    novelty.novelty
)
app.command(
    "outliers", short_help="Rank the rows of one table as outliers.", epilog=outliers.EXAMPLE
)(outliers.outliers)
app.command(
    "find-like", short_help="Find the rest of a category from one row.", epilog=find_like.EXAMPLE
)(find_like.find_like)
app.command(
    "learn", short_help="Learn the classes of a labelled table.", epilog=recognize.LEARN_EXAMPLE
)(recognize.learn)
app.command(
    "recognize",
    short_help="Assign new rows to known classes, or to none.",
    epilog=recognize.RECOGNIZE_EXAMPLE,
)(recognize.recognize)
app.command(
    "simulate",
    short_help="Count the questions each strategy needs to find every class.",
    epilog=simulate.EXAMPLE,
)(simulate.simulate)
app.command(
    "discover", short_help="Find every category in few questions.", epilog=discover.EXAMPLE
)(discover.discover)
app.command(
    "species", short_help="Test whether a group of specimens is new.", epilog=species.EXAMPLE
)(species.species)


@app.command(
    "demo",
    short_help="Run the main commands on built-in data.",
    epilog="\b\nExample:\n  kernova demo --folder demo",
)
@reporting_errors
def _demo(
    folder: Annotated[
        Path,
        typer.Option(help="Folder for tables, figures and reports; created if it does not exist."),
    ] = Path("demo"),
) -> None:
    """Run the main commands on handwritten digits and wines; takes under two minutes.

    Nine digits are known, the tenth is not. kernova novelty finds the unknown digit in a new
    table, bounds the rate of false alarms, and writes a report with figures. kernova outliers
    finds errors introduced into a table of wines, and reports which values are wrong. kernova
    discover finds every digit of a table, rare ones too, in few questions.
    """
    from kernova.files import made_folder
    from kernova.workflows.demo import run_demo

    target = made_folder(folder)
    with progress_bars():
        result = run_demo(target)
    out = console()
    for chapter in result.chapters:
        out.print(chapter.title, style="bold")
        out.print_lines(*chapter.sentences)
        out.print_table(chapter.table, chapter.table_title)
    out.print()
    out.print_section("Files written", map(str, result.files))
    out.print()
    out.print_section("Commands to try next", result.next_commands)


project.app.command(
    "report", short_help="Write a report of a project.", epilog=exchange.REPORT_EXAMPLE
)(exchange.report)
project.app.command(
    "import", short_help="Add labels from a file to a project.", epilog=exchange.IMPORT_EXAMPLE
)(exchange.import_labels)
app.add_typer(project.app, name="project", short_help="Check, export and back up a project.")
app.add_typer(notes.app, name="notes", short_help="Find known notes in long recordings.")
app.add_typer(reproduce.app, name="reproduce", short_help="Reproduce the papers' results.")


def main() -> None:
    """Run the command line."""
    prepare_streams()
    treat_termination_as_interrupt()
    app()
