"""Everything that is measured of finding notes, for every set, preset and method."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from kernova.audio.annotations.segments import Segment
from kernova.notes.finder import NoteScan
from kernova.papers.mddkm_notes.data import SYNTHETIC, NoteSet
from kernova.papers.mddkm_notes.protocols import (
    FIRST_SEED,
    MEASURES,
    N_KNOWN,
    WAYS,
    Clip,
    Way,
    all_classes_check,
    back_to_back_protocol,
    check_found,
    draw,
    foreign_false_alarms,
    joined,
    score_curve,
    silenced_false_alarms,
    song_clips,
    songs_protocol,
    spaced,
    taught_finder,
    threshold_sweep,
)
from kernova.progress import track

METHOD_NAMES: Final = {"mddkm": "MDD-KM", "pknn": "PKNN"}
TWO_NOTES: Final = 2
MANY_NOTES: Final = 10
# False alarms and thresholds are looked at with the default way only, and with fewer draws.
_ALARM_SHARE: Final = 0.5
_CURVE_SEEDS: Final = 3
_PICTURE_SECONDS: Final = 9.0
_WHOLE: Final = ("set", "preset", "method", "note_f", "window_f", "frame_error")
_ALARMS: Final = ("case", "seed", "class", "false", "minutes", "false_per_minute")


class Shown(NamedTuple):
    """A stretch of sound for a picture: what was heard in it, and what is in it."""

    title: str
    scan: NoteScan
    truth: list[Segment]


class NoteResults(NamedTuple):
    """All that was measured.

    Attributes
    ----------
    joined : DataFrame
        The paper's protocol: F of each class by window and by note, by set, preset, method, seed.
    confusion : DataFrame
        Of its first seed, with the preset "song": notes by true class and by what was found.
    songs : DataFrame
        Three classes in whole songs, learnt from ten notes each: the same columns.
    whole : DataFrame
        All classes in whole songs: note F, window F and share of wrong windows by set and way.
    alarms : DataFrame
        False notes a minute, by case, seed and class.
    sweep, curve : DataFrame
        F in whole songs against the threshold, set before searching and applied to the scores.
    shown : Shown
        One stretch, for a picture.
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
    """Run every protocol on every set that has what it needs."""
    seeds = range(FIRST_SEED, FIRST_SEED + n_seeds)
    singing = [notes for notes in sets if notes.songs]
    back_to_back = [_named(back_to_back_protocol(n, w, seeds=seeds), n, w) for n, w in _each(sets)]
    songs = [
        _named(songs_protocol(n, w, _n_each(n), seeds), n, w) for n, w in _each(singing)
    ]  # fmt: skip
    whole = [_whole_line(n, w) for n, w in track(_each(singing), "all classes")]
    few = seeds[: max(1, round(_ALARM_SHARE * n_seeds))]
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


def _each(sets: Sequence[NoteSet]) -> list[tuple[NoteSet, Way]]:
    return [(notes, way) for notes in sets for way in WAYS]


def _n_each(notes: NoteSet) -> int:
    return min(MANY_NOTES, *(len(notes.of_class(name)) for name in notes.classes))


def _named(lines: pd.DataFrame, notes: NoteSet, way: Way) -> pd.DataFrame:
    names = {"set": notes.name, "preset": way.preset, "method": METHOD_NAMES[way.method]}
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


def _whole_line(notes: NoteSet, way: Way) -> dict[str, str | float]:
    check = all_classes_check(notes, way)
    return {
        "set": notes.name,
        "preset": way.preset,
        "method": METHOD_NAMES[way.method],
        "note_f": check.note_f,
        "window_f": check.window_f,
        "frame_error": check.frame_error,
    }


def _confusion(notes: NoteSet) -> pd.DataFrame:
    lot = draw(notes, TWO_NOTES, FIRST_SEED)
    check = check_found(taught_finder(notes, lot, WAYS[0]), [joined(notes, lot.others)])
    lines = check.confusion.rename_axis(index="true").reset_index()
    table = lines.melt("true", var_name="found", value_name="notes")
    return table.assign(set=notes.name)[["set", *table.columns]]


