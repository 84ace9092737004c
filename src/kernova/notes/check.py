"""Pictures of what was found in a recording, and how.

A finder tried on recordings whose notes are known.
"""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernova.audio.annotations.segments import Segment
from kernova.audio.reading import audio_info
from kernova.notes.evaluation import (
    ONSET_TOLERANCE_SECONDS,
    Compared,
    NoteCheck,
    check_notes,
    threshold_curve,
)
from kernova.notes.finder import NoteFinder, NoteScan
from kernova.notes.search import missing_treble
from kernova.notes.training import Lessons
from kernova.progress import track
from kernova.report.figures import plot_confusion, plot_note_thresholds, plot_notes, save_picture
from kernova.report.notes import STRETCH_SECONDS, busiest_stretch
from kernova.tables.formats import save_table
from kernova.tables.records import json_rows

# Little more than a stretch is drawn whole.
_LONGEST_WHOLE_SECONDS = 1.5 * STRETCH_SECONDS


def save_notes_picture(
    finder: NoteFinder,
    recording: Path,
    segments: Sequence[Segment],
    path: Path,
    *,
    truth: Sequence[Segment] | None = None,
) -> None:
    """Draw the busiest stretch of a recording: sound, scores and notes below each other.

    Parameters
    ----------
    finder : NoteFinder
        What found the notes.
    recording : path
        Where.
    segments : sequence of Segment
        The notes; these are drawn.
    path : path
        Where the picture goes: PNG, SVG or PDF.
    truth : sequence of Segment, optional
        What an annotation says, drawn beside them; then the busiest stretch is that of the truth.
    """
    seconds = audio_info(recording).seconds
    most = seconds if seconds <= _LONGEST_WHOLE_SECONDS else STRETCH_SECONDS
    stretch = busiest_stretch(truth or segments, seconds, most)
    scan = _with_a_frame(finder.scan(recording, stretch.start, stretch.end), seconds)
    shown = [note for note in segments if note.start < stretch.end and note.end > stretch.start]
    part = "" if stretch.end - stretch.start >= seconds else (
        f", {stretch.start:.1f} to {stretch.end:.1f} s of {seconds:.1f} s"
    )  # fmt: skip
    ax = plot_notes(
        scan._replace(segments=shown), truth=truth, title=f"{Path(recording).name}{part}"
    )
    save_picture(ax.figure, path)  # type: ignore[arg-type]


def _with_a_frame(scan: NoteScan, seconds: float) -> NoteScan:
    """Let a recording shorter than one frame be drawn, as a frame of nothing."""
    if len(scan.times):
        return scan
    return scan._replace(
        times=np.array([seconds / 2]),
        levels=np.zeros((1, len(scan.band_hz))),
        scores=np.zeros((1, len(scan.classes))),
    )


# Nothing that is found at all has a lower score.
_LOWEST_THRESHOLD = 1e-6


@dataclass(frozen=True)
class CheckedFinder:
    """What a finder is worth on recordings whose notes are known.

    Attributes
    ----------
    check : NoteCheck
        The counts.
    curve : DataFrame
        F against the least score, as :func:`~kernova.notes.evaluation.threshold_curve` gives.
    finder : NoteFinder
        What was tried.
    lessons : Lessons
        Recordings, and what is in them.
    found : list of list of Segment
        What was found in each.
    """

    check: NoteCheck
    curve: pd.DataFrame
    finder: NoteFinder
    lessons: Lessons
    found: list[list[Segment]]

    @property
    def sentences(self) -> list[str]:
        """Say what the tables come to."""
        return [*self.check.sentences, *self.curve_sentences, *self.lessons.remarks]

    @property
    def curve_sentences(self) -> list[str]:
        """Say which least score would have been best, where that is not what was done."""
        if not len(self.curve):
            return []
        best = self.curve.iloc[int(self.curve["f"].to_numpy().argmax())]
        if round(best["f"], 3) <= round(self.check.note_f, 3):
            return ["No other least score of a note would give a higher F over notes."]
        return [
            f"If only notes with a score of {best['threshold']:.3f} or more were kept, F over "
            f"notes would be {best['f']:.3f}; no other score gives more."
        ]

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
        return {
            "command": "notes check",
            "recordings": [str(one.info.path) for one in self.lessons.recordings],
            **self.check.to_json_dict(),
            "thresholds": json_rows(self.curve),
            "remarks": self.lessons.remarks,
        }


