"""Reproduction of the RKOF paper: claims follow the results, and one small run is consistent."""

import json

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.papers.rkof import reproduce_rkof, reproduction
from kernova.papers.rkof.experiments import KERNELS, LARGE_LPF
from kernova.papers.rkof.report import figures_of
from kernova.papers.rkof.synthetic import METHODS
from kernova.progress import reporting
from tests.papers import messages
from tests.papers.stand_ins import use_few_numbers, verdicts, write_rkof_sets

KNOWN = "kdd_u2r, kdd_u2r_idf, mammography, ann_thyroid, shuttle"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"data": "nowhere"}, messages.NO_FOLDER.format(folder="nowhere", content="data sets")),
        (
            {"datasets": ["shuttle", "titanic"]},
            messages.NO_DATA_SET.format(name="titanic", known=KNOWN),
        ),
        (
            {"seeds": 1, "datasets": []},
            messages.BAD_COUNT.format(name="seeds", least=2, value=1),
        ),
    ],
)
def test_bad_input_is_rejected(options, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        reproduce_rkof(**{"seeds": 2, **options})
    assert str(caught.value) == sentence


def test_a_small_run_is_consistent(tmp_path, monkeypatch):
    use_few_numbers(monkeypatch)
    write_rkof_sets(tmp_path)
    last = {}
    with reporting(lambda step: last.update({step.task: (step.done, step.total)})):
        result = reproduce_rkof(tmp_path, datasets=["mammography", "shuttle"], seeds=2, quick=True)
    reported = {
        "Synthetic-1": (2, 2),
        "Synthetic-2": (2, 2),
        "Theorem 1": (2, 2),
        "data sets": (6, 6),
    }
    assert last.items() >= reported.items()

    table = result.table()
    assert table["claim"].is_unique
    assert table["verdict"].str.match(r"reproduced$|not reproduced$|partly(: .*)?$").all()
    plain = result.to_json_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert len(plain["areas"]) == len(result.real.areas) > 0
    assert plain["times"] == []

    figures = figures_of(result)
    assert list(figures) == ["synthetic-1", "synthetic-2", "theorem", "areas", "roc", "best-k"]
    titles = [ax.get_title() for ax in figures["areas"].axes if ax.get_visible()]
    assert titles == ["Mammography", "Shuttle, mean of 5 subsets"]
    drawn = figures["areas"].axes[0].get_lines()[0]
    means = result.real.areas.query("set == 'mammography' and method == 'RKOF, volcano'")
    np.testing.assert_array_equal(drawn.get_ydata(), means["auc"])

    again = reproduce_rkof(datasets=[], seeds=2)
    assert again.notes == ()
    assert list(figures_of(again)) == ["synthetic-1", "synthetic-2", "theorem"]
    pd.testing.assert_frame_equal(again.coverage, result.coverage)
    assert len(again.table()) < len(table)


# --- claims ---------------------------------------------------------------------------------------


def areas_of(family, **by_method):
    """Make a table of areas: for each method, {k: auc}."""
    return pd.DataFrame(
        [
            {"set": family, "family": family, "method": method, "k": k, "auc": auc}
            for method, path in by_method.items()
            for k, auc in path.items()
        ]
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ({40: 0.83, 110: 0.87, 460: 0.85}, ("reproduced", "reproduced")),
        (
            {40: 0.82, 110: 0.87, 460: 0.85, 600: 0.88},
            ("partly: not for every k", "partly: k = 110 is within 0.02 of the best"),
        ),
        ({40: 0.81, 110: 0.81, 460: 0.8, 600: 0.9}, ("not reproduced", "not reproduced")),
    ],
)
def test_verdicts_on_the_area_over_k(path, expected):
    claims = reproduction.plateau_claims(areas_of("mammography", **{"RKOF, volcano": path}))
    assert verdicts(claims) == list(expected)
    if 600 in path and path[40] == 0.82:
        assert claims[0].ours == (
            "at 2 of 3 k tried, k = 110 to 460; lowest 0.820 at k = 40, highest 0.870"
        )
        assert claims[1].ours == "600, with 0.880; 0.870 at k = 110"


