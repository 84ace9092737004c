"""From marked notes to a model that finds more of them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernova.errors import InputError, ModelFileError
from kernova.persist import load_model
from kernova.studies.note_check import checked_classes
from kernova.studies.note_lessons import Lessons
from kernova.studies.notes import NoteFinder
from kernova.studies.row_tables import json_rows


@dataclass(frozen=True)
class LearntNotes:
    """A model of note classes, and what it was learnt from.

    Attributes
    ----------
    finder : NoteFinder
        Fitted.
    classes : DataFrame
        One line for each class: ``class``, ``notes``, and ``shortest``, ``mean`` and ``longest``,
        the durations of its notes in seconds.
    lessons : Lessons
        The notes.
    """

    finder: NoteFinder
    classes: pd.DataFrame
    lessons: Lessons

    @property
    def summary(self) -> str:
        """Say in one sentence what was learnt."""
        n_classes = len(self.classes)
        n_recordings = sum(bool(one.segments) for one in self.lessons.recordings)
        classes = "1 class was" if n_classes == 1 else f"{n_classes} classes were"
        notes = "1 note" if self.lessons.n_notes == 1 else f"{self.lessons.n_notes} notes"
        recordings = "1 recording" if n_recordings == 1 else f"{n_recordings} recordings"
        return f"{classes} learnt from {notes} in {recordings}."

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
        return {
            "command": "notes learn",
            "summary": self.summary,
            "recordings": [str(one.info.path) for one in self.lessons.recordings if one.segments],
            "sample_rate": int(self.finder.sample_rate_),
            "preset": self.finder.preset,
            "classes": json_rows(self.classes),
            "remarks": self.lessons.remarks,
        }


def learn_notes(lessons: Lessons, finder: NoteFinder | None = None) -> LearntNotes:
    """Fit a finder to marked notes.

    Parameters
    ----------
    lessons : Lessons
        What :func:`~kernova.studies.note_lessons.read_lessons` gave: recordings with notes marked
        in them, or clips of one note each.
    finder : NoteFinder, optional
        To be fitted; one with the default settings if not given.

    Returns
    -------
    LearntNotes
        The fitted finder, and a table of its classes.
    """
    finder = NoteFinder() if finder is None else finder
    names = checked_classes(lessons.labels)
    marked = [one for one in lessons.recordings if one.segments]
    if all(one.is_clip for one in marked):
        finder.fit([one.info.path for one in marked], [one.segments[0].label for one in marked])
    else:
        finder.fit_recordings([(one.info.path, one.segments) for one in marked])
    return LearntNotes(finder, _class_table(lessons, names), lessons)


def _class_table(lessons: Lessons, names: Sequence[str]) -> pd.DataFrame:
    durations: dict[str, list[float]] = {name: [] for name in names}
    for one in lessons.recordings:
        for note in one.segments:
            durations[note.label].append(note.end - note.start)
    return pd.DataFrame(
        {
            "class": list(names),
            "notes": [len(durations[name]) for name in names],
            "shortest": [min(durations[name]) for name in names],
            "mean": [float(np.mean(durations[name])) for name in names],
            "longest": [max(durations[name]) for name in names],
        }
    )


def load_note_finder(path: str | os.PathLike[str]) -> NoteFinder:
    """Load a model that ``kernova notes learn`` wrote, or say that the file holds another."""
    finder = load_model(path)
    if not isinstance(finder, NoteFinder):
        raise ModelFileError(
            f"{Path(path)} holds a {type(finder).__name__}, which finds no notes. Name a file that "
            "kernova notes learn wrote."
        )
    return finder


def known_labels(finder: NoteFinder, labels: Sequence[str] | None) -> list[str]:
    """Give the classes asked for, all if none were, or say that one was never learnt."""
    classes = [str(name) for name in finder.classes_]
    for label in labels or ():
        if label not in classes:
            raise InputError(
                f"The model knows no class {label!r}. Its classes are "
                f"{', '.join(map(repr, classes))}."
            )
    return classes if labels is None else [name for name in classes if name in set(labels)]
