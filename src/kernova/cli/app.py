"""The ``kernova`` command: one small file per subcommand, gathered here."""

from typing import Annotated

import typer

from kernova._version import __version__
from kernova.cli import (
    demo,
    discover,
    learn,
    notes,
    novelty,
    outliers,
    recognize,
    reproduce,
    simulate,
    species,
)
from kernova.cli.console import end_as_if_interrupted, ready_streams

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
        "Give it rows you know and rows you wonder about: it says which of the new ones are "
        "unlike all known ones, how sure that is, and shows why in a page with pictures."
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
            "--version", help="Print the version and leave.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


app.command("novelty", short_help="Judge new rows against known ones.", epilog=novelty.EXAMPLE)(
    novelty.novelty
)
app.command(
    "outliers", short_help="Rank the rows of one table by strangeness.", epilog=outliers.EXAMPLE
)(outliers.outliers)
app.command("learn", short_help="Learn the classes of a labelled table.", epilog=learn.EXAMPLE)(
    learn.learn
)
app.command(
    "recognize",
    short_help="Say of which known class new rows are, or that they are of none.",
    epilog=recognize.EXAMPLE,
)(recognize.recognize)
app.command(
    "simulate",
    short_help="Count the questions each strategy needs to meet every class.",
    epilog=simulate.EXAMPLE,
)(simulate.simulate)
app.command(
    "discover", short_help="Meet every category in few questions.", epilog=discover.EXAMPLE
)(discover.discover)
app.command(
    "species", short_help="Say whether a group of specimens is new.", epilog=species.EXAMPLE
)(species.species)
app.command("demo", short_help="See it at work, on data that is here.", epilog=demo.EXAMPLE)(
    demo.demo
)
app.add_typer(notes.app, name="notes", short_help="Find known notes in long recordings.")
app.add_typer(reproduce.app, name="reproduce", short_help="Make a paper's figures again.")


def main() -> None:
    """Run the command line."""
    ready_streams()
    end_as_if_interrupted()
    app()
