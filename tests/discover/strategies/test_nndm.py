"""NNDM: windows and steps by literal loops, and questions where the answer is plain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.strategies.nndm import DensityJumps, density_scales, steepest_row
from kernova.errors import InputError
from tests.discover import messages
from tests.discover.strategies.tables import asked_rows, groups


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.just(2)),
        elements=st.integers(0, 6).map(float),
    ),
    st.integers(1, 14),
)
def test_density_scales_are_the_densest_ball_and_its_counts(Z, size):
    (scale,) = density_scales(Z, [size])
    distances = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    wanted = min(size, len(Z))
    radius = min(np.sort(line)[wanted - 1] for line in distances)
    assert scale.size == wanted
    assert scale.radius == pytest.approx(radius, rel=1e-8)
    assert scale.counts.tolist() == [int((line <= radius + 1e-9).sum()) for line in distances]


@given(st.integers(0, 10**6), st.integers(1, 90), st.floats(0.05, 3.0))
def test_the_steepest_row_is_that_of_all_pairs(seed, n_rows, reach):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, 2))
    (scale,) = density_scales(Z, [4])
    is_open = rng.random(n_rows) < 0.8
    is_open[rng.integers(n_rows)] = True
    found = steepest_row(Z, scale, reach, is_open)
    steps = {}
    for i in np.flatnonzero(is_open):
        near = np.sqrt(((Z - Z[i]) ** 2).sum(axis=1)) <= reach
        steps[int(i)] = int(scale.counts[i] - scale.counts[near].min())
    assert found.step == max(steps.values())
    assert steps[found.row] == found.step


def test_many_rows_are_counted_by_a_tree_as_few_are_by_blocks(monkeypatch):
    from kernova.discover.strategies import nndm as density_steps

    Z = np.random.default_rng(0).standard_normal((300, 3))
    exact = density_scales(Z, [4, 30])
    monkeypatch.setattr(density_steps, "_MANY_ROWS", 100)
    monkeypatch.setattr(density_steps, "_SAMPLED_CENTRES", 300)
    for one, other in zip(density_scales(Z, [4, 30]), exact, strict=True):
        assert one.radius == other.radius
        assert one.counts.tolist() == other.counts.tolist()
    monkeypatch.setattr(density_steps, "_SAMPLED_CENTRES", 30)
    for sampled, other in zip(density_scales(Z, [4, 30]), exact, strict=True):
        assert sampled.radius >= other.radius  # fewer centres, no smaller ball among them


def test_with_priors_the_rare_class_is_asked_first():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(0, 1, (400, 2)), rng.normal(1.5, 0.02, (8, 2))])
    labels = np.repeat(["common", "rare"], [400, 8])
    strategy = DensityJumps({"common": 400 / 408, "rare": 8 / 408})
    assert labels[strategy.start(Preparation(X)).propose().row] == "rare"
    blind = asked_rows(DensityJumps().start(Preparation(X)), labels, 5)
    assert "rare" in labels[blind]


def test_the_next_class_follows_when_one_is_found():
    X, _ = groups(sizes=(300, 30, 6))
    shares = {"class 0": 300 / 336, "class 1": 30 / 336, "class 2": 6 / 336}
    asker = DensityJumps(shares).start(Preparation(X))
    assert asker.propose().evidence["size"] == 6
    asker.observe(Answer(asker.propose().row, "class 0"))
    assert asker.propose().evidence["size"] == 6
    asker.observe(Answer(asker.propose().row, "class 2"))
    assert asker.propose().evidence["size"] == 30


@pytest.mark.parametrize("priors", [{}, {"a": 0.0}, {"a": 1.5}])
def test_priors_that_are_not_fractions_are_rejected(priors):
    with pytest.raises(InputError) as caught:
        DensityJumps(priors)
    assert str(caught.value) == (messages.BAD_PRIORS.format(priors=priors))


def test_rows_near_an_answer_are_skipped(preparation):
    asker = DensityJumps().start(preparation)
    Z = preparation.rows()
    asked, n_passed = [], 0
    for _ in range(6):
        question = asker.propose()
        assert all(np.linalg.norm(Z[question.row] - Z[row]) > radius for row, radius in asked)
        near = np.linalg.norm(Z - Z[question.row], axis=1) <= question.evidence["radius"]
        n_passed += int(near.sum()) - 1
        asked.append((question.row, question.evidence["radius"]))
        asker.observe(Answer(question.row, "x"))
    assert n_passed > 0


def test_the_search_widens_with_every_question(preparation):
    asker = DensityJumps({"common": 0.9, "rare": 0.1}).start(preparation)
    steps = []
    for _ in range(3):
        known = asker.propose().evidence
        steps.append(known["reach"] / known["radius"])
        asker.observe(Answer(asker.propose().row, "common"))
    assert steps == pytest.approx([2, 3, 4])
