"""Procrustes ANOVA: geomorph's sums of squares, a literal version, and what p-values promise."""

import numpy as np
import pytest

from kernova import GeneralizedProcrustes
from kernova.shapes.anova import (
    allometry,
    goodall_test,
    interaction,
    procrustes_anova,
    within_group_slope,
)
from tests.shapes.bad_inputs import error
from tests.shapes.drawn_shapes import fish
from tests.shapes.geomorph_results import results

# After geomorph's two rounds a sum of squares is off by 5e-9, an F by more.
VARIANTS = [
    ("converged", "projected", 1e-10, 1e-8),
    ("converged", "unprojected", 1e-10, 1e-8),
    ("geomorph_default", "projected", 1e-8, 1e-5),
    ("geomorph_default", "unprojected", 1e-8, 1e-5),
]


def models(salamanders):
    species, site = (salamanders.table[name].to_numpy(str) for name in ("species", "site"))
    return {
        "species": {"species": species},
        "site": {"site": site},
        "species_site": {
            "species": species,
            "site": site,
            "species:site": interaction(species, site),
        },
        "log_centroid_size": {"logsize": np.log(salamanders.sizes)},
    }


@pytest.mark.parametrize(("rounds", "kind", "atol", "rtol_f"), VARIANTS)
def test_sums_of_squares_are_those_of_geomorph(plethodon, rounds, kind, atol, rtol_f):
    expected = results("plethodon")[rounds][kind]["anova"]
    for name, terms in models(plethodon).items():
        table = procrustes_anova(plethodon.aligned[kind], terms, n_permutations=0)
        wanted = expected[name]
        assert list(table.index) == [*np.atleast_1d(wanted["terms"]), "residuals", "total"]
        of_terms = table.iloc[:-2]
        assert of_terms["df"].tolist() == np.atleast_1d(wanted["df"]).tolist()
        np.testing.assert_allclose(of_terms["sum_of_squares"], wanted["SS"], atol=atol)
        np.testing.assert_allclose(of_terms["mean_square"], wanted["MS"], atol=atol)
        np.testing.assert_allclose(of_terms["r_squared"], wanted["Rsq"], atol=10 * atol)
        np.testing.assert_allclose(of_terms["f"], wanted["F"], rtol=rtol_f)
        rest, total = table.loc["residuals"], table.loc["total"]
        assert (rest["df"], total["df"]) == (wanted["residual_df"], wanted["total_df"])
        assert rest["sum_of_squares"] == pytest.approx(wanted["residual_SS"], abs=atol)
        assert rest["mean_square"] == pytest.approx(wanted["residual_MS"], abs=atol)
        assert total["sum_of_squares"] == pytest.approx(wanted["total_SS"], abs=atol)


def test_total_of_plethodon_is_the_published_one(plethodon):
    terms = models(plethodon)["species"]
    for kind, total in (("projected", 0.196940), ("unprojected", 0.196984)):
        table = procrustes_anova(plethodon.aligned[kind], terms, n_permutations=0)
        assert round(table.loc["total", "sum_of_squares"], 6) == total


@pytest.mark.parametrize("kind", ["projected", "unprojected"])
def test_slopes_on_log_size_are_those_of_geomorph(plethodon, kind):
    expected = results("plethodon")["converged"][kind]
    rows = plethodon.in_frame_of(kind, expected["consensus"]).reshape(40, -1)
    sizes = np.log(plethodon.sizes)

    slope = within_group_slope(rows, sizes, ["all"] * 40)

    np.testing.assert_allclose(slope, expected["allometry"]["slope"], atol=1e-8)
    intercept = rows.mean(axis=0) - slope * sizes.mean()
    np.testing.assert_allclose(intercept, expected["allometry"]["intercept"], atol=1e-8)
    found = allometry(rows, sizes, ["all"] * 40, n_permutations=0)
    np.testing.assert_array_equal(found.slope, slope)
    r_squared = expected["anova"]["log_centroid_size"]["Rsq"]
    assert found.r_squared == pytest.approx(r_squared, abs=1e-8)


def test_goodalls_f_of_two_species(plethodon):
    """Equal to the ANOVA of two groups; the package shapes, which aligns otherwise, is near."""
    expected = results("plethodon")["shapes_package"]
    is_first = (plethodon.table["species"] == "Jord").to_numpy()
    for kind in ("projected", "unprojected"):
        rows = plethodon.aligned[kind]
        test = goodall_test(rows[is_first], rows[~is_first], 12 * 2 - 4)
        wanted = results("plethodon")["converged"][kind]["anova"]["species"]["F"]
        assert test.f == pytest.approx(wanted, rel=1e-8)
        assert test.f == pytest.approx(expected["goodall_F"], rel=1e-3)
        assert list(test.df) == expected["goodall_df"]
        means = rows[is_first].mean(axis=0) - rows[~is_first].mean(axis=0)
        assert test.distance == pytest.approx(np.linalg.norm(means))


# --- on drawn shapes, which are always at hand ----------------------------------------------------


def drawn(n=24, seed=0):
    aligned = GeneralizedProcrustes().fit_transform(fish(n, seed=seed))
    rng = np.random.default_rng([seed, 7])
    groups = rng.permutation(np.resize(list("abc"), n))
    return aligned.reshape(n, -1), groups, rng.normal(3, 0.5, n)


def residuals_of(rows, *columns):
    design = np.column_stack([np.ones(len(rows)), *columns])
    return rows - design @ np.linalg.lstsq(design, rows, rcond=None)[0]


