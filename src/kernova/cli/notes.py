"""``kernova notes check``: how well learnt notes are found, against an annotation.

``kernova notes``: known notes in long recordings, learnt, found and checked.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kernova.cli.console import (
    answering,
    bars_by_file,
    console,
    print_json,
    print_table,
    progress_bars,
)
from kernova.cli.notes_find import EXAMPLE as FIND_EXAMPLE
from kernova.cli.notes_find import find
from kernova.cli.options import (
    AnnotationFormat,
    AsJson,
    ChannelToLearn,
    ChannelToSearch,
    Columns,
    Labels,
    Model,
    Sources,
    Threshold,
    Tier,
    check_targets,
    read_channel,
    read_sources,
    set_channel,
    set_threshold,
    split_labels,
)

if TYPE_CHECKING:
    import pandas as pd

    from kernova.notes.check import CheckedFinder


EXAMPLE = (
    "\b\nExamples:\n"
    "  kernova notes check model.kernova song.wav song.selections.txt\n"
    "  kernova notes check model.kernova songs/annotations.csv --tolerance 0.01 -o checked"
)


@answering
def check(
    model: Model,
    sources: Sources,
    tolerance: Annotated[
        float, typer.Option(help="How far onsets may be apart, in seconds.")
    ] = 0.02,
    threshold: Threshold = None,
    labels: Labels = None,
    channel: ChannelToSearch = None,
    annotation_format: AnnotationFormat = None,
    column: Columns = None,
    tier: Tier = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for tables and pictures, made if need be."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find notes where it is known where they are, and count what is right and what is wrong.

    A found note is right if its onset is close to that of a true note of its class, one to one;
    windows are right or wrong on their own, every 2 ms. Labels that were never learnt count as
    none. The mean F over windows is over the classes and none, that over notes over the classes.
    """
    from kernova.cli.console import made_folder
    from kernova.notes.check import check_finder, save_check
    from kernova.notes.training import known_labels, load_note_finder

    finder = load_note_finder(model)
    classes = known_labels(finder, split_labels(labels))
    set_threshold(finder, threshold)
    set_channel(finder, channel)
    lessons = read_sources(sources, annotation_format, column, tier, may_be_empty=True)
    folder = None if output is None else made_folder(output)
    with bars_by_file():
        checked = check_finder(finder, lessons, classes, tolerance=tolerance)
        written = [] if folder is None else save_check(checked, folder)
    if as_json:
        files = [str(path) for path in written]
        print_json({**checked.to_json_dict(), "files": files})
    else:
        _print(checked, written)


def _print(checked: "CheckedFinder", written: list[Path]) -> None:
    out = console()
    for sentence in checked.sentences:
        out.print(sentence, markup=False)
    out.print()
    tolerance = f"{1000 * checked.check.tolerance:.6g} ms"
    print_table(checked.check.notes, f"Note by note (onset within {tolerance})")
    print_table(checked.check.windows, "Window by window")
    print_table(
        _with_names(checked.check.confusion), "Notes: annotated (lines) and found (columns)"
    )
    out.print()
    for path in written:
        out.print(f"written: {path}", markup=False)
    if not written:
        out.print("Write tables and pictures with -o FOLDER.")


def _with_names(confusion: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    columns: dict[str, Any] = {"annotated": [str(name) for name in confusion.index]}
    for name in confusion.columns:
        columns[f"as {name}"] = confusion[name].tolist()
    return pd.DataFrame(columns)


CHECK_EXAMPLE = EXAMPLE  # SELF-ALIAS

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=(
        "Find every instance of known notes in recordings.\n\n"
        "Mark a few examples of each note; all others are found, and everything else is nothing."
    ),
    epilog="\b\nTry it on made-up birds:\n  kernova notes demo\n"
    "  kernova notes learn notes-demo/lesson.wav notes-demo/lesson.selections.txt "
    "-o notes.kernova\n"
    "  kernova notes find notes.kernova notes-demo/night -o found --plot",
)


@app.callback()
def _notes() -> None:
    pass


@app.command(
    "learn",
    short_help="Learn notes from examples marked in recordings.",
    epilog="\b\nExamples:\n"
    "  kernova notes learn song.wav song.selections.txt -o model.kernova\n"
    "  kernova notes learn monday.wav monday.TextGrid tuesday.wav tuesday.TextGrid "
    "-o model.kernova\n"
    "  kernova notes learn index.csv --labels trill,whistle -o model.kernova",
)
@answering
def learn(
    sources: Sources,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Write the model here (.kernova).")
    ],
    labels: Labels = None,
    annotation_format: AnnotationFormat = None,
    column: Columns = None,
    tier: Tier = None,
    channel: ChannelToLearn = "mean",
    preset: Annotated[
        Literal["song", "paper"],
        typer.Option(help="song: for real song; paper: to the letter of the paper."),
    ] = "song",
    as_json: AsJson = False,
) -> None:
    """Learn notes from a few examples of each, to find all others with kernova notes find.

    Give recordings and, behind each, its annotation: a Raven selection table, Audacity labels, a
    Praat TextGrid or CSV. Or give a table of clips, or of notes in several recordings, with the
    columns file, label, start and end; files are looked for from the table's folder on.
    """
    from kernova.files import check_ending
    from kernova.notes.finder import NoteFinder
    from kernova.notes.training import learn_notes
    from kernova.persist.models import save_model

    check_ending(output, (".kernova",), "a model")
    check_targets(None, None, output, kept=sources)
    finder = NoteFinder(preset=preset, channel=read_channel(channel))
    lessons = read_sources(sources, annotation_format, column, tier, split_labels(labels))
    with progress_bars():
        learnt = learn_notes(lessons, finder)
        save_model(learnt.finder, output)
    if as_json:
        print_json({**learnt.to_json_dict(), "files": {"model": str(output)}})
        return
    out = console()
    out.print(learnt.summary, markup=False)
    for remark in lessons.remarks:
        out.print(remark, markup=False)
    out.print()
    print_table(learnt.classes, "Class by class, durations in seconds")
    out.print()
    out.print(f"model: {output}", markup=False)


app.command("find", short_help="Find learnt notes in recordings.", epilog=FIND_EXAMPLE)(find)
app.command("check", short_help="Compare what is found with an annotation.", epilog=CHECK_EXAMPLE)(
    check
)


@app.command(
    "demo",
    short_help="Write recordings of made-up birds to try it on.",
    epilog="\b\nExample:\n  kernova notes demo --folder notes-demo",
)
@answering
def demo(
    folder: Annotated[Path, typer.Option(help="Where the recordings go; made if need be.")] = Path(
        "notes-demo"
    ),
) -> None:
    """Write recordings of three made-up birds and a stranger, to learn from and to search.

    In one recording the notes of the three birds are marked; two others are to be searched. What
    is in those stands in annotations of their own, for comparison.
    """
    from kernova.cli.console import made_folder
    from kernova.notes.demo import write_note_demo

    files = write_note_demo(made_folder(folder))
    out = console()
    out.print("What is there now", style="bold")
    for path in (files.lesson, files.marks, files.night, *files.truth):
        out.print(f"  {path}", markup=False)
    out.print("\nWhat to try next", style="bold")
    for command in (
        f"kernova notes learn {files.lesson} {files.marks} -o notes.kernova",
        f"kernova notes find notes.kernova {files.night} -o found --plot",
        f"kernova notes check notes.kernova {files.night / 'dusk.wav'} {files.truth[0]}",
    ):
        out.print(f"  {command}", markup=False)
