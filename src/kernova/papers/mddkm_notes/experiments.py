"""Experiments with note finding: protocols, false alarms and thresholds.

Three protocols share drawing, training, searching and counting. *Songs*: three classes are learnt
from a few clips each and found in whole songs. *All classes*: every class is learnt from all its
clips. *Back to back*: as in Kalantari, Principe and Sieving, two notes of each of three classes are
learnt, and all others are joined in random order without gaps; most of these are of unknown
classes. False alarms are counted where a class does not occur: in songs from which it was removed,
and in recordings of other birds.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from kernova.audio.annotations.segments import Segment
from kernova.notes.evaluation import Compared, NoteCheck, check_notes, threshold_curve
from kernova.notes.finder import NoteFinder, NoteScan
from kernova.papers.mddkm_notes.data import (
    N_KNOWN,
    SYNTHETIC,
    Clip,
    NoteSet,
    NoteSplit,
    draw_split,
    joined,
    silenced,
    song_clips,
    spaced,
)
from kernova.progress import track

# F of a class by window, by note with its onset within 20 ms, and by note with any onset.
MEASURES: Final = ("window_f", "note_f", "overlap_f")
METHOD_NAMES: Final = {"mddkm": "MDD-KM", "pknn": "PKNN"}
# Seeds that were not used to choose any setting.
FIRST_SEED: Final = 100
SONG_SEEDS: Final = range(FIRST_SEED, FIRST_SEED + 24)
JOINED_SEEDS: Final = range(FIRST_SEED, FIRST_SEED + 20)
TWO_NOTES: Final = 2
MANY_NOTES: Final = 10
THRESHOLDS: Final = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7)
# False alarms and thresholds are measured with the default variant only, and with fewer draws.
_ALARM_FRACTION: Final = 0.5
_CURVE_SEEDS: Final = 3
_FIGURE_SECONDS: Final = 9.0
_COUNTED: Final = ("true", "found", "right")
_WHOLE: Final = ("set", "preset", "method", "note_f", "window_f", "frame_error")
_ALARMS: Final = ("case", "seed", "class", "false", "minutes", "false_per_minute")


class Variant(NamedTuple):
    """Preset and method of a note finder."""

    preset: Literal["song", "paper"] = "song"
    method: Literal["mddkm", "pknn"] = "mddkm"

    def finder(self, threshold: float | None = None) -> NoteFinder:
        """Return an unfitted note finder of this variant."""
        return NoteFinder(preset=self.preset, method=self.method, threshold=threshold)


DEFAULT: Final = Variant("song", "mddkm")
VARIANTS: Final = (
    DEFAULT,
    Variant("song", "pknn"),
    Variant("paper", "mddkm"),
    Variant("paper", "pknn"),
)


class Shown(NamedTuple):
    """A chunk of sound for a figure: its scan, and its true notes."""

    title: str
    scan: NoteScan
    truth: list[Segment]


class NoteResults(NamedTuple):
    """Results of all protocols.

    Attributes
    ----------
    joined : DataFrame
        The paper's protocol: F of each class by window and by note, by set, preset, method, seed.
    confusion : DataFrame
        Of the first seed, with the preset "song": notes by true class and by detected class.
    songs : DataFrame
        Three classes in whole songs, learnt from ten notes each: the same columns.
    whole : DataFrame
        All classes in whole songs: note F, window F and fraction of wrong windows by set and
        variant.
    alarms : DataFrame
        False notes a minute, by case, seed and class.
    sweep, curve : DataFrame
        F in whole songs against the threshold: set before the search, and applied to the scores.
    shown : Shown
        One chunk of sound, for a figure.
    """

    joined: pd.DataFrame
    confusion: pd.DataFrame
    songs: pd.DataFrame
    whole: pd.DataFrame
    alarms: pd.DataFrame
    sweep: pd.DataFrame
    curve: pd.DataFrame
    shown: Shown


def measure(sets: Sequence[NoteSet], n_seeds: int) -> NoteResults:
    """Run every protocol on every set; those on songs only if there are any."""
    seeds = range(FIRST_SEED, FIRST_SEED + n_seeds)
    singing = [notes for notes in sets if notes.songs]
    back_to_back = [_named(back_to_back_protocol(n, w, seeds=seeds), n, w) for n, w in _each(sets)]
    songs = [
        _named(songs_protocol(n, w, _n_each(n), seeds), n, w) for n, w in _each(singing)
    ]  # fmt: skip
    whole = [_whole_line(n, w) for n, w in track(_each(singing), "all classes")]
    few = seeds[: max(1, round(_ALARM_FRACTION * n_seeds))]
    sweeps = [threshold_sweep(n, n_each=_n_each(n), seeds=seeds[:_CURVE_SEEDS]) for n in singing]
    curves = [score_curve(n, n_each=_n_each(n), seeds=seeds[:_CURVE_SEEDS]) for n in singing]
    return NoteResults(
        joined=pd.concat(back_to_back, ignore_index=True),
        confusion=pd.concat([_confusion(notes) for notes in sets], ignore_index=True),
        songs=_together(songs, ("set", "preset", "method", "seed", "class", *MEASURES)),
        whole=pd.DataFrame(whole, columns=_WHOLE),
        alarms=_alarms(sets, few),
        sweep=_of_sets(sweeps, singing),
        curve=_of_sets(curves, singing),
        shown=_shown(singing[0] if singing else sets[0]),
    )


def _each(sets: Sequence[NoteSet]) -> list[tuple[NoteSet, Variant]]:
    return [(notes, variant) for notes in sets for variant in VARIANTS]


def _n_each(notes: NoteSet) -> int:
    return min(MANY_NOTES, *(len(notes.of_class(name)) for name in notes.classes))


def _named(lines: pd.DataFrame, notes: NoteSet, variant: Variant) -> pd.DataFrame:
    names = {"set": notes.name, "preset": variant.preset, "method": METHOD_NAMES[variant.method]}
    return lines.assign(**names)[[*names, *lines.columns]]


def _together(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    if not tables:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(tables, ignore_index=True)


def _of_sets(tables: Sequence[pd.DataFrame], sets: Sequence[NoteSet]) -> pd.DataFrame:
    named = [
        table.assign(set=notes.name)[["set", *table.columns]]
        for table, notes in zip(tables, sets, strict=True)
    ]
    return _together(named, ("set", "threshold", "f", "precision", "recall", "false_per_minute"))


def _whole_line(notes: NoteSet, variant: Variant) -> dict[str, str | float]:
    check = all_classes_check(notes, variant)
    return {
        "set": notes.name,
        "preset": variant.preset,
        "method": METHOD_NAMES[variant.method],
        "note_f": check.note_f,
        "window_f": check.window_f,
        "frame_error": check.frame_error,
    }


def _confusion(notes: NoteSet) -> pd.DataFrame:
    split = draw_split(notes, TWO_NOTES, FIRST_SEED)
    check = check_found(trained_finder(notes, split), [joined(notes, split.rest)])
    lines = check.confusion.rename_axis(index="true").reset_index()
    table = lines.melt("true", var_name="found", value_name="notes")
    return table.assign(set=notes.name)[["set", *table.columns]]


def _alarms(sets: Sequence[NoteSet], seeds: Sequence[int]) -> pd.DataFrame:
    """Count false notes of removed classes, and of each set's classes in the other real sets."""
    tables = []
    for notes in (one for one in sets if one.songs):
        alarms = silenced_false_alarms(notes, n_each=_n_each(notes), seeds=seeds)
        tables.append(alarms.assign(case=f"{notes.name}, one of {N_KNOWN} learnt classes silenced"))
    real = [notes for notes in sets if notes.name != SYNTHETIC]
    for known in real:
        for other in real:
            if other is not known:
                alarms = foreign_false_alarms(
                    known, foreign_clips(other), n_each=_n_each(known), seeds=seeds
                )
                what = "songs" if other.songs else "notes"
                tables.append(
                    alarms.assign(case=f"{known.name}, searched in {what} of {other.name}")
                )
    return _together(tables, _ALARMS)[list(_ALARMS)]


