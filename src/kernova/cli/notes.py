"""``kernova notes``: known notes in long recordings, learnt, found and checked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kernova.cli import options
from kernova.cli.console import (
    BAD_INPUT,
    INTERRUPTED,
    console,
    model_target,
    print_error,
    print_json,
    print_result,
    progress_bars,
    reporting_errors,
    write_targets,
)

if TYPE_CHECKING:
    import pandas as pd

    from kernova.cli.terminal import EscapingConsole
    from kernova.notes.check import CheckedFinder
    from kernova.notes.finder import NoteFinder
    from kernova.notes.search import Draw, Recording, SearchedFile, SearchSettings
    from kernova.notes.training import LearntNotes

LEARN_EXAMPLE = options.examples(
    "kernova notes learn song.wav song.selections.txt -o model.kernova",
    "kernova notes learn monday.wav monday.TextGrid tuesday.wav tuesday.TextGrid -o model.kernova",
    "kernova notes learn index.csv --labels trill,whistle -o model.kernova",
)
FIND_EXAMPLE = options.examples(
    "kernova notes find model.kernova song.wav",
    "kernova notes find model.kernova recordings --format raven -o found --plot --combined all.csv",
)
CHECK_EXAMPLE = options.examples(
    "kernova notes check model.kernova song.wav song.selections.txt",
    "kernova notes check model.kernova songs/annotations.csv --tolerance 0.01 -o checked",
)

_SOME_FAILED = 1
_NOTES_SHOWN = 20
_CLASSES_SHOWN = 12

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=(
        "Find every occurrence of known notes in recordings.\n\n"
        "Annotate a few examples of each note; kernova finds the others, and ignores every other "
        "sound."
    ),
    epilog="\b\nTry it on synthetic bird song:\n  kernova notes demo\n"
    "  kernova notes learn notes-demo/lesson.wav notes-demo/lesson.selections.txt "
    "-o notes.kernova\n"
    "  kernova notes find notes.kernova notes-demo/night -o found --plot",
)


@app.callback()
def _notes() -> None:
    pass


@app.command("learn", short_help="Learn notes from annotated examples.", epilog=LEARN_EXAMPLE)
@reporting_errors
def learn(
    sources: options.Sources,
    output: options.ModelOutput,
    labels: options.Labels = None,
    annotation_format: options.AnnotationFormat = None,
    column: options.Columns = None,
    tier: options.Tier = None,
    channel: options.ChannelToLearn = "mean",
    preset: Annotated[
        Literal["song", "paper"],
        typer.Option(help="Settings: song for real recordings, paper for those of the paper."),
    ] = "song",
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Learn notes from a few examples of each, for kernova notes find.

    SOURCES are recordings, each followed by its annotation: a Raven selection table, Audacity
    labels, a Praat TextGrid or CSV. Or a table of clips, or of notes in several recordings, with
    the columns file, label, start and end; its file names are relative to its folder.
    """
    from kernova.files import check_ending
    from kernova.notes.finder import NoteFinder
    from kernova.notes.training import learn_notes

    check_ending(output, (".kernova",), "a model")
    options.check_targets(None, None, output, kept=sources)
    finder = NoteFinder(preset=preset, channel=options.read_channel(channel))
    training = options.read_sources(
        sources, annotation_format, column, tier, options.split_labels(labels)
    )
    with progress_bars():
        learnt = learn_notes(training, finder)
    print_result(
        learnt,
        write_targets({"model": model_target(output, learnt.finder)}),
        as_json=as_json,
        show=lambda out: _show_learnt(out, learnt, training.remarks),
    )


def _show_learnt(out: "EscapingConsole", learnt: "LearntNotes", remarks: list[str]) -> None:
    out.print_lines(learnt.summary)
    out.print_notes(remarks)
    out.print()
    out.print_table(learnt.classes, "Class by class, durations in seconds")