def check_finder(
    finder: NoteFinder,
    lessons: Lessons,
    classes: Sequence[str],
    *,
    tolerance: float = ONSET_TOLERANCE_SECONDS,
) -> CheckedFinder:
    """Search annotated recordings, and compare.

    Parameters
    ----------
    finder : NoteFinder
        Fitted.
    lessons : Lessons
        What :func:`~kernova.notes.training.read_lessons` gave.
    classes : sequence of str
        The classes that count; found notes of others are passed over.
    tolerance : float, default=0.02
        How far onsets may be apart, in seconds.

    Returns
    -------
    CheckedFinder
        Counts, curve, and what was found.
    """
    found = _found(finder, lessons, classes)
    check = check_notes(_compared(lessons, found), classes, tolerance=tolerance)
    doubtful = found
    if finder.preset == "song":
        # A score is a note's own, whatever the threshold: one search tells about all thresholds.
        eager = copy(finder).set_params(threshold=_LOWEST_THRESHOLD)
        doubtful = _found(eager, lessons, classes)
    curve = threshold_curve(_compared(lessons, doubtful), classes, tolerance=tolerance)
    treble = [missing_treble(one.info, finder.sample_rate_) for one in lessons.recordings]
    told = lessons._replace(remarks=[*lessons.remarks, *filter(None, treble)])
    return CheckedFinder(check, curve, finder, told, found)


def _found(finder: NoteFinder, lessons: Lessons, classes: Sequence[str]) -> list[list[Segment]]:
    wanted = set(classes)
    return [
        [note for note in finder.find(one.info.path) if note.label in wanted]
        for one in track(lessons.recordings, "recordings")
    ]


def _compared(lessons: Lessons, found: list[list[Segment]]) -> list[Compared]:
    return [
        Compared(one.segments, notes, one.info.seconds)
        for one, notes in zip(lessons.recordings, found, strict=True)
    ]


def save_check(checked: CheckedFinder, folder: Path) -> list[Path]:
    """Write tables and pictures of a check; give their names.

    Tables of notes, windows, confusion and thresholds; pictures of the last two, and of each
    recording with the annotation beside what was found.
    """
    check = checked.check
    confusion = check.confusion.rename_axis("annotated").reset_index()
    tables = {
        "notes": check.notes, "windows": check.windows, "confusion": confusion,
        "thresholds": checked.curve,
    }  # fmt: skip
    written = [folder / f"check-{name}.csv" for name in tables]
    for path, table in zip(written, tables.values(), strict=True):
        save_table(table, path)
    counts = check.confusion
    ax = plot_confusion(counts, counts.index.tolist(), counts.columns.tolist())
    ax.set_xlabel("found as")
    ax.set_ylabel("annotated as")
    written.append(_saved(ax.figure, folder / "check-confusion.png"))
    if len(checked.curve):
        figure = plot_note_thresholds(checked.curve).figure
        written.append(_saved(figure, folder / "check-thresholds.png"))
    return written + _saved_recordings(checked, folder)


def _saved_recordings(checked: CheckedFinder, folder: Path) -> list[Path]:
    written: list[Path] = []
    recordings = checked.lessons.recordings
    for place, (one, notes) in enumerate(zip(recordings, checked.found, strict=True), start=1):
        stem = re.sub(r"[^\w.-]+", "-", one.info.path.stem)
        path = folder / f"check-{place:02}-{stem}.png"
        save_notes_picture(checked.finder, one.info.path, notes, path, truth=one.segments)
        written.append(path)
    return written


def _saved(figure: Any, path: Path) -> Path:
    save_picture(figure, path)
    return path