@pytest.mark.parametrize(
    ("numbers", "areas", "expected"),
    [
        ((10, 20, 30), (0.9, 0.9, 0.9), ("reproduced", "reproduced")),
        (
            (10, 30, 20),
            (0.9, 0.91, 0.8),
            ("partly: smallest for Volcano", "partly: Volcano and Gaussian"),
        ),
        ((20, 10, 30), (0.9, 0.8, 0.7), ("not reproduced", "not reproduced")),
    ],
)
def test_verdicts_on_the_kernels(numbers, areas, expected):
    table = areas_of(
        "ann_thyroid",
        **{
            method: {k: auc, 99: auc - 0.1}
            for method, k, auc in zip(KERNELS, numbers, areas, strict=True)
        },
    )
    claims = reproduction.kernel_claims(table)
    assert verdicts(claims) == list(expected)


@pytest.mark.parametrize(
    ("family", "others", "verdict"),
    [
        ("mammography", {"LOF": 0.86, "LPF": 0.869}, "reproduced"),
        ("mammography", {"LOF": 0.86, "LPF": 0.88}, "partly: within 0.02 of the best"),
        ("mammography", {"LOF": 0.86, "LPF": 0.9}, "not reproduced"),
        ("kdd_u2r", {"LOF": 0.86, LARGE_LPF: 0.99}, "reproduced"),
        ("kdd_u2r", {"LOF": 0.92, LARGE_LPF: 0.99}, "not reproduced"),
        ("shuttle", {"LOF": 0.88}, "reproduced"),
        ("shuttle", {"LOF": 0.9}, "not reproduced"),
    ],
)
def test_verdicts_on_the_comparison(family, others, verdict):
    ours = dict.fromkeys((*KERNELS, "RKOF, plain mean", "LOF, weighted mean"), 0.95)
    table = areas_of(
        family,
        **{method: {9: auc} for method, auc in {**ours, "RKOF, volcano": 0.87, **others}.items()},
    )
    (claim,) = reproduction.comparison_claims(table)
    assert claim.verdict == verdict
    assert claim.ours.startswith("0.870 (k = 9); ")


def test_verdicts_on_the_shuttle_and_on_times():
    areas = pd.concat(
        [
            areas_of("shuttle", **{"RKOF, volcano": {700: auc}}).assign(set=f"shuttle {label}")
            for label, auc in ((2, 0.9), (3, 0.9), (5, 0.98), (6, 1.0), (7, 1.0))
        ]
    )
    (claim,) = reproduction.shuttle_claims(areas)
    assert claim.verdict == "partly: not all above 0.99"
    assert claim.ours.endswith("5 0.980, 6 1.000, 7 1.000; mean 0.9560 at k = 700")
    seconds = {"LOF": 2.0, "RKOF, volcano": 1.5, "LDF": 1.0, "LPF": 3.0}
    times = pd.DataFrame(
        [{"family": "f", "method": m, "k": 9, "seconds": s} for m, s in seconds.items()]
    )
    (claim,) = reproduction.time_claims(times)
    assert claim.ours == "0.75 of LOF's, 1.50 of LDF's, 0.50 of LPF's (1.5 s)"
    assert claim.verdict == "partly: less than LOF"


def synthetic_coverage(first, lof_at_500=1.0):
    """Make a table over 20 draws in which methods find all of Synthetic-1 from given k on."""
    lines = []
    for seed in range(20):
        for method in METHODS:
            start = first.get(method, 50)
            lines += [
                ("Synthetic-1", seed, method, k, float(k >= start + seed % 3))
                for k in range(20, 90)
            ]
            found = {14: 0.8, 20: 0.83 + 0.01 * (seed % 5), 500: lof_at_500}
            if method.startswith("RKOF"):
                found = dict.fromkeys(found, 1.0)
            lines += [("Synthetic-2", seed, method, k, fraction) for k, fraction in found.items()]
    return pd.DataFrame(lines, columns=["set", "seed", "method", "k", "found"])


def test_verdicts_on_the_synthetic_sets():
    as_printed = {"RKOF, sigma = 0.1": 26, "RKOF, sigma = 1": 31, "LOF": 59}
    claims = reproduction.synthetic_claims(synthetic_coverage(as_printed, lof_at_500=0.9))
    assert set(verdicts(claims)) == {"reproduced"}
    assert claims[0].ours == "27 (half of the draws 26 to 28, all 26 to 28)"

    other = {"RKOF, sigma = 0.1": 31, "RKOF, sigma = 1": 31, "LOF": 200}
    claims = reproduction.synthetic_claims(synthetic_coverage(other))
    assert verdicts(claims) == [
        "not reproduced",
        "reproduced",
        "not reproduced",
        "reproduced",
        "partly: no larger in most",
        "reproduced",
        "reproduced",
        "partly: only while k is below a tenth of n",
        "reproduced",
    ]
    assert claims[2].ours == "never (half of the draws never to never, all never to never)"
