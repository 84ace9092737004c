"""Finding notes, as one page for people."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from kernova.report.page import Section, facts, page, paragraph, picture, table
from kernova.studies.mddkm_note_claims import DOES_NOT_HOLD, NOT_REPRODUCED
from kernova.studies.note_protocols import MEASURES
from kernova.studies.reproduce_mddkm_notes import NoteReproduction
from kernova.studies.reproduction_files import write_reproduction


def notes_page(result: NoteReproduction, pictures: Mapping[str, bytes]) -> str:
    """Give the page: claims first, then what stands behind them."""
    return page(
        "Known notes among others: what is said, and what comes out",
        [
            _claims(result),
            _table_two(result, pictures["f-by-class"]),
            _table_one(result),
            _songs(result, pictures),
        ],
        lead="Kalantari, Principe and Sieving, Uncertainty quantification for multiclass data "
        "description.",
        footer=f"Made by kernova reproduce mddkm, with {result.seeds} "
        f"{'seed' if result.seeds == 1 else 'seeds'}.",
    )


def save_everything(result: NoteReproduction, folder: Path) -> list[Path]:
    """Write the page, a table (CSV) and a picture (PNG) of everything; give the paths."""
    return write_reproduction(result, notes_page, folder)


def _claims(result: NoteReproduction) -> Section:
    claims = result.table()
    verdicts = claims["verdict"].str.split(":").str[0].value_counts()
    return Section(
        "What holds",
        [
            facts({"claims": len(claims), **{str(name): n for name, n in verdicts.items()}}),
            *(paragraph(note) for note in result.notes),
            table(
                claims,
                "What is said, and what came out here",
                marked=claims["verdict"].isin([NOT_REPRODUCED, DOES_NOT_HOLD]),
            ),
        ],
    )


def _table_two(result: NoteReproduction, png: bytes) -> Section:
    means = result.tables()["classes"]
    return Section(
        "Table 2: notes back to back",
        [
            "F by window (the known classes and none of them) / by note (the known classes, onsets "
            "within 20 ms), means over seeds, and the p-value of the paired t-test over seeds by "
            "window / by note. The paper prints .85 / .91 for MDD-KM, .83 / .90 for PKNN, and "
            "p = .003 / .386.",
            table(result.comparison(), "F by window / by note"),
            table(
                result.means()[["set", "preset", "method", *MEASURES]],
                "The same with notes paired by the largest overlap, wherever they begin "
                "(overlap_f)",
                dict.fromkeys(MEASURES, ".3f"),
            ),
            picture(png, "F of each class by set, preset and method, by window and by note."),
            table(
                means,
                "F of each class, means over the seeds that drew it",
                dict.fromkeys(MEASURES, ".3f"),
            ),
        ],
    )


def _table_one(result: NoteReproduction) -> Section:
    confusion = result.results.confusion
    parts = []
    for name, lines in confusion.groupby("set", sort=False):
        wide = lines.pivot_table("notes", index="true", columns="found", sort=False)
        parts.append(table(_counted(wide), f"{name}: true class by what was found"))
    return Section(
        "Table 1: which notes are taken for which",
        [
            "Of the first seed, with the preset song and MDD-KM: notes paired by the largest "
            'overlap. Foreign notes belong to "none".',
            *parts,
        ],
    )


def _counted(wide: pd.DataFrame) -> pd.DataFrame:
    return wide.astype(int).rename_axis(columns=None).reset_index()


def _songs(result: NoteReproduction, pictures: Mapping[str, bytes]) -> Section:
    shown = picture(
        pictures["song"],
        "Sound, scores of the learnt classes, and notes found and annotated.",
        "Sound, scores of three learnt classes, and what was found.",
    )
    if "thresholds" not in pictures:
        return Section("One stretch as it was heard", [shown])
    alarms = result.results.alarms
    cases = alarms.groupby("case", sort=False)["false_per_minute"].agg(["mean", "max"])
    return Section(
        "Whole songs",
        [
            "Three classes learnt from ten notes each: mean note F over seeds, and the worst seed. "
            "All classes, each learnt from all its notes: mean note F of the classes, and the "
            "share of wrong windows.",
            table(result.song_comparison(), "Note F in whole songs"),
            shown,
            "Where a learnt class does not occur, whatever is found of it is false: its notes "
            "were replaced by the song's own quiet, or other birds were searched.",
            table(
                cases.reset_index(),
                "False notes of a class a minute",
                dict.fromkeys(("mean", "max"), ".2f"),
            ),
            picture(
                pictures["thresholds"],
                "Note F against the least score of a note.",
                "By default each class has its own threshold, from the recording itself.",
            ),
        ],
    )