# --- kernova notes find ---------------------------------------------------------------------


@app.command("find", short_help="Find learnt notes in recordings.", epilog=FIND_EXAMPLE)
@reporting_errors
def find(
    model: options.Model,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="Recordings (WAV, FLAC, OGG, OGA, AIF, AIFF, MP3), or folders, searched "
            "recursively.",
        ),
    ],
    format: Annotated[
        options.Format, typer.Option("--format", help="Format of the annotations to write.")
    ] = "raven",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for one annotation file per recording."),
    ] = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Also draw a figure of each recording.")
    ] = False,
    combined: Annotated[
        Path | None, typer.Option(help="Write one table for all recordings here (.csv).")
    ] = None,
    raw: options.Raw = False,
    threshold: options.Threshold = None,
    labels: options.Labels = None,
    channel: options.ChannelToSearch = None,
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the notes of MODEL in FILES; every other sound is ignored.

    With -o, the notes of each recording are written to a file in that folder, named after the
    recording. If interrupted, run the same command again: finished recordings are skipped unless
    the recording, the model or an option changed. A file that cannot be read is reported, and the
    others are searched; then the exit code is 1, or 2 if no file could be read.
    """
    from kernova.notes.search import SearchSettings, fingerprint_of, recordings_in
    from kernova.notes.training import known_labels, load_note_finder

    _check_targets(output, plot, combined, kept=[model, *files])
    finder = load_note_finder(model)
    options.configure_finder(finder, threshold, channel)
    wanted = options.split_labels(labels)
    classes = known_labels(finder, wanted)
    fingerprint = fingerprint_of(model, {"threshold": threshold})
    settings = SearchSettings(format, wanted, fingerprint, finder.channel, raw)
    recordings = recordings_in(files)
    results = _search(finder, recordings, output, settings, plot=plot)
    if combined is not None:
        _write_combined(results, combined, raw=raw)
    if as_json:
        print_json(_answer(results, classes, output, combined))
    else:
        _show_found(results, classes, output, combined)
    _exit_with_code(results)


def _check_targets(
    output: Path | None, plot: bool, combined: Path | None, kept: list[Path]
) -> None:
    """Reject files that can never be written, before any work is done."""
    from kernova.errors import InputError
    from kernova.files import check_ending, ensure_distinct, ensure_writable, is_there

    if plot and output is None:
        raise InputError("Figures need a folder; name one with -o.")
    if output is not None and is_there(output) and not output.is_dir():
        raise InputError(f"{output} is a file; -o needs a folder for the notes of each recording.")
    if combined is not None:
        check_ending(combined, (".csv",), "a combined table")
        ensure_distinct([combined], kept=kept)
        if combined.parent != output:  # a folder that will be made
            ensure_writable(combined)


def _search(
    finder: "NoteFinder",
    recordings: "list[Recording]",
    output: Path | None,
    settings: "SearchSettings",
    *,
    plot: bool,
) -> "list[SearchedFile]":
    from kernova.notes.search import search_recordings

    draw: Draw | None = None
    if plot:
        from functools import partial

        from kernova.notes.check import save_notes_picture

        draw = partial(save_notes_picture, finder)
    results: list[SearchedFile] = []
    try:
        with progress_bars():
            for result in search_recordings(finder, recordings, output, settings, draw=draw):
                results.append(result)
                if result.remark:
                    print_error(result.remark)
    except KeyboardInterrupt:
        print_error(interruption_message(len(results), len(recordings), output))
        raise typer.Exit(INTERRUPTED) from None
    return results


def interruption_message(n_done: int, n_recordings: int, output: Path | None) -> str:
    """Return the message for Ctrl-C: how many recordings are done, and how to continue."""
    if output is None:
        return "Interrupted; no output was requested with -o."
    return (
        f"Interrupted. {n_done} of {n_recordings} recordings are done, and their notes are in "
        f"{output}; run the same command again to continue."
    )


def _write_combined(results: "list[SearchedFile]", path: Path, *, raw: bool) -> None:
    from kernova.audio.annotations import write_annotations
    from kernova.notes.search import combined_segments

    write_annotations(combined_segments(results), path, format="csv", raw=raw)


def _exit_with_code(results: "list[SearchedFile]") -> None:
    """Exit with code 1 if some recordings could not be read, with 2 if none could."""
    from kernova.notes.search import FAILED

    n_failed = sum(result.outcome == FAILED for result in results)
    if n_failed:
        raise typer.Exit(BAD_INPUT if n_failed == len(results) else _SOME_FAILED)


# --- for people ------------------------------------------------------------------------------


def _show_found(
    results: "list[SearchedFile]", classes: list[str], output: Path | None, combined: Path | None
) -> None:
    out = console()
    out.print_lines(_summary(results))
    out.print()
    out.print_table(_file_table(results, classes), "Recording by recording")
    notes = _note_table(results)
    if output is None and len(notes):
        more = len(notes) - _NOTES_SHOWN
        title = "Notes, times in seconds" + (f" (the first {_NOTES_SHOWN})" if more > 0 else "")
        out.print_table(notes.head(_NOTES_SHOWN), title)
    out.print()
    written = {"folder": output, "combined": combined}
    out.print_lines(*(f"{name}: {path}" for name, path in written.items() if path is not None))
    if output is None and combined is None:
        out.print("Write them with -o FOLDER, or all to one table with --combined notes.csv.")


def _summary(results: "list[SearchedFile]") -> str:
    from kernova.notes.search import DONE_BEFORE, FAILED
    from kernova.text import quantity

    n_notes = sum(len(result.segments) for result in results)
    minutes = sum(result.seconds for result in results) / 60
    n_failed = sum(result.outcome == FAILED for result in results)
    n_before = sum(result.outcome == DONE_BEFORE for result in results)
    recordings = quantity(len(results) - n_failed, "recording")
    summary = f"{quantity(n_notes, 'note')} found in {recordings} ({minutes:.1f} minutes)."
    if n_before:
        summary += f" Searched before and skipped: {n_before}."
    if n_failed:
        summary += f" Could not be searched: {n_failed}."
    return summary


def _file_table(results: "list[SearchedFile]", classes: list[str]) -> "pd.DataFrame":
    import pandas as pd

    lines = []
    for result in results:
        line: dict[str, Any] = {
            "recording": str(result.path),
            "outcome": result.outcome,
            "seconds": round(result.seconds, 2),
            "notes": len(result.segments),
        }
        if len(classes) <= _CLASSES_SHOWN:
            for label in classes:
                line[f"'{label}'"] = sum(note.label == label for note in result.segments)
        lines.append(line)
    return pd.DataFrame(lines)


def _note_table(results: "list[SearchedFile]") -> "pd.DataFrame":
    import pandas as pd

    lines = [
        {
            "recording": result.path.name,
            "start": f"{note.start:.3f}",
            "end": f"{note.end:.3f}",
            "label": note.label,
            "score": "" if note.score is None else f"{note.score:.3f}",
        }
        for result in results
        for note in result.segments
    ]
    return pd.DataFrame(lines)


# --- for programs ----------------------------------------------------------------------------


def _answer(
    results: "list[SearchedFile]", classes: list[str], output: Path | None, combined: Path | None
) -> dict[str, Any]:
    written = {"folder": output, "combined": combined}
    return {
        "command": "notes find",
        "summary": _summary(results),
        "classes": classes,
        "recordings": [
            {
                "recording": str(result.path),
                "outcome": result.outcome,
                "seconds": result.seconds,
                "remark": result.remark,
                "files": [str(path) for path in result.files],
                "notes": [
                    {"start": n.start, "end": n.end, "label": n.label, "score": n.score}
                    for n in result.segments
                ],
            }
            for result in results
        ],
        "files": {name: str(path) for name, path in written.items() if path is not None},
    }


# --- kernova notes check and demo ------------------------------------------------------------


@app.command("check", short_help="Compare detections with an annotation.", epilog=CHECK_EXAMPLE)
@reporting_errors
def check(
    model: options.Model,
    sources: options.Sources,
    tolerance: Annotated[
        float, typer.Option(help="Largest difference between matching onsets, in seconds.")
    ] = 0.02,
    threshold: options.Threshold = None,
    labels: options.Labels = None,
    channel: options.ChannelToSearch = None,
    annotation_format: options.AnnotationFormat = None,
    column: options.Columns = None,
    tier: options.Tier = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for tables and figures; created if it does not exist."
        ),
    ] = None,
    raw: options.Raw = False,
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Find notes in annotated recordings, and count correct and wrong detections.

    A detection is correct if its onset is close to that of an annotated note of its class, one to
    one; windows are compared separately, every 2 ms. Labels that the model does not know count as
    none. The mean F1 score over windows includes the class none; that over notes does not.
    """
    from kernova.files import made_folder
    from kernova.notes.check import check_finder, save_check
    from kernova.notes.training import known_labels, load_note_finder

    finder = load_note_finder(model)
    classes = known_labels(finder, options.split_labels(labels))
    options.configure_finder(finder, threshold, channel)
    annotated = options.read_sources(sources, annotation_format, column, tier, may_be_empty=True)
    folder = None if output is None else made_folder(output)
    with progress_bars():
        checked = check_finder(finder, annotated, classes, tolerance=tolerance)
        written = [] if folder is None else save_check(checked, folder, raw=raw)
    if as_json:
        print_json({**checked.to_json_dict(), "files": [str(path) for path in written]})
    else:
        _show_checked(console(), checked, written)


