"""Check of a fitted finder on annotated recordings, with tables and plots of the result."""

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
from kernova.notes.search import missing_frequencies_remark
from kernova.notes.training import TrainingSet
from kernova.progress import track
from kernova.report.figures import plot_confusion, plot_note_thresholds, plot_notes, save_picture
from kernova.report.notes import INTERVAL_SECONDS, busiest_interval
from kernova.tables.formats import save_table
from kernova.tables.records import json_rows

# Recordings up to this length are drawn whole.
_LONGEST_WHOLE_SECONDS = 1.5 * INTERVAL_SECONDS

# No detected note has a lower score.
_LOWEST_THRESHOLD = 1e-6


@dataclass(frozen=True)
class CheckedFinder:
    """Performance of a finder on annotated recordings."""

    check: NoteCheck  # counts of correct and false notes
    # F for each threshold, from :func:`~kernova.notes.evaluation.threshold_curve`.
    curve: pd.DataFrame
    finder: NoteFinder  # the finder
    annotated: TrainingSet  # recordings and their annotations
    found: list[list[Segment]]  # notes found in each recording

    @property
    def sentences(self) -> list[str]:
        """Summary of the tables, in sentences."""
        return [*self.check.sentences, *self.curve_sentences, *self.annotated.remarks]

    @property
    def curve_sentences(self) -> list[str]:
        """Best threshold, if it is better than the one that was used."""
        if not len(self.curve):
            return []
        best = self.curve.iloc[int(self.curve["f"].to_numpy().argmax())]
        if round(best["f"], 3) <= round(self.check.note_f, 3):
            return ["No other threshold on the score would give a higher F1 score over notes."]
        return [
            f"With a threshold of {best['threshold']:.3f} on the score, the F1 score over notes "
            f"would be {best['f']:.3f}, the highest of all thresholds."
        ]

    def to_json_dict(self) -> dict[str, Any]:
        """Return all results as numbers and texts for JSON."""
        return {
            "command": "notes check",
            "recordings": [str(one.info.path) for one in self.annotated.recordings],
            **self.check.to_json_dict(),
            "thresholds": json_rows(self.curve),
            "remarks": self.annotated.remarks,
        }


def save_notes_picture(
    finder: NoteFinder,
    recording: Path,
    segments: Sequence[Segment],
    path: Path,
    *,
    truth: Sequence[Segment] | None = None,
) -> None:
    """Plot sound, scores and notes of the busiest interval of a recording.

    Parameters
    ----------
    finder : NoteFinder
        Finder of the notes.
    recording : path
        The recording.
    segments : sequence of Segment
        The notes to draw.
    path : path
        File to write: PNG, SVG or PDF.
    truth : sequence of Segment, optional
        Annotated notes, drawn beside them; the busiest interval is then that of the truth.
    """
    seconds = audio_info(recording).seconds
    most = seconds if seconds <= _LONGEST_WHOLE_SECONDS else INTERVAL_SECONDS
    interval = busiest_interval(truth or segments, seconds, most)
    scan = _with_a_frame(finder.scan(recording, interval.start, interval.end), seconds)
    shown = [note for note in segments if note.start < interval.end and note.end > interval.start]
    part = "" if interval.end - interval.start >= seconds else (
        f", {interval.start:.1f} to {interval.end:.1f} s of {seconds:.1f} s"
    )  # fmt: skip
    ax = plot_notes(
        scan._replace(segments=shown), truth=truth, title=f"{Path(recording).name}{part}"
    )
    save_picture(ax.figure, path)  # type: ignore[arg-type]


def check_finder(
    finder: NoteFinder,
    annotated: TrainingSet,
    classes: Sequence[str],
    *,
    tolerance: float = ONSET_TOLERANCE_SECONDS,
) -> CheckedFinder:
    """Search annotated recordings, and compare the result with the annotations.

    Parameters
    ----------
    finder : NoteFinder
        Fitted.
    annotated : TrainingSet
        Annotations from :func:`~kernova.notes.training.read_training_annotations`.
    classes : sequence of str
        Classes to compare; found notes of other classes are ignored.
    tolerance : float, default=0.02
        Largest difference of matching onsets, in seconds.

    Returns
    -------
    CheckedFinder
        Counts, curve, and the notes found.
    """
    found = _found(finder, annotated, classes)
    check = check_notes(_compared(annotated, found), classes, tolerance=tolerance)
    candidates = found
    if finder.preset == "song":
        # Scores do not depend on the threshold: one search serves all thresholds.
        permissive = copy(finder).set_params(threshold=_LOWEST_THRESHOLD)
        candidates = _found(permissive, annotated, classes)
    curve = threshold_curve(_compared(annotated, candidates), classes, tolerance=tolerance)
    lacking = [
        missing_frequencies_remark(one.info, finder.sample_rate_) for one in annotated.recordings
    ]
    remarked = annotated._replace(remarks=[*annotated.remarks, *filter(None, lacking)])
    return CheckedFinder(check, curve, finder, remarked, found)


def save_check(checked: CheckedFinder, folder: Path, *, raw: bool = False) -> list[Path]:
    """Write tables and plots of a check, and return their paths.

    Tables of notes, windows, confusion and thresholds; plots of the last two, and of each
    recording with its annotation. ``raw`` writes formula-like texts as they are.
    """
    check = checked.check
    confusion = check.confusion.rename_axis("annotated").reset_index()
    tables = {
        "notes": check.notes, "windows": check.windows, "confusion": confusion,
        "thresholds": checked.curve,
    }  # fmt: skip
    written = [folder / f"check-{name}.csv" for name in tables]
    for path, table in zip(written, tables.values(), strict=True):
        save_table(table, path, raw=raw)
    counts = check.confusion
    ax = plot_confusion(counts, counts.index.tolist(), counts.columns.tolist())
    ax.set_xlabel("found as")
    ax.set_ylabel("annotated as")
    written.append(_saved(ax.figure, folder / "check-confusion.png"))
    if len(checked.curve):
        figure = plot_note_thresholds(checked.curve).figure
        written.append(_saved(figure, folder / "check-thresholds.png"))
    return written + _saved_recordings(checked, folder)


def _with_a_frame(scan: NoteScan, seconds: float) -> NoteScan:
    """Return a scan of one empty frame for a recording shorter than a frame."""
    if len(scan.times):
        return scan
    return scan._replace(
        times=np.array([seconds / 2]),
        levels=np.zeros((1, len(scan.band_hz))),
        scores=np.zeros((1, len(scan.classes))),
    )


def _found(
    finder: NoteFinder, annotated: TrainingSet, classes: Sequence[str]
) -> list[list[Segment]]:
    wanted = set(classes)
    return [
        [note for note in finder.find(one.info.path) if note.label in wanted]
        for one in track(annotated.recordings, "recordings")
    ]


def _compared(annotated: TrainingSet, found: list[list[Segment]]) -> list[Compared]:
    return [
        Compared(one.segments, notes, one.info.seconds)
        for one, notes in zip(annotated.recordings, found, strict=True)
    ]


def _saved_recordings(checked: CheckedFinder, folder: Path) -> list[Path]:
    written: list[Path] = []
    recordings = checked.annotated.recordings
    for number, (one, notes) in enumerate(zip(recordings, checked.found, strict=True), start=1):
        stem = re.sub(r"[^\w.-]+", "-", one.info.path.stem)
        path = folder / f"check-{number:02}-{stem}.png"
        save_notes_picture(checked.finder, one.info.path, notes, path, truth=one.segments)
        written.append(path)
    return written


def _saved(figure: Any, path: Path) -> Path:
    save_picture(figure, path)
    return path