def _alarms(sets: Sequence[NoteSet], seeds: Sequence[int]) -> pd.DataFrame:
    """Count false notes of silenced classes, and of each set's classes in the other real sets."""
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
    """Give what another bird's notes are searched in: songs, or clips with quiet between them."""
    return song_clips(notes) if notes.songs else [spaced(notes)]


def _shown(notes: NoteSet) -> Shown:
    """Hear a song with three classes known, or notes back to back where there is no song."""
    n_each = _n_each(notes) if notes.songs else TWO_NOTES
    lot = draw(notes, n_each, FIRST_SEED)
    clip = song_clips(notes)[0] if notes.songs else joined(notes, lot.others)
    name = notes.songs[0].name if notes.songs else "notes back to back"
    scan = taught_finder(notes, lot, WAYS[0]).scan(
        clip.audio, 0.0, min(_PICTURE_SECONDS, clip.audio.seconds)
    )
    title = f"{notes.name}: {name}, with classes {', '.join(lot.classes)} learnt"
    return Shown(title, scan, list(clip.notes))


def seed_table(lines: pd.DataFrame) -> pd.DataFrame:
    """Give F by set, preset, method and seed: means over the classes (windows: and none)."""
    keys = ["set", "preset", "method", "seed"]
    return lines.groupby(keys, sort=False)[[*MEASURES]].mean().reset_index()


def means_of(lines: pd.DataFrame) -> pd.DataFrame:
    """Give F by set, preset and method: mean, deviation and worst over seeds."""
    by_seed = seed_table(lines).groupby(["set", "preset", "method"], sort=False)
    means = by_seed[[*MEASURES]].mean()
    return means.assign(
        window_deviation=by_seed["window_f"].std(ddof=1),
        note_deviation=by_seed["note_f"].std(ddof=1),
        worst_window_f=by_seed["window_f"].min(),
        worst_note_f=by_seed["note_f"].min(),
    ).reset_index()


def class_means(lines: pd.DataFrame) -> pd.DataFrame:
    """Give F by set, preset, method and class: means over the seeds that drew the class."""
    keys = ["preset", "method", "class"]
    tables = []
    for name, of in lines.groupby("set", sort=False):
        by_class = of.groupby(keys)
        means = by_class[[*MEASURES]].mean().assign(seeds=by_class["seed"].nunique())
        tables.append(means.reset_index().assign(set=name)[["set", *keys, *MEASURES, "seeds"]])
    return pd.concat(tables, ignore_index=True)


def paired_p_value(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Give the p-value of the paired t-test, two-sided; 1 where nothing ever differs.

    Examples
    --------
    >>> from kernova.papers.mddkm_notes.experiments import paired_p_value
    >>> round(paired_p_value([0.8, 0.9, 0.85], [0.7, 0.85, 0.8]), 3)
    0.057
    """
    from scipy.stats import ttest_rel

    gaps = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if len(gaps) < 2 or np.ptp(gaps) < 1e-12:
        # One pair says nothing; gaps that are all the same say so only if they are not nothing.
        return 1.0 if len(gaps) < 2 or abs(float(gaps[0])) < 1e-12 else 0.0
    return float(ttest_rel(ours, theirs).pvalue)


def paired_tests(lines: pd.DataFrame) -> pd.DataFrame:
    """Hold MDD-KM against PKNN, seed by seed: the mean lead and its p-value."""
    rows = []
    for (name, preset), group in seed_table(lines).groupby(["set", "preset"], sort=False):
        row: dict[str, object] = {"set": name, "preset": preset}
        for unit in ("window", "note"):
            wide = group.pivot_table(f"{unit}_f", index="seed", columns="method")
            ours, theirs = (wide[method].tolist() for method in METHOD_NAMES.values())
            row[f"{unit}_lead"] = float(np.mean(ours) - np.mean(theirs))
            row[f"{unit}_p"] = paired_p_value(ours, theirs)
        rows.append(row)
    return pd.DataFrame(rows)