def _show_checked(out: "EscapingConsole", checked: "CheckedFinder", written: list[Path]) -> None:
    out.print_notes(checked.sentences)
    out.print()
    tolerance = f"{1000 * checked.check.tolerance:.6g} ms"
    out.print_table(checked.check.notes, f"Note by note (onset within {tolerance})")
    out.print_table(checked.check.windows, "Window by window")
    out.print_table(
        _with_labels(checked.check.confusion), "Notes: annotated (rows) and found (columns)"
    )
    out.print()
    out.print_lines(
        *(f"written: {path}" for path in written)
        if written
        else ("Write tables and figures with -o FOLDER.",)
    )


def _with_labels(confusion: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    columns: dict[str, Any] = {"annotated": [str(label) for label in confusion.index]}
    for label in confusion.columns:
        columns[f"as {label}"] = confusion[label].tolist()
    return pd.DataFrame(columns)


@app.command(
    "demo",
    short_help="Write synthetic bird song to try it on.",
    epilog=options.examples("kernova notes demo --folder notes-demo"),
)
@reporting_errors
def demo(
    folder: Annotated[
        Path, typer.Option(help="Folder for the recordings; created if it does not exist.")
    ] = Path("notes-demo"),
) -> None:
    """Write synthetic recordings of three known birds and an unknown one.

    One recording is annotated, for learning the notes of the three birds; two others are for
    searching. Their own annotations are written, too, for comparison.
    """
    from kernova.files import made_folder
    from kernova.notes.demo import write_note_demo

    files = write_note_demo(made_folder(folder))
    out = console()
    out.print_section(
        "Files written", map(str, (files.training, files.annotations, files.night, *files.truth))
    )
    out.print()
    out.print_section(
        "Commands to try next",
        (
            f"kernova notes learn {files.training} {files.annotations} -o notes.kernova",
            f"kernova notes find notes.kernova {files.night} -o found --plot",
            f"kernova notes check notes.kernova {files.night / 'dusk.wav'} {files.truth[0]}",
        ),
    )
