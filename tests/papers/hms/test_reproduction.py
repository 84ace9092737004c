"""Reproduction of the HMS paper: claims follow the results, and one small run is consistent."""

import json

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.papers.hms import reproduce_hms, reproduction
from kernova.papers.hms.experiments import (
    BEST_INTERLEAVE,
    CI,
    CI_HAD,
    HIERARCHICAL,
    INTERLEAVE,
    METHODS,
    MS_INTERLEAVE,
    NNDM,
    OUT,
    OUT_HAD,
    RANDOM,
    SET_NAMES,
    SetResults,
)
from kernova.papers.hms.report import figures_of, save_report
from kernova.report.page import Html
from tests.papers import messages
from tests.papers.stand_ins import verdicts, write_hms_sets


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_hms_sets(folder)
    return reproduce_hms(folder, sets=["segment", "yeast"], seeds=2, quick=True)


def test_every_method_runs_on_every_draw(study):
    runs = study.results.runs
    counts = runs.groupby(["set", "method"]).size()
    for method in METHODS:
        per_draw = 3 if method in (INTERLEAVE, RANDOM) else 1
        assert counts["segment", method] == 2 * per_draw
        assert counts["yeast", method] == per_draw  # used whole, so drawn once
    assert set(runs.loc[runs["set"] == "segment", "classes"]) == {7}
    finished = runs[runs["method"].isin([OUT, CI, OUT_HAD, CI_HAD, RANDOM])]
    assert np.isfinite(finished["questions"]).all()


def test_the_best_interleave_is_the_best_of_its_starts(study):
    runs = study.results.runs
    for _, lines in runs.groupby(["set", "seed"]):
        starts = lines[lines["method"] == INTERLEAVE]
        best = lines[lines["method"] == BEST_INTERLEAVE]["questions"].item()
        assert best == starts["questions"].min()


def test_curves_are_those_of_the_runs(study):
    runs = study.results.runs
    for (name, method), curves in study.results.curves.items():
        lines = runs[(runs["set"] == name) & (runs["method"] == method)]
        assert len(curves) == len(lines)
        for curve, questions, n_classes in zip(
            curves, lines["questions"], lines["classes"], strict=True
        ):
            assert (len(curve) == questions) == (curve[-1] == n_classes)


def test_growth_and_references_contain_the_main_runs(study):
    runs, keys = study.results.runs, ["set", "seed", "method"]
    # Strategies that ask about every draw once; those with several starts have several lines.
    of_hierarchy = runs[runs["method"].isin(HIERARCHICAL)]
    main = of_hierarchy.set_index(keys)["questions"]
    assert main.index.is_unique
    growth, references = study.results.growth, study.results.references
    assert set(growth["growth"]) == {1.1, 1.5}
    assert set(references["reference"]) == {"data", "weighted"}
    for lines in (
        growth[growth["growth"] == 1.1],
        references[references["reference"] == "data"],
    ):
        for line in lines.to_dict("records"):
            assert line["questions"] == main[line["set"], line["seed"], line["method"]]
    assert (growth["hierarchy_seconds"] > 0).all()
    assert (references["seconds"] > 0).all()


def test_tables_and_json_are_plain(study):
    tables = study.tables()
    assert tables["questions"]["set"].tolist() == ["segment", "yeast"]
    assert tables["questions"].columns.tolist() == ["set", *METHODS]
    assert tables["areas"].drop(columns="set").to_numpy(dtype=float).min() > 0
    answer = json.loads(json.dumps(study.to_json_dict(), allow_nan=False))
    assert answer["seeds"] == [0, 1]
    assert len(answer["runs"]) == len(study.results.runs)


def test_there_is_a_figure_for_every_set_and_for_growth(study):
    assert set(figures_of(study)) == {"curves-segment", "curves-yeast", "growth"}


def test_everything_is_written(study, tmp_path):
    written = save_report(study, tmp_path)
    assert {path.name for path in written} == {path.name for path in tmp_path.iterdir()}
    html = (tmp_path / "report.html").read_text()
    assert html.count("<img ") == 3
    for claim in study.table()["claim"]:
        assert Html(claim[:40]) in html
    assert "Made by kernova reproduce hms, with 2 draws" in html


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seeds": 0}, messages.BAD_COUNT.format(name="seeds", least=1, value=0)),
        ({"starts": 0}, messages.BAD_COUNT.format(name="starts", least=1, value=0)),
        (
            {"sets": ["iris"]},
            messages.NO_DATA_SET.format(name="iris", known=", ".join(SET_NAMES)),
        ),
    ],
)
def test_bad_input_is_rejected(options, sentence, tmp_path):
    with pytest.raises(InputError) as caught:
        reproduce_hms(tmp_path, **options)
    assert str(caught.value) == sentence


# --- claims ---------------------------------------------------------------------------------------


GOOD = {
    "abalone": {OUT: 480, CI: 510, OUT_HAD: 70, CI_HAD: 60, NNDM: 140, BEST_INTERLEAVE: 80},
    "shuttle": {OUT: 38, CI: 40, OUT_HAD: 30, CI_HAD: 35, NNDM: 200, BEST_INTERLEAVE: 37},
    "segment": {OUT: 25, CI: 17, OUT_HAD: 22, CI_HAD: 20, NNDM: 43, BEST_INTERLEAVE: 26},
    "yeast": {OUT: 30, CI: 29, OUT_HAD: 30, CI_HAD: 28, NNDM: 86, BEST_INTERLEAVE: 31},
    "letter": {OUT: 200, CI: 108, OUT_HAD: 229, CI_HAD: 119, NNDM: 281, BEST_INTERLEAVE: 258},
    "optdigits": {OUT: 78, CI: 73, OUT_HAD: 75, CI_HAD: 73, NNDM: 144, BEST_INTERLEAVE: 80},
}