def test_each_term_is_the_drop_of_the_residual_sum_of_squares():
    rows, groups, sizes = drawn()
    dummies = np.array([[g == "a", g == "b"] for g in groups], dtype=float)
    both = dummies * sizes[:, None]
    designs = [(), (dummies,), (dummies, sizes), (dummies, sizes, both)]
    rest = [np.square(residuals_of(rows, *columns)).sum() for columns in designs]

    table = procrustes_anova(
        rows,
        {"group": groups, "size": sizes, "slopes": interaction(groups, sizes)},
        n_permutations=0,
    )

    assert table["df"].tolist() == [2, 1, 2, 18, 23]
    squares = table["sum_of_squares"]
    np.testing.assert_allclose(squares[:3], -np.diff(rest), atol=1e-12)
    np.testing.assert_allclose(squares[3:], [rest[-1], rest[0]], atol=1e-12)
    np.testing.assert_allclose(table["f"][:3], -np.diff(rest) / [2, 1, 2] / (rest[-1] / 18))
    assert (table["p_value"][:3] == 1).all()  # the data themselves are the only arrangement


def test_p_values_are_those_of_refitted_permutations():
    """Freedman and Lane: permute residuals of the model before the term, fit both models again."""
    rows, groups, sizes = drawn(n=12)
    dummies = np.array([[g == "a", g == "b"] for g in groups], dtype=float)
    table = procrustes_anova(rows, {"group": groups, "size": sizes}, n_permutations=40, seed=3)
    order = np.tile(np.arange(12), (41, 1))
    order[1:] = np.random.default_rng(3).permuted(order[1:], axis=1)

    steps = {"group": (dummies,), "size": (dummies, sizes)}
    before = {"group": (), "size": (dummies,)}
    for name, columns in steps.items():
        residuals = residuals_of(rows, *before[name])
        fitted = rows - residuals
        f = []
        for arrangement in order:
            made = fitted + residuals[arrangement]
            smaller = np.square(residuals_of(made, *before[name])).sum()
            larger = np.square(residuals_of(made, *columns)).sum()
            whole = np.square(residuals_of(made, dummies, sizes)).sum()
            f.append((smaller - larger) / whole)
        expected = np.mean(np.array(f) >= f[0] * (1 - 1e-9))
        assert table.loc[name, "p_value"] == pytest.approx(expected)


def test_p_values_hold_under_the_null_hypothesis_and_find_a_difference():
    """Bar: of 200 sets without a difference, 5 % at the level of 5 % (binomial: 2 to 18)."""
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], 8)
    shapes = rng.standard_normal((200, 16, 6))
    p_values = [
        procrustes_anova(rows, {"group": groups}, n_permutations=39)["p_value"]["group"]
        for rows in shapes
    ]
    assert 2 <= sum(p <= 0.05 for p in p_values) <= 18
    different = shapes[0] + 2 * (groups == "a")[:, None]
    table = procrustes_anova(different, {"group": groups}, n_permutations=199)
    assert table.loc["group", "p_value"] == 1 / 200


def test_allometry_is_found_within_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], 20)
    sizes = rng.normal(0, 1, 40) + 3 * (groups == "b")  # groups differ in size
    direction = np.array([0.3, -0.2, 0.1, 0.0])
    noise = 0.01 * rng.standard_normal((40, 4))
    # The mean shapes go against the slope: a regression without groups would find another one.
    rows = sizes[:, None] * direction - 2 * (groups == "b")[:, None] * direction + noise

    common = allometry(rows, sizes, groups.tolist(), n_permutations=199)
    np.testing.assert_allclose(common.slope, direction, atol=0.01)
    assert common.r_squared > 0.99
    assert common.p_value == 1 / 200
    assert common.slopes_p_value > 0.05

    other = rows + (sizes * (groups == "b"))[:, None] * [0.0, 0.0, 0.0, 0.5]
    found = allometry(other, sizes, groups.tolist(), n_permutations=199)
    assert found.slopes_p_value == 1 / 200


def test_slope_is_zero_where_no_size_varies_within_groups():
    rows, groups, _ = drawn()
    assert not within_group_slope(rows, np.full(24, 3.0), groups).any()


def test_terms_that_repeat_others_add_nothing():
    rows, groups, sizes = drawn()
    table = procrustes_anova(rows, {"g": groups, "again": groups, "s": sizes, "2s": 2 * sizes})
    assert table["df"].tolist() == [2, 0, 1, 0, 20, 23]
    assert table.loc[["again", "2s"], "sum_of_squares"].tolist() == [0, 0]
    assert table.loc[["again", "2s"], "f"].isna().all()


def test_arrays_of_landmarks_are_rows():
    rows, groups, _ = drawn()
    flat = procrustes_anova(rows, {"g": groups})
    cube = procrustes_anova(rows.reshape(24, -1, 2), {"g": groups})
    assert flat.equals(cube)


@pytest.mark.parametrize(
    ("terms", "options", "message"),
    [
        ({"g": list("ab")}, {}, "The term g has 2 values for 24 specimens; give one for each."),
        (
            {"size": np.full(24, np.nan)},
            {},
            "The term size has a value that is missing or infinite; leave out these specimens, or "
            "the term.",
        ),
        (
            {"g": list("ab") * 12},
            {"n_permutations": -1},
            "n_permutations must be a whole number of at least 0; got -1.",
        ),
    ],
)
def test_terms_that_do_not_fit_raise(terms, options, message):
    with error(message):
        procrustes_anova(drawn()[0], terms, **options)
