"""``kernova notes find``: every occurrence of learnt notes in recordings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernova.cli import options
from kernova.cli.console import (
    BAD_INPUT,
    INTERRUPTED,
    console,
    print_error,
    print_json,
    progress_bars,
    reporting_errors,
)

if TYPE_CHECKING:
    import pandas as pd

    from kernova.notes.finder import NoteFinder
    from kernova.notes.search import Draw, Recording, SearchedFile, SearchSettings

EXAMPLE = options.examples(
    "kernova notes find model.kernova song.wav",
    "kernova notes find model.kernova recordings --format raven -o found --plot --combined all.csv",
)

_SOME_FAILED = 1
_NOTES_SHOWN = 20
_CLASSES_SHOWN = 12


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
    threshold: options.Threshold = None,
    labels: options.Labels = None,
    channel: options.ChannelToSearch = None,
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
    settings = SearchSettings(format, wanted, fingerprint, finder.channel)
    recordings = recordings_in(files)
    results = _search(finder, recordings, output, settings, plot=plot)
    if combined is not None:
        _write_combined(results, combined)
    if as_json:
        print_json(_answer(results, classes, output, combined))
    else:
        _show(results, classes, output, combined)
    _exit_with_code(results)


def _check_targets(
    output: Path | None, plot: bool, combined: Path | None, kept: list[Path]
) -> None:
    """Reject files that can never be written, before any work is done."""
    from kernova.errors import InputError
    from kernova.files import check_ending, ensure_distinct, ensure_writable

    if plot and output is None:
        raise InputError("Figures need a folder; name one with -o.")
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


def _write_combined(results: "list[SearchedFile]", path: Path) -> None:
    from kernova.audio.annotations import write_annotations
    from kernova.notes.search import combined_segments

    write_annotations(combined_segments(results), path, format="csv")


def _exit_with_code(results: "list[SearchedFile]") -> None:
    """Exit with code 1 if some recordings could not be read, with 2 if none could."""
    from kernova.notes.search import FAILED

    n_failed = sum(result.outcome == FAILED for result in results)
    if n_failed:
        raise typer.Exit(BAD_INPUT if n_failed == len(results) else _SOME_FAILED)


# --- for people ------------------------------------------------------------------------------


def _show(
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