def questions_like(changes=None):
    table = pd.DataFrame(GOOD, dtype=float).T
    table[INTERLEAVE] = 2 * table[BEST_INTERLEAVE]
    table[MS_INTERLEAVE] = 300.0
    for (name, method), value in (changes or {}).items():
        table.loc[name, method] = value
    return table


def test_comparisons_count_sets_that_beat_both_baselines():
    assert verdicts(reproduction.comparison_claims(questions_like())) == ["reproduced"] * 2
    worse = questions_like({("yeast", CI): 40, ("yeast", OUT): 31, ("letter", CI_HAD): 270})
    first, second = reproduction.comparison_claims(worse)
    assert first.ours.startswith("3 of 6: abalone 480 against 80, ")
    assert "yeast 31 against 31" in first.ours  # as many is not fewer
    assert first.verdict == "partly: on half"
    assert second.verdict == "reproduced"
    lost = questions_like({("abalone", CI_HAD): 99, ("abalone", OUT_HAD): 80})
    assert verdicts(reproduction.comparison_claims(lost))[1] == "partly: on most"
    hopeless = questions_like({(name, CI_HAD): np.inf for name in GOOD})
    hopeless[[OUT, CI, OUT_HAD]] = np.inf
    assert verdicts(reproduction.comparison_claims(hopeless)) == ["not reproduced"] * 2
    assert "abalone over 400 against 80" in reproduction.comparison_claims(hopeless)[0].ours


@pytest.mark.parametrize(("best", "verdict"), [(37, "reproduced"), (36, "not reproduced")])
def test_shuttle_within_one_question(best, verdict):
    table = questions_like({("shuttle", BEST_INTERLEAVE): best})
    assert verdicts(reproduction.shuttle_claim(table)) == [verdict]
    assert reproduction.shuttle_claim(table.drop("shuttle")) == []


def test_ci_against_outlierness():
    good = questions_like({("abalone", CI): 400})
    assert verdicts(reproduction.criterion_claims(good)) == ["reproduced"] * 2
    assert verdicts(reproduction.criterion_claims(questions_like()))[0] == "partly: on 4 of 6 sets"
    also = questions_like({("abalone", CI): 400, ("shuttle", CI): 20})
    assert verdicts(reproduction.criterion_claims(also))[0] == "partly: on 6 of 6 sets"
    none = questions_like({(name, CI): 999 for name in GOOD})
    assert verdicts(reproduction.criterion_claims(none))[0] == "not reproduced"


def results_with(curves=None, growth=None, modes=None):
    empty = pd.DataFrame()
    return SetResults(empty, curves or {}, empty if growth is None else growth, empty, modes)


def test_abalone_is_judged_by_the_questions_to_18_and_17_classes():
    curves = {
        ("abalone", name): [np.minimum(20, np.arange(1, 400) // pace)]
        for name, pace in ((CI, 3), (OUT, 5), (NNDM, 4), (BEST_INTERLEAVE, 6))
    }
    claims = reproduction.abalone_claims(results_with(curves), questions_like())
    assert verdicts(claims) == ["reproduced", "partly: than one of them", "reproduced"]
    assert claims[0].ours == f"{CI} 54, {NNDM} 72, {BEST_INTERLEAVE} 108"
    soon = questions_like({("abalone", CI): 200})
    assert verdicts(reproduction.abalone_claims(results_with(curves), soon))[2] == (
        "partly: it needs less than half"
    )
    no_help = questions_like({("abalone", CI_HAD): 300})
    last = reproduction.abalone_claims(results_with(curves), no_help)[2]
    assert last.verdict == "not reproduced"
    assert last.ours == "510 without, 300 with"


def growth_like(questions, seconds):
    return pd.DataFrame(
        {
            "set": "segment",
            "growth": [1.1, 1.5, 1.9],
            "method": CI_HAD,
            "questions": np.array(questions, dtype=float),
            "hierarchy_seconds": np.array(seconds) - 0.5,
            "asking_seconds": 0.5,
        }
    )


@pytest.mark.parametrize(
    ("questions", "seconds", "expected"),
    [
        ((20, 25, 30), (3, 1, 2), ["reproduced", "reproduced"]),
        ((20, 25, 31), (3, 2, 1), ["not reproduced", "partly: it falls only"]),
        ((20, 20, np.inf), (1, 2, 3), ["not reproduced", "not reproduced"]),
    ],
)
def test_growth_matters_little_and_time_falls_then_rises(questions, seconds, expected):
    claims = reproduction.growth_claims(growth_like(questions, seconds))
    assert verdicts(claims) == expected
    assert f"{seconds[1]:.1f} s at 1.5" in claims[1].ours


def test_interleave_is_judged_by_starts_and_clusters():
    modes = pd.DataFrame({"set": list(GOOD), "classes": 10, "clusters": [100] * 4 + [20, 5]})
    claims = reproduction.interleave_claims(results_with(modes=modes), questions_like())
    assert verdicts(claims) == ["reproduced"] * 3
    steady = questions_like()
    steady[INTERLEAVE] = 1.5 * steady[BEST_INTERLEAVE]
    steady.loc["yeast", INTERLEAVE] = np.inf
    steady[MS_INTERLEAVE] = 21.0
    few = modes.assign(clusters=[20] * 5 + [21])
    assert verdicts(reproduction.interleave_claims(results_with(modes=few), steady)) == [
        "partly: on some sets",
        "partly: on some sets",
        "not reproduced",
    ]
