"""Reproduction of the KSD paper: repeatable, finite, and claims that follow the results."""

import json

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.papers.ksd import reproduce_ksd, reproduction
from kernova.papers.ksd.experiments import READINGS
from kernova.papers.ksd.report import figures_of
from kernova.progress import reporting
from kernova.report.figures import picture_png
from tests.papers import messages


@pytest.fixture(scope="module")
def small():
    return reproduce_ksd(seeds=4, repetitions=20)


def test_every_claim_has_its_figure_and_a_verdict(small):
    table = small.table()
    assert list(table.columns) == ["claim", "paper", "ours", "verdict"]
    assert table["claim"].is_unique
    assert table["verdict"].str.match(r"reproduced$|not reproduced$|differs because .").all()
    for subject in ("cloud", "ring", "masking", "Theorem 1"):
        assert table["claim"].str.startswith(subject).any()


def test_json_holds_plain_finite_values_and_comes_back_whole(small):
    plain = small.to_json_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert len(plain["claims"]) == len(small.table())
    assert len(plain["masking"]) == 4 * 5 * len(READINGS)
    widths = {line["reading"]: line["bandwidth"] for line in plain["masking_summary"]}
    assert [reading for reading, width in widths.items() if width == "inf"] == ["spatial depth"]


def test_the_same_state_gives_the_same_result_and_more_seeds_only_add_draws(small):
    again = reproduce_ksd(seeds=4, repetitions=20, random_state=0)
    assert again.to_json_dict() == small.to_json_dict()
    fewer = reproduce_ksd(seeds=2, repetitions=1)
    assert fewer.seeds == small.seeds[:2]
    pd.testing.assert_frame_equal(fewer.rings, small.rings[:2])
    other = reproduce_ksd(seeds=2, repetitions=1, random_state=1)
    assert not set(other.seeds) & set(small.seeds)
    assert (other.rings["spatial_centre"] != fewer.rings["spatial_centre"]).all()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"seeds": 1}, messages.BAD_COUNT.format(name="seeds", least=2, value=1)),
        ({"seeds": 2.5}, messages.BAD_COUNT.format(name="seeds", least=2, value=2.5)),
        ({"repetitions": 0}, messages.BAD_COUNT.format(name="repetitions", least=1, value=0)),
        ({"repetitions": True}, messages.BAD_COUNT.format(name="repetitions", least=1, value=True)),
    ],
)
def test_impossible_counts_are_rejected(settings, sentence):
    with pytest.raises(InputError) as caught:
        reproduce_ksd(**settings)
    assert str(caught.value) == sentence


def test_progress_is_reported_to_the_end():
    last = {}
    with reporting(lambda step: last.update({step.task: (step.done, step.total)})):
        reproduce_ksd(seeds=2, repetitions=3)
    of_the_study = {
        "Gaussian clouds": (2, 2),
        "rings": (2, 2),
        "masking": (2, 2),
        "masking, all widths": (2, 2),
        "Theorem 1": (3, 3),
    }
    assert last.items() >= of_the_study.items()  # the depths inside report themselves too


def test_pictures_show_what_was_measured(small):
    figures = figures_of(small)
    assert list(figures) == ["cloud", "ring", "masking", "masking-widths", "theorem"]
    for figure in figures.values():
        assert picture_png(figure, dpi=40).startswith(b"\x89PNG")
    nearest = (small.rings["spatial_centre"] - 0.9544).abs().idxmin()
    titles = [ax.get_title() for ax in figures["ring"].axes if ax.get_title()]
    assert titles == [
        f"spatial depth: the centre has depth {small.rings['spatial_centre'][nearest]:.3f}",
        f"kernelized, width 3: the centre has depth "
        f"{small.rings['kernelized_centre'][nearest]:.3f}",
    ]
    marked = small.cloud["marked_depth"]
    nearest = (marked - 0.0219).abs().idxmin()
    assert nearest != 0, "the first draw must not be the nearest, or this proves nothing"
    title = f"spatial depth: the marked row has depth {marked[nearest]:.3f}"
    assert figures["cloud"].axes[0].get_title() == title
    legend = [text.get_text() for text in figures["cloud"].axes[0].get_legend().get_texts()]
    assert "the marked row" in legend


# --- claims ---------------------------------------------------------------------------------------


def test_verdicts_follow_the_measurements(small):
    deep = small.rings.assign(kernelized_centre=[0.3, 0.31, 0.3, 0.31], matching_scale=0.9)
    far_off = small.rings.assign(
        spatial_centre=[0.1, 0.2, 0.1, 0.2], spatial_centre_is_deepest=[True, False, False, True]
    )
    by_claim = {claim.claim: claim for claim in reproduction.ring_claims(deep)}
    assert by_claim["ring: kernelized depth of the centre, width 3"].verdict == (
        messages.OTHER_RADII
    )
    spatial, deepest = reproduction.ring_claims(far_off)[:2]
    assert spatial[1:] == ("0.9544", "0.150 ± 0.058", "not reproduced")
    assert deepest[1:] == ("yes", "in 50 % of the draws", "not reproduced")


def test_verdicts_on_masking_follow_the_fraction_missed_and_explain_by_the_width(small):
    widths = pd.DataFrame({"bandwidth": [1.0, 2.0, 4.0], "miss": [0.1, 0.7, 1.0]})
    pooled = small.masking["scope"] == "pooled"
    by_draw = small.masking["seed"].rank(method="dense") % 2 - 0.5  # one half up or down
    as_printed = small.masking.assign(
        miss=np.where(pooled, 0.85, 0.175) + 0.1 * by_draw,
        e_star=0.5,
        equal_error_rate=np.where(pooled, 0.2, 0.3),
    )
    *claims, pooling = reproduction.masking_claims(as_printed, widths)
    assert {claim.verdict for claim in claims} == {"reproduced"}
    assert {claim.paper for claim in claims} == {"0.85", "0.10, 0.25, 0.15, 0.25"}
    assert pooling.verdict == "not reproduced"

    otherwise = as_printed.assign(miss=0.5, bandwidth=0.25, e_star=0.85)
    *claims, _ = reproduction.masking_claims(otherwise, widths)
    n_readings = len(READINGS)
    assert [claim.verdict for claim in claims] == [
        *[messages.OTHER_WIDTH] * n_readings,
        *["not reproduced"] * n_readings,
    ]


def test_the_width_that_the_printed_figure_needs_is_read_off_the_rising_curve():
    widths = pd.DataFrame(
        {"bandwidth": [0.5, 1.0, 2.0, 3.0, 4.0], "miss": [0.9, 0.2, 0.6, 0.8, 1.0]}
    )
    assert reproduction.width_of_the_paper(widths) == pytest.approx(3.25)
