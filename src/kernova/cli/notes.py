"""``kernova notes``: known notes in long recordings, learnt, found and checked."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from kernova.cli.console import answering, console, print_json, print_table, progress_bars
from kernova.cli.note_check import EXAMPLE as CHECK_EXAMPLE
from kernova.cli.note_check import check
from kernova.cli.note_find import EXAMPLE as FIND_EXAMPLE
from kernova.cli.note_find import find
from kernova.cli.note_options import (
    AnnotationFormat,
    ChannelToLearn,
    Columns,
    Labels,
    Sources,
    Tier,
    read_channel,
    read_sources,
    split_labels,
)
from kernova.cli.options import AsJson, check_targets

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
    from kernova.persist import save_model
    from kernova.studies.note_learning import learn_notes
    from kernova.studies.notes import NoteFinder

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
    from kernova.cli.folders import made_folder
    from kernova.studies.note_demo import write_note_demo

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
