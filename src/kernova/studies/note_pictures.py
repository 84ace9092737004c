"""Pictures of what was found in a recording, and how."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernova.load.audio import audio_info
from kernova.load.segments import Segment
from kernova.report.figures import plot_notes, save_picture
from kernova.report.notes import STRETCH_SECONDS, busiest_stretch
from kernova.studies.notes import NoteFinder, NoteScan

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