def foreign_clips(notes: NoteSet) -> list[Clip]:
    """Return sounds of another bird to search: its songs, or its clips with gaps between them."""
    return song_clips(notes) if notes.songs else [spaced(notes)]


def _shown(notes: NoteSet) -> Shown:
    """Scan a song for three classes, or notes back to back if there is no song."""
    n_each = _n_each(notes) if notes.songs else TWO_NOTES
    split = draw_split(notes, n_each, FIRST_SEED)
    clip = song_clips(notes)[0] if notes.songs else joined(notes, split.rest)
    name = notes.songs[0].name if notes.songs else "notes back to back"
    scan = trained_finder(notes, split).scan(
        clip.audio, 0.0, min(_FIGURE_SECONDS, clip.audio.seconds)
    )
    title = f"{notes.name}: {name}, with classes {', '.join(split.classes)} learnt"
    return Shown(title, scan, list(clip.notes))


# --- protocols ------------------------------------------------------------------------------------


def trained_finder(
    notes: NoteSet, split: NoteSplit, variant: Variant = DEFAULT, threshold: float | None = None
) -> NoteFinder:
    """Return a note finder that is fitted to the training notes."""
    return variant.finder(threshold).fit(
        [notes.clips[index] for index in split.train],
        [notes.labels[index] for index in split.train],
    )


