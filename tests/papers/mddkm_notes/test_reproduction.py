"""Reproduction of MDD-KM on notes: one small run, its command, and claims."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.errors import InputError
from kernova.papers.mddkm_notes import reproduce_mddkm_notes, reproduction
from kernova.papers.mddkm_notes.experiments import VARIANTS
from kernova.papers.mddkm_notes.report import save_report
from kernova.papers.mddkm_notes.reproduction import (
    class_means,
    means_of,
    paired_p_value,
    paired_tests,
    seed_table,
)
from kernova.report.page import escaped
from tests.notes.made_up_birds import bird, plain_set, write_set
from tests.papers import messages

SAME_TABLES = (
    "claims", "means", "classes", "paired-tests", "confusion", "runs", "songs", "all-classes",
    "false-alarms", "thresholds", "score-curve",
)  # fmt: skip


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    """A folder with two small made-up birds, one of them with a song."""
    folder = tmp_path_factory.mktemp("data")
    silent = bird("warbler_flight_calls", ("fall", "hiss", "hill", "rasp"), n_each=4)
    singing = bird("wren", ("rise", "hill", "low stack", "high stack"), n_each=4, n_songs=1)
    for one in (silent, singing):
        write_set(one, folder / "notes" / one.name)
    return folder


@pytest.fixture(scope="module")
def study(birds):
    return reproduce_mddkm_notes(birds, seeds=2)


def test_every_set_is_searched_with_every_variant(study):
    assert study.sets == ("warblers", "wren", "synthetic")
    runs = study.results.joined
    # Three classes and none of them, twice.
    assert (runs.groupby(["set", "preset", "method"]).size() == 8).all()
    assert len(runs) == 3 * len(VARIANTS) * 8
    assert runs["window_f"].between(0, 1).all()
    assert runs.loc[runs["class"] != "none", "note_f"].between(0, 1).all()
    assert set(study.results.songs["set"]) == {"wren"} == set(study.results.whole["set"])
    assert len(study.results.whole) == len(VARIANTS)
    assert list(dict.fromkeys(study.results.alarms["case"])) == [
        "wren, one of 3 learnt classes silenced",
        "warblers, searched in songs of wren",
        "wren, searched in notes of warblers",
    ]


def test_the_confusion_holds_all_notes_of_the_first_seed(study):
    confusion = study.results.confusion
    of = confusion[confusion["set"] == "synthetic"]
    true = of[of["true"] != "none"].groupby("true")["notes"].sum()
    assert true.sum() == 50
    assert sorted(true) == [5, 5, 5, 7, 7, 7, 7, 7]


def test_means_are_taken_over_classes_and_then_over_seeds(study):
    runs = study.results.joined
    of = runs[(runs["set"] == "wren") & (runs["preset"] == "paper") & (runs["method"] == "PKNN")]
    by_seed = [of[of["seed"] == seed]["window_f"].mean() for seed in (100, 101)]
    means = means_of(runs).set_index(["set", "preset", "method"])
    assert means.loc[("wren", "paper", "PKNN"), "window_f"] == pytest.approx(np.mean(by_seed))
    assert means.loc[("wren", "paper", "PKNN"), "worst_window_f"] == pytest.approx(min(by_seed))
    assert len(seed_table(runs)) == 3 * len(VARIANTS) * 2
    classes = class_means(runs)
    assert classes.loc[classes["class"] == "none", "seeds"].eq(2).all()


def test_tables_json_and_page_fit_together(study, tmp_path):
    answer = json.loads(json.dumps(study.to_json_dict(), allow_nan=False))
    assert len(answer["runs"]) == len(study.results.joined)
    assert answer["first_seed"] == 100
    written = save_report(study, tmp_path)
    assert {path.name for path in written} == {path.name for path in tmp_path.iterdir()} == {
        "report.html", "f-by-class.png", "song.png", "thresholds.png",
        *(f"{name}.csv" for name in SAME_TABLES),
    }  # fmt: skip
    html = (tmp_path / "report.html").read_text()
    assert html.count("<img ") == 3
    for text in [*study.table()["claim"], *study.notes]:
        assert escaped(text) in html
    assert "Made by kernova reproduce mddkm, with 2 seeds." in html
    assert study.notes[-1] == messages.MISSING_SETS.format(names="finch (bengalese_finch_bird0)")
    table = study.song_comparison()
    assert list(table.columns) == [
        "set", "preset", "method", "three classes", "all classes", "wrong windows",
    ]  # fmt: skip
    assert not table.isna().any().any()


def test_the_command_needs_no_data(tmp_path):
    target = tmp_path / "deep" / "mddkm"
    result = CliRunner().invoke(app, ["reproduce", "mddkm", "--seeds", "1", "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "two notes of each class suffice" in result.stdout
    assert "Notes back to back: F by window / by note" in result.stdout
    assert "Whole songs" not in result.stdout
    for sentence in (
        messages.MISSING_SETS.format(
            names="finch (bengalese_finch_bird0), warblers (warbler_flight_calls)"
        ),
        messages.NO_SET_WITH_SONGS,
    ):
        assert sentence in result.stdout
    numbers = json.loads((target / "mddkm.json").read_text())
    assert numbers["sets"] == ["synthetic"]
    assert numbers["songs"] == numbers["false_alarms"] == []
    assert len(pd.read_csv(target / "runs.csv")) == 4 * len(VARIANTS)
    assert (target / "report.html").is_file()
    assert (target / "song.png").is_file()
    assert not (target / "thresholds.png").exists()


def test_the_command_rejects_a_missing_folder(tmp_path):
    options = ["--data", str(tmp_path / "nowhere"), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["reproduce", "mddkm", *options])
    assert result.exit_code == 2
    sentence = messages.NO_FOLDER.format(folder=tmp_path / "nowhere", content="notes")
    assert result.stderr == f"kernova: {sentence}\n"


def test_no_seeds_are_rejected():
    with pytest.raises(InputError) as caught:
        reproduce_mddkm_notes(seeds=0)
    assert str(caught.value) == messages.BAD_COUNT.format(name="seeds", least=1, value=0)


def test_a_bird_of_too_few_classes_is_rejected(tmp_path):
    write_set(plain_set(names="ab"), tmp_path / "wren")
    with pytest.raises(InputError) as caught:
        reproduce_mddkm_notes(tmp_path, seeds=1)
    assert str(caught.value) == messages.FEW_CLASSES.format(name="wren", n=2)


@pytest.mark.parametrize(
    ("ours", "theirs", "p"),
    [([0.5], [0.4], 1.0), ([0.5, 0.5], [0.5, 0.5], 1.0), ([0.5, 0.5], [0.4, 0.4], 0.0)],
)
def test_p_values_where_nothing_varies(ours, theirs, p):
    assert paired_p_value(ours, theirs) == p


def test_p_values_are_those_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(0.85, 0.05, 20), rng.normal(0.83, 0.05, 20)
    gaps = ours - theirs
    t = gaps.mean() / (gaps.std(ddof=1) / np.sqrt(20))
    assert paired_p_value(ours, theirs) == pytest.approx(2 * stats.t.sf(abs(t), 19))


def joined_like(mddkm, pknn, n_seeds=8):
    """Runs of one set and preset with these F by window, note F a little more, and some noise."""
    noise = np.random.default_rng(0).normal(0, 0.01, n_seeds)
    rows = []
    for seed in range(n_seeds):
        for method, f in (("MDD-KM", mddkm), ("PKNN", pknn + noise[seed])):
            for name in ("a", "b", "none"):
                note_f = np.nan if name == "none" else f + 0.02
                rows.append(("wren", "song", method, seed, name, f, note_f, note_f))
    columns = ["set", "preset", "method", "seed", "class", "window_f", "note_f", "overlap_f"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize(
    ("mddkm", "pknn", "n_seeds", "window", "note"),
    [
        (0.85, 0.80, 8, "reproduced", "not reproduced"),
        (0.85, 0.85, 8, "not reproduced", "reproduced"),
        (0.80, 0.85, 8, "not reproduced", "not reproduced"),
        (0.85, 0.80, 4, "too few seeds to say", "too few seeds to say"),
    ],
)
def test_differences_are_judged_by_their_p_values(mddkm, pknn, n_seeds, window, note):
    runs = joined_like(mddkm, pknn, n_seeds)
    tests = paired_tests(runs)
    assert reproduction.window_claim(tests, "song", n_seeds).verdict == window
    assert reproduction.note_claim(tests, "song", n_seeds).verdict == note
    difference = float(tests["window_lead"].iloc[0])
    assert difference == pytest.approx(mddkm - pknn, abs=0.02)
    assert reproduction.window_claim(tests, "song", n_seeds).ours.startswith(
        f"{difference:+.3f}, p = "
    )


def test_levels_must_be_reached_by_window_and_by_note():
    means = pd.DataFrame(
        {
            "set": ["finch", "wren"], "preset": "song", "method": "MDD-KM",
            "window_f": [0.85, 0.79], "note_f": [0.84, 0.9],
        }
    )  # fmt: skip
    claim = reproduction.level_claim(means, "song", "MDD-KM")
    assert claim.verdict == "partly: on 1 of 2 sets"
    assert claim.ours == "0.850 / 0.840 finch; 0.790 / 0.900 wren"
    assert claim.paper == "0.85 / 0.91"
    assert reproduction.level_claim(means.iloc[:1], "song", "MDD-KM").verdict == "reproduced"
    assert reproduction.level_claim(means.iloc[1:], "song", "MDD-KM").verdict == "not reproduced"


@pytest.mark.parametrize(
    ("rates", "verdict", "ours"),
    [
        ([0.0, 2.0], "holds", "1.00 on average, 2.00 at worst"),
        ([1.5, 0.6], "does not hold", "1.05 on average, 1.50 at worst"),
    ],
)
def test_false_alarms_are_judged_on_average(rates, verdict, ours):
    (claim,) = reproduction.alarm_claims(pd.DataFrame({"case": "wren", "false_per_minute": rates}))
    assert (claim.verdict, claim.ours) == (verdict, ours)


@pytest.mark.parametrize(
    ("by_seed", "whole", "verdicts"),
    [
        ([0.94, 0.96], (0.97, 0.035), ["holds", "holds"]),
        ([0.84, 0.98], (0.98, 0.05), ["does not hold", "partly: one of the two"]),
        ([0.99, 1.0, 1.0, 0.84], (0.9, 0.1), ["partly: one of the two", "does not hold"]),
    ],
)
def test_whole_songs_are_judged_by_mean_and_worst(study, by_seed, whole, verdicts):
    named = {"set": "wren", "preset": "song", "method": "MDD-KM"}
    songs = pd.DataFrame(
        {
            **named, "seed": range(len(by_seed)), "class": "a", "window_f": 1.0, "note_f": by_seed,
            "overlap_f": 1.0,
        }
    )  # fmt: skip
    every = pd.DataFrame([{**named, "note_f": whole[0], "window_f": 1.0, "frame_error": whole[1]}])
    results = study.results._replace(songs=songs, whole=every)
    assert [claim.verdict for claim in reproduction.song_claims(results)] == verdicts


def test_notes_of_other_classes_are_judged_with_the_default_variant():
    runs = joined_like(0.9, 0.5)
    claim = reproduction.none_claim(class_means(runs))
    assert (claim.verdict, claim.ours, claim.paper) == ("reproduced", "0.900 wren", "0.89")
