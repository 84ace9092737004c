"""Object symmetry: components of made-up shapes, and pairs found by a mirror image."""
# ruff: noqa: E501 -- one case, one line

import numpy as np
import pytest

from kernova import GeneralizedProcrustes
from kernova.shapes.symmetry import guess_pairs, symmetric_components
from tests.shapes.bad_inputs import error
from tests.shapes.drawn_shapes import moved

PAIRS = [(0, 1), (3, 4), (5, 6)]
HEAD = np.array(
    [[2.0, 1.0], [2.0, -1.0], [0.0, 0.0], [4.0, 1.5], [4.0, -1.5], [7.0, 0.7], [7.0, -0.7], [9, 0]]
)


def symmetric_heads(n, d=2, seed=0):
    """Heads that vary, all exactly symmetric about the second axis."""
    rng = np.random.default_rng(seed)
    base = np.hstack([HEAD, np.linspace(0, 1, 8)[:, None] ** 2])[:, :d]
    partners = np.array([1, 0, 2, 4, 3, 6, 5, 7])
    flip = np.array([1.0, -1.0, 1.0])[:d]
    if d == 3:
        base = (base + base[partners] * flip) / 2
    shapes = base + 0.2 * rng.standard_normal((n, 8, d))
    return (shapes + shapes[:, partners] * flip) / 2


@pytest.mark.parametrize("d", [2, 3])
def test_symmetric_specimens_have_no_asymmetric_component(d):
    components = symmetric_components(moved(symmetric_heads(12, d), seed=1), PAIRS)
    np.testing.assert_allclose(components.asymmetric, 0, atol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_components_add_up_and_are_orthogonal(d):
    rng = np.random.default_rng(3)
    specimens = symmetric_heads(15, d) + 0.1 * rng.standard_normal((15, 8, d))
    symmetric, asymmetric = symmetric_components(moved(specimens, seed=2), PAIRS)

    # The symmetric component is a symmetric shape: it equals its own mirror image.
    again = symmetric_components(symmetric, PAIRS)
    np.testing.assert_allclose(again.asymmetric, 0, atol=1e-9)
    # Symmetric and asymmetric deviations are orthogonal, so their sums of squares add up.
    mean = symmetric.mean(axis=0)
    rows, others = (symmetric - mean).reshape(15, -1), asymmetric.reshape(15, -1)
    np.testing.assert_allclose(rows @ others.T, 0, atol=1e-9)
    whole = symmetric + asymmetric
    squares = np.square(rows).sum() + np.square(others).sum()
    assert np.square(whole - mean).sum() == pytest.approx(squares)


def test_sum_of_components_is_the_aligned_specimen():
    specimens = symmetric_heads(9) + 0.1 * np.random.default_rng(3).standard_normal((9, 8, 2))
    symmetric, asymmetric = symmetric_components(specimens, PAIRS, tangent=False)
    whole = symmetric + asymmetric
    np.testing.assert_allclose(np.linalg.norm(whole, axis=(1, 2)), 1)
    for specimen, placed in zip(specimens, whole, strict=True):
        shapes = GeneralizedProcrustes().fit_transform(np.array([specimen, placed]))
        np.testing.assert_allclose(shapes[0], shapes[1], atol=1e-9)


def test_directional_asymmetry_is_the_mean_of_the_asymmetric_component():
    """All right sides are pushed back by the same amount; single specimens vary little beside."""
    heads = symmetric_heads(200)
    pushed = heads + np.array([0, 0, 0, 0, 0.3, 0, 0, 0])[:, None] * [1.0, 0.0]
    noisy = pushed + 0.01 * np.random.default_rng(4).standard_normal(heads.shape)

    asymmetric = symmetric_components(moved(noisy, seed=5), PAIRS).asymmetric

    directional, fluctuating = asymmetric.mean(axis=0), asymmetric - asymmetric.mean(axis=0)
    assert np.linalg.norm(directional) > 5 * np.linalg.norm(fluctuating, axis=(1, 2)).mean()
    # Left and right are pushed apart along the axis of the head, half of it to either side.
    size = np.linalg.norm(HEAD - HEAD.mean(axis=0))
    apart = directional[4] - directional[3]
    assert np.linalg.norm(apart) == pytest.approx(0.3 / size, rel=0.1)
    assert np.argmax(np.linalg.norm(directional, axis=1)) in (3, 4)


def test_mirrored_specimens_have_the_opposite_asymmetry():
    specimens = symmetric_heads(6) + 0.1 * np.random.default_rng(3).standard_normal((6, 8, 2))
    partners = np.array([1, 0, 2, 4, 3, 6, 5, 7])
    mirrored = specimens[:, partners] * [1, -1]
    symmetric, asymmetric = symmetric_components(np.vstack([specimens, mirrored]), PAIRS)
    np.testing.assert_allclose(symmetric[:6], symmetric[6:], atol=1e-9)
    np.testing.assert_allclose(asymmetric[:6], -asymmetric[6:], atol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_found_in_any_position(d, seed):
    rng = np.random.default_rng(seed)
    heads = symmetric_heads(20, d, seed) + 0.05 * rng.standard_normal((20, 8, d))
    consensus = moved(heads.mean(axis=0)[None], seed)[0]
    order = rng.permutation(8)
    place = np.argsort(order)

    guess = guess_pairs(consensus[order])

    expected = sorted(tuple(sorted((place[a], place[b]))) for a, b in PAIRS)
    assert guess.is_symmetric
    assert sorted(guess.pairs) == expected
    assert guess.midline == sorted([place[2], place[7]])
    assert guess.residual < 0.1


def test_a_shape_without_symmetry_has_no_pairs():
    rng = np.random.default_rng(0)
    guesses = [guess_pairs(rng.standard_normal((9, 2))) for _ in range(10)]
    assert sum(guess.is_symmetric for guess in guesses) == 0


KITE = np.array([[0.0, 0.0], [2.0, 1.0], [2.0, -1.0], [6.0, 0.0]])


@pytest.mark.parametrize(
    ("specimens", "pairs", "message"),
    [
        (KITE, [(1, 2)], "Symmetry needs specimens × landmarks × 2 (or 3) coordinates; got an array of shape (4, 2)."),
        ([np.where(KITE > 3, np.nan, KITE)], [(1, 2)], "1 of 1 specimens lack landmarks. Estimate them first with GeneralizedProcrustes, or leave these specimens out."),
        ([KITE], [(1, 2), (2, 3)], "pairs must hold two landmarks each, none of them twice, and at least one pair; got [(1, 2), (2, 3)]."),
        ([KITE], [], "pairs must hold two landmarks each, none of them twice, and at least one pair; got []."),
        ([KITE], [(1, 4)], "pairs must hold landmarks from 0 to 3; got 1 to 4."),
    ],
)  # fmt: skip
def test_shapes_without_two_sides_raise(specimens, pairs, message):
    with error(message):
        symmetric_components(specimens, pairs)