def check_found(finder: NoteFinder, clips: Iterable[Clip]) -> NoteCheck:
    """Search clips, and compare the detections with the true notes of all of them."""
    compared = [Compared(clip.notes, finder.find(clip.audio), clip.audio.seconds) for clip in clips]
    return check_notes(compared, finder.classes_)


def songs_protocol(
    notes: NoteSet, variant: Variant = DEFAULT, n_each: int = 10, seeds: Sequence[int] = SONG_SEEDS
) -> pd.DataFrame:
    """Learn three classes from a few notes each, and search whole songs.

    Parameters
    ----------
    notes : NoteSet
        With songs.
    variant : Variant
    n_each : int, default=10
        Training notes of each class.
    seeds : sequence of int
        Random seeds of the splits.

    Returns
    -------
    DataFrame
        One line for each seed and class, and for none of the classes: F by window, by note (onsets
        within 20 ms), and by note with any onset.
    """
    songs = song_clips(notes)
    return _lines(
        seeds,
        f"{notes.name}: songs, {variant_label(variant)}",
        lambda seed: _searched(notes, draw_split(notes, n_each, seed), variant, songs),
    )


def all_classes_check(notes: NoteSet, variant: Variant = DEFAULT) -> NoteCheck:
    """Learn every class from all its notes, and search whole songs."""
    finder = variant.finder().fit(list(notes.clips), list(notes.labels))
    return check_found(finder, song_clips(notes))


def back_to_back_protocol(
    notes: NoteSet, variant: Variant = DEFAULT, n_each: int = 2, seeds: Sequence[int] = JOINED_SEEDS
) -> pd.DataFrame:
    """Learn two notes of each of three classes, and search all other notes back to back.

    Parameters
    ----------
    notes : NoteSet
    variant, n_each, seeds
        As for :func:`songs_protocol`.

    Returns
    -------
    DataFrame
        As from :func:`songs_protocol`.
    """

    def one(seed: int) -> NoteCheck:
        split = draw_split(notes, n_each, seed)
        return _searched(notes, split, variant, [joined(notes, split.rest)])

    return _lines(seeds, f"{notes.name}: back to back, {variant_label(variant)}", one)


def variant_label(variant: Variant) -> str:
    """Return the label of a variant.

    Examples
    --------
    >>> from kernova.papers.mddkm_notes.experiments import Variant, variant_label
    >>> variant_label(Variant("paper", "pknn"))
    'preset paper, PKNN'
    """
    return f"preset {variant.preset}, {METHOD_NAMES[variant.method]}"


def seed_means(lines: pd.DataFrame) -> pd.DataFrame:
    """Return F by seed: means over the known classes and, by window, none."""
    return lines.groupby("seed")[[*MEASURES]].mean()


def _searched(
    notes: NoteSet, split: NoteSplit, variant: Variant, clips: Sequence[Clip]
) -> NoteCheck:
    return check_found(trained_finder(notes, split, variant), clips)


def _lines(seeds: Sequence[int], task: str, check: Callable[[int], NoteCheck]) -> pd.DataFrame:
    tables = []
    for seed in track(seeds, task):
        one = check(seed)
        by_window = one.windows[["class", "f"]].rename(columns={"f": "window_f"})
        by_note = one.notes[["class", "f"]].rename(columns={"f": "note_f"})
        by_note = by_note.assign(overlap_f=overlap_f(one))
        both = by_window.merge(by_note, on="class", how="left")
        tables.append(both.assign(seed=seed, frame_error=one.frame_error))
    lines = pd.concat(tables, ignore_index=True)
    return lines[["seed", "class", *MEASURES, "frame_error"]]


def overlap_f(check: NoteCheck) -> list[float]:
    """Return F of each class over notes paired by the largest overlap, with any onset.

    The paper's system detects notes late, and its notes may have been counted in this way.
    """
    right = [int(check.confusion.loc[name, name]) for name in check.notes["class"]]
    counts = (check.notes["true"] + check.notes["found"]).tolist()
    return [2 * n / total if total else 1.0 for n, total in zip(right, counts, strict=True)]


# --- false alarms and thresholds ------------------------------------------------------------------


