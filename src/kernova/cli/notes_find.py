"""``kernova notes find``: where learnt notes are in recordings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernova.cli.console import (
    BAD_INPUT,
    INTERRUPTED,
    answering,
    bars_by_file,
    complain,
    console,
    print_json,
    print_table,
)
from kernova.cli.options import (
    AsJson,
    ChannelToSearch,
    Format,
    Labels,
    Model,
    Threshold,
    set_channel,
    set_threshold,
    split_labels,
)

if TYPE_CHECKING:
    import pandas as pd

    from kernova.notes.finder import NoteFinder
    from kernova.notes.search import Draw, Recording, SearchedFile, SearchSettings

EXAMPLE = (
    "\b\nExamples:\n"
    "  kernova notes find model.kernova song.wav\n"
    "  kernova notes find model.kernova recordings --format raven -o found --plot "
    "--combined all.csv"
)

SOME_FAILED = 1
_NOTES_SHOWN = 20
_CLASSES_SHOWN = 12


@answering
def find(
    model: Model,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="Recordings (WAV, FLAC, OGG), and folders of them, searched to the bottom.",
        ),
    ],
    format: Annotated[
        Format, typer.Option("--format", help="How the notes of each recording are written.")
    ] = "raven",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the notes of each recording."),
    ] = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw a picture of each recording, too.")
    ] = False,
    combined: Annotated[
        Path | None, typer.Option(help="Write one table of all recordings here (.csv).")
    ] = None,
    threshold: Threshold = None,
    labels: Labels = None,
    channel: ChannelToSearch = None,
    as_json: AsJson = False,
) -> None:
    """Find the notes that MODEL knows in FILES; everything else is nothing.

    With -o, the notes of each recording are written to a file in that folder, named like it.
    Interrupted or killed, the same command goes on where it stopped: what is done is not done
    again unless the recording, the model or an option changed. A file that cannot be read is
    reported, and the rest is done; then the exit code is 1, or 2 if nothing could be read.
    """
    from kernova.notes.search import SearchSettings, fingerprint_of, recordings_in
    from kernova.notes.training import known_labels, load_note_finder

    _check_targets(output, plot, combined, kept=[model, *files])
    finder = load_note_finder(model)
    set_threshold(finder, threshold)
    set_channel(finder, channel)
    kept = split_labels(labels)
    classes = known_labels(finder, kept)
    fingerprint = fingerprint_of(model, {"threshold": threshold})
    settings = SearchSettings(format, kept, fingerprint, finder.channel)
    recordings = recordings_in(files)
    results = _search(finder, recordings, output, settings, plot=plot)
    if combined is not None:
        _write_combined(results, combined)
    if as_json:
        print_json(_answer(results, classes, output, combined))
    else:
        _print(results, classes, output, combined)
    _leave(results)


def _check_targets(
    output: Path | None, plot: bool, combined: Path | None, kept: list[Path]
) -> None:
    """Refuse, before the work and not after it, what can never be written."""
    from kernova.errors import InputError
    from kernova.files import check_ending, ensure_distinct, ensure_writable

    if plot and output is None:
        raise InputError("Pictures need a folder to go to; name one with -o.")
    if output is not None and output.exists() and not output.is_dir():
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
        with bars_by_file():
            for result in search_recordings(finder, recordings, output, settings, draw=draw):
                results.append(result)
                if result.remark:
                    complain(result.remark)
    except KeyboardInterrupt:
        complain(_interrupted(len(results), len(recordings), output))
        raise typer.Exit(INTERRUPTED) from None
    return results


def _interrupted(n_done: int, n_recordings: int, output: Path | None) -> str:
    if output is None:
        return "Interrupted; nothing was to be written."
    return (
        f"Interrupted. {n_done} of {n_recordings} recordings are done, and their notes are in "
        f"{output}; the same command goes on from there."
    )


def _write_combined(results: "list[SearchedFile]", path: Path) -> None:
    from kernova.audio.annotations import write_annotations
    from kernova.notes.search import combined_segments

    write_annotations(combined_segments(results), path, format="csv")


def _leave(results: "list[SearchedFile]") -> None:
    """Say by the exit code whether some could not be read, or none could."""
    from kernova.notes.search import FAILED

    n_failed = sum(result.outcome == FAILED for result in results)
    if n_failed:
        raise typer.Exit(BAD_INPUT if n_failed == len(results) else SOME_FAILED)


# --- for people ------------------------------------------------------------------------------


def _print(
    results: "list[SearchedFile]", classes: list[str], output: Path | None, combined: Path | None
) -> None:
    out = console()
    out.print(_summary(results), markup=False)
    out.print()
    print_table(_file_table(results, classes), "Recording by recording")
    notes = _note_table(results)
    if output is None and len(notes):
        more = len(notes) - _NOTES_SHOWN
        title = "Notes, times in seconds" + (f" (the first {_NOTES_SHOWN})" if more > 0 else "")
        print_table(notes.head(_NOTES_SHOWN), title)
    out.print()
    for name, path in (("folder", output), ("combined", combined)):
        if path is not None:
            out.print(f"{name}: {path}", markup=False)
    if output is None and combined is None:
        out.print("Write them with -o FOLDER, or all to one table with --combined notes.csv.")


def _summary(results: "list[SearchedFile]") -> str:
    from kernova.notes.search import DONE_BEFORE, FAILED

    n_notes = sum(len(result.segments) for result in results)
    minutes = sum(result.seconds for result in results) / 60
    n_failed = sum(result.outcome == FAILED for result in results)
    n_before = sum(result.outcome == DONE_BEFORE for result in results)
    n_read = len(results) - n_failed
    recordings = "1 recording" if n_read == 1 else f"{n_read} recordings"
    notes = "1 note" if n_notes == 1 else f"{n_notes} notes"
    said = f"{notes} found in {recordings} ({minutes:.1f} minutes)."
    if n_before:
        said += f" Done before, and not again: {n_before}."
    if n_failed:
        said += f" Could not be searched: {n_failed}."
    return said


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
            for name in classes:
                line[f"'{name}'"] = sum(note.label == name for note in result.segments)
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
