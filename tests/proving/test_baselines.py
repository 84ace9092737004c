"""Published baselines: the same questions as the literal formulas, and the askers' protocol."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.simulation import simulate
from kernova.discover.strategies.spacing import distances_to
from kernova.errors import InputError
from kernova.proving.baselines import BASELINES, grade
from kernova.proving.baselines.asking import Sizes, fractions_of
from kernova.proving.baselines.coverage import FarthestFirst, KMeansCoverage
from kernova.proving.baselines.grade import GradeByBound, GradeByPriors, graph_similarity
from kernova.proving.baselines.malice import (
    MaliceByLadder,
    MaliceByPriors,
    ladder_of_sizes,
    smallest_balls,
)
from kernova.proving.baselines.seder import (
    Seder,
    column_density,
    cross_validated_bandwidth,
    gradient_norms,
)
from tests.oracles import rare_categories as literal

SEEDS = range(4)


def clusters(seed, sizes=(60, 12, 8, 5), n_columns=2):
    """Draw one broad category and small dense ones inside it and around it, in random order."""
    rng = np.random.default_rng(seed)
    broad = rng.normal(0, 1, (sizes[0], n_columns))
    dense = [
        rng.normal(0, 0.08, (size, n_columns)) + rng.uniform(-3, 3, n_columns) for size in sizes[1:]
    ]
    order = rng.permutation(sum(sizes))
    labels = np.repeat([f"c{which}" for which in range(len(sizes))], sizes)
    return np.concatenate([broad, *dense])[order], labels[order]


def asked(strategy, X, labels, n_questions=None, seed=0):
    """List the rows asked, and the questions, until no row is left or so many were asked."""
    asker = strategy.start(Preparation(X, random_state=seed))
    questions = []
    while n_questions is None or len(questions) < n_questions:
        question = asker.propose()
        if question is None:
            break
        questions.append(question)
        asker.observe(Answer(question.row, str(labels[question.row])))
    return [one.row for one in questions], questions


def ball_and_bulk(seed):
    """Draw 1,000 Gaussian rows and 10 in a small ball, in random order."""
    rng = np.random.default_rng(seed)
    ball = rng.normal((0.9, 0.4), 0.02, (10, 2))
    order = rng.permutation(1010)
    X = np.concatenate([rng.normal(0, 1, (1000, 2)), ball])[order]
    return X, np.repeat(["bulk", "ball"], [1000, 10])[order]


# --- the same questions as the formulas ------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("first_reach", [1, 2])
def test_malice_asks_the_rows_of_the_formulas(seed, first_reach):
    X, labels = clusters(seed)
    Z = Preparation(X).rows("zscore")
    expected, scores = literal.malice(Z, labels, first_reach)
    strategy = MaliceByPriors(fractions_of(labels), first_reach)
    rows, questions = asked(strategy, X, labels, len(expected))
    assert rows == expected
    assert [one.evidence["n_fewer"] for one in questions] == scores


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alpha", [0.6, 0.8])
def test_grade_asks_the_rows_of_the_formulas(seed, alpha):
    X, labels = clusters(seed)
    Z = Preparation(X).rows("zscore")
    expected, scores = literal.grade(Z, labels, alpha)
    rows, questions = asked(GradeByPriors(fractions_of(labels), alpha), X, labels, len(expected))
    assert rows == expected
    assert [one.evidence["n_fewer"] for one in questions] == scores


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bound", [0.05, 0.2])
def test_grade_with_a_bound_asks_the_rows_of_the_formulas(seed, bound):
    X, labels = clusters(seed)
    expected = literal.grade_li(Preparation(X).rows("zscore"), labels, bound, 0.6)
    rows, _ = asked(GradeByBound(bound), X, labels, len(expected))
    assert rows == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_grade_of_one_rare_category_and_its_bound_ask_the_same(seed):
    X, labels = clusters(seed, (60, 9))
    by_priors, _ = asked(GradeByPriors(fractions_of(labels)), X, labels)
    by_bound, _ = asked(GradeByBound(9 / 69), X, labels)
    # From then on one seeks nothing more, and the other does not know.
    n_until_met = int(np.argmax(labels[by_priors] == "c1")) + 1
    assert by_priors[:n_until_met] == by_bound[:n_until_met]


@pytest.mark.parametrize("n_rows", [2, 30, 300])
def test_similarity_is_the_inverse_of_the_formula(n_rows):
    Z = np.random.default_rng(n_rows).normal(size=(n_rows, 3))
    A = literal.grade_similarity(Z, [3], 0.8)
    found = graph_similarity(Z, grade.graph_width(Z, 3), 0.8)
    np.testing.assert_allclose(found, A, rtol=1e-9, atol=1e-12)
    assert (found == found.T).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_seder_scores_and_asks_as_the_formulas_do(seed):
    X, labels = clusters(seed, n_columns=3)
    Z = Preparation(X).rows("zscore")
    sigma = np.array([cross_validated_bandwidth(x, "biased") for x in Z.T])
    density = column_density(Z, sigma)
    np.testing.assert_allclose(
        density.contractions, literal.seder_contractions(Z, sigma), rtol=1e-9
    )
    np.testing.assert_allclose(
        gradient_norms(Z, density), literal.seder_scores(Z, sigma), rtol=1e-9
    )
    expected = literal.seder(Z, labels, sigma)
    assert asked(Seder(), X, labels, len(expected))[0] == expected


def test_bandwidth_minimises_the_literal_cross_validation():
    x = np.random.default_rng(3).standard_normal(400)
    found = cross_validated_bandwidth(x, "unbiased")
    literal_best = minimize_scalar(
        lambda h: literal.unbiased_cross_validation(x, h), bounds=(0.05, 0.34), method="bounded"
    )
    assert found == pytest.approx(literal_best.x, rel=0.02)


# --- the synthetic checks of the thesis ------------------------------------------------------


def test_nndb_meets_a_small_ball_long_before_random_sampling():
    needed = []
    for seed in range(5):
        X, labels = ball_and_bulk(seed)
        strategy = MaliceByPriors(fractions_of(labels), first_reach=1)
        needed.append(simulate(X, labels, strategy).questions_to_all)
    assert np.median(needed) <= 5  # random sampling needs about 100


def test_grade_meets_four_dense_figures_at_once():
    needed = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = [rng.normal(0, 1, (1000, 2))]
        for centre in ((-1.5, -1.5), (-1.5, 1.5), (1.5, -1.5), (1.5, 1.5)):
            angle = rng.uniform(0, np.pi, 100)  # an arc, as a stroke of a character
            arc = np.column_stack([np.cos(angle), np.sin(angle)]) * 0.3
            X.append(arc + centre + rng.normal(0, 0.02, (100, 2)))
        labels = np.repeat(list("abcde"), [1000, 100, 100, 100, 100])
        order = rng.permutation(1400)
        strategy = GradeByPriors(fractions_of(labels), alpha=0.8)
        run = simulate(np.concatenate(X)[order], labels[order], strategy)
        needed.append(run.questions_to_all)
    assert np.median(needed) <= 10  # random sampling needs 29, the thesis 4


# --- the protocol of askers ------------------------------------------------------------------


@pytest.mark.parametrize("name", BASELINES)
def test_askers_ask_every_row_once_and_end(name):
    if "forest" in name:
        pytest.importorskip("coniferest")
    X, labels = clusters(1, (30, 5, 4))
    rows, questions = asked(BASELINES[name].make(labels), X, labels)
    assert sorted(rows) == list(range(len(X)))
    for one in questions:
        assert one.row in one.members
        assert one.reason[0].isupper() or one.reason[0].isdigit()
        assert one.reason.endswith(".")


@pytest.mark.parametrize("name", BASELINES)
def test_answers_alone_determine_the_next_question(name):
    if "forest" in name:
        pytest.importorskip("coniferest")
    X, labels = clusters(2, (30, 5, 4))
    strategy = BASELINES[name].make(labels)
    order = np.random.default_rng(0).permutation(len(X))[:12].tolist()
    talkative = strategy.start(Preparation(X))
    silent = strategy.start(Preparation(X))
    for which, row in enumerate(order):
        answer = Answer(row, None if which % 5 == 4 else str(labels[row]), which % 3 != 2)
        assert talkative.propose().row == talkative.propose().row
        talkative.observe(answer)
        silent.observe(answer)
    assert talkative.propose().row == silent.propose().row
    assert talkative.propose().row not in order


@pytest.mark.parametrize("name", ["malice", "malice-ladder", "grade", "seder", "k-means"])
def test_no_row_is_open_for_two_experts(name):
    X, labels = clusters(3, (30, 5, 4))
    asker = BASELINES[name].make(labels).start(Preparation(X))
    first = asker.propose()
    second = asker.propose([first.row])
    assert second.row != first.row
    assert asker.propose(range(len(X))) is None
    assert asker.propose().row == first.row


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((6, 2)),
        np.repeat([[0.0, 1.0], [3.0, 1.0]], [5, 3], axis=0),
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[1.0, 2.0]]),
    ],
    ids=["equal", "two points", "two rows", "one row"],
)
def test_degenerate_tables_are_asked_to_the_end(name, X):
    if "forest" in name:
        pytest.importorskip("coniferest")
    labels = np.array(["a", "b"] * 4)[: len(X)]
    rows, _ = asked(BASELINES[name].make(labels), X, labels)
    assert sorted(rows) == list(range(len(X)))


def test_baselines_say_what_they_are_told():
    told = {name: one.told for name, one in BASELINES.items() if one.told != "nothing"}
    assert told == {
        "malice": "priors",
        "grade": "priors",
        "grade-li": "upper bound",
        "interleave": "n_classes",
    }


# --- single strategies -----------------------------------------------------------------------


def test_sizes_come_from_the_largest_to_the_smallest_or_back():
    priors = {"a": 0.02, "b": 0.9, "c": 0.08}
    assert Sizes.of(priors, 100).names == ("c", "a")
    assert Sizes.of(priors, 100, rarest_first=True).names == ("a", "c")
    assert Sizes.of({"only": 1.0}, 10) == Sizes(("only",), (10,), "only")


def test_farthest_first_starts_at_the_centre_and_goes_to_the_corners():
    X = np.array([[0.0], [1.25], [2.0], [3.0], [10.0]])
    rows, _ = asked(FarthestFirst(), X, ["a"] * 5)
    assert rows == [3, 4, 0, 1, 2]


def test_k_means_asks_for_two_clusters_first_and_does_not_listen():
    X, labels = clusters(0)
    strategy = KMeansCoverage()
    rows, _ = asked(strategy, X, labels)
    assert strategy.first_rows(Preparation(X), 20).tolist() == rows[:20]


def test_a_ladder_of_sizes_takes_turns_and_leaves_out_the_neighbours_of_an_answer():
    X, labels = clusters(0)
    _, questions = asked(MaliceByLadder(), X, labels, 12)
    sizes = ladder_of_sizes(len(X))
    assert sizes == (21, 10, 5, 2)
    balls = smallest_balls(Preparation(X).rows("zscore"), sizes)
    rows = [one.row for one in questions]
    for which, one in enumerate(questions):
        assert one.evidence["reach"] == 2 + which // len(sizes)  # each size has a t of its own
        others = balls.Z[rows[:which]]
        assert (distances_to(others, balls.Z[one.row]) > balls.radii.min()).all()


def test_large_tables_are_too_large_for_a_graph():
    X = np.arange(6_001.0)[:, None]
    with pytest.raises(InputError) as caught:
        GradeByBound(0.1).start(Preparation(X))
    assert str(caught.value) == (
        "GRADE compares all pairs of at most 6,000 rows at once; the table has 6,001. Draw a "
        "sample of its rows."
    )


@pytest.mark.parametrize("name", ["pine-forest", "aad-forest"])
def test_forests_name_the_missing_package(name, monkeypatch):
    from kernova.proving.baselines import forests

    def missing(module):
        raise ImportError(module)

    monkeypatch.setattr(forests, "import_module", missing)
    with pytest.raises(InputError) as caught:
        BASELINES[name].make(np.array(["a", "b"])).start(Preparation(np.eye(2)))
    assert str(caught.value) == (
        "Forests with feedback need the package coniferest, which is not installed. Install it "
        "with: pip install coniferest"
    )