def silenced_false_alarms(
    notes: NoteSet,
    *,
    n_each: int = 10,
    n_known: int = 3,
    seeds: Sequence[int] = SONG_SEEDS,
    n_silenced: int = 3,
) -> pd.DataFrame:
    """Search songs for a class that was removed from them.

    Parameters
    ----------
    notes, n_each, seeds
        As for :func:`songs_protocol`.
    n_known : int, default=3
        Number of classes to learn.
    n_silenced : int, default=3
        Number of learnt classes to remove, one at a time; the seed determines the first.

    Returns
    -------
    DataFrame
        One line for each seed and removed class: ``false`` notes, ``minutes`` and
        ``false_per_minute``.
    """
    songs = song_clips(notes)
    lines = []
    for seed in track(seeds, f"{notes.name}: silenced classes"):
        split = draw_split(notes, n_each, seed, n_known)
        finder = trained_finder(notes, split)
        for name in np.roll(split.classes, -(seed % n_known))[:n_silenced].tolist():
            without = [silenced(song, name, seed) for song in songs]
            found = [one for song in without for one in finder.find(song.audio)]
            n_false = sum(one.label == name for one in found)
            lines.append(_counted(seed, name, n_false, _minutes(without)))
    return pd.DataFrame(lines)


def foreign_false_alarms(
    known: NoteSet,
    foreign: Sequence[Clip],
    *,
    n_each: int = 10,
    seeds: Sequence[int] = SONG_SEEDS,
) -> pd.DataFrame:
    """Search recordings of other birds, where every detection is false.

    Parameters
    ----------
    known : NoteSet
        The notes to learn, three classes at a time.
    foreign : sequence of Clip
        The sounds to search.
    n_each, seeds
        As for :func:`songs_protocol`.

    Returns
    -------
    DataFrame
        As from :func:`silenced_false_alarms`, one line for each seed and class.
    """
    lines = []
    for seed in track(seeds, f"{known.name}: searched in other birds"):
        split = draw_split(known, n_each, seed)
        finder = trained_finder(known, split)
        found = [one.label for clip in foreign for one in finder.find(clip.audio)]
        minutes = _minutes(foreign)
        lines += [_counted(seed, name, found.count(name), minutes) for name in split.classes]
    return pd.DataFrame(lines)


def threshold_sweep(
    notes: NoteSet,
    *,
    n_each: int = 10,
    seeds: Sequence[int] = SONG_SEEDS[:4],
    thresholds: Iterable[float | None] = (None, *THRESHOLDS),
) -> pd.DataFrame:
    """Search songs with several thresholds, including the default of each class (NaN).

    Returns
    -------
    DataFrame
        One line for each seed and threshold: note F, precision and recall of all notes together,
        and false notes a minute.
    """
    songs = song_clips(notes)
    lines = []
    for seed in track(seeds, f"{notes.name}: thresholds"):
        finder = trained_finder(notes, draw_split(notes, n_each, seed))
        for threshold in thresholds:
            check = check_found(finder.set_params(threshold=threshold), songs)
            true, found, right = (int(check.notes[name].sum()) for name in _COUNTED)
            lines.append(
                {
                    "seed": seed,
                    "threshold": np.nan if threshold is None else threshold,
                    "f": check.note_f,
                    "precision": right / found if found else float(true == 0),
                    "recall": right / true if true else 1.0,
                    "false_per_minute": check.false_per_minute,
                }
            )
    return pd.DataFrame(lines)


def score_curve(
    notes: NoteSet,
    *,
    n_each: int = 10,
    seeds: Sequence[int] = SONG_SEEDS[:4],
    lowest: float = THRESHOLDS[0],
) -> pd.DataFrame:
    """Search songs once with a low threshold, and drop detections by their scores afterwards.

    Classes of different seeds count as different classes.

    Returns
    -------
    DataFrame
        As from :func:`~kernova.notes.evaluation.threshold_curve`.
    """
    songs = song_clips(notes)
    compared: list[Compared] = []
    classes: list[str] = []
    for seed in track(seeds, f"{notes.name}: scores"):
        finder = trained_finder(notes, draw_split(notes, n_each, seed), threshold=lowest)
        for song in songs:
            found = _marked(finder.find(song.audio), seed)
            compared.append(Compared(_marked(song.notes, seed), found, song.audio.seconds))
        classes += [f"{name} ({seed})" for name in finder.classes_]
    return threshold_curve(compared, classes)


def _marked(segments: Iterable[Segment], seed: int) -> list[Segment]:
    return [one._replace(label=f"{one.label} ({seed})") for one in segments]


def _counted(seed: int, name: str, n_false: int, minutes: float) -> dict[str, float | str]:
    return {
        "seed": seed,
        "class": name,
        "false": n_false,
        "minutes": minutes,
        "false_per_minute": n_false / minutes,
    }


def _minutes(clips: Iterable[Clip]) -> float:
    return sum(clip.audio.seconds for clip in clips) / 60
