"""Tables 2 and 3 of the paper on kernelized spatial depth, on fishes made here."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import InputError
from kernova.calibration.bounds import critical_false_alarm, equal_error_rate
from kernova.cli.app import app
from kernova.papers.ksd import fish as ksd_species
from kernova.papers.ksd import report as ksd_pictures
from kernova.papers.ksd.fish import (
    KSD,
    METHODS,
    NEAREST,
    RKOF,
    FishStudy,
    Level,
    fish_claims,
    fish_experiment,
    level_table,
    levels_of,
    pair_matrix,
    pooled_table,
    read_fish,
)
from kernova.papers.ksd.report import fish_pictures
from kernova.progress import reporting
from kernova.report.figures import picture_png
from kernova.species.space import SpeciesSettings, fit_shape_space
from kernova.species.splits import halved

SHAPE = np.array([[-2, 0], [-1, 0.6], [0.5, 0.7], [2, 0.1], [0.6, -0.5], [-1, -0.5]])
TRIBES = {"Aini": 3, "Bini": 3, "Cini": 1}
LEVELS = (
    Level("tribe", None, 12, has_bounds=True),
    Level("genus", "Aini", 12, has_bounds=True),
    Level("species", "Aini", 6, has_bounds=False),
)


def write_fish(folder, n=6):
    """Tribes of genera of two species each, further apart the higher the rank."""
    rng = np.random.default_rng(1)
    lines = []
    for tribe, n_genera in TRIBES.items():
        of_tribe = SHAPE + rng.normal(0, 0.15, SHAPE.shape)
        for genus in range(n_genera):
            of_genus = of_tribe + rng.normal(0, 0.08, SHAPE.shape)
            for species in range(2):
                of_species = of_genus + rng.normal(0, 0.04, SHAPE.shape)
                for points in of_species + rng.normal(0, 0.03, (n, *SHAPE.shape)):
                    name = f"{tribe[0]}{genus}"
                    lines.append(
                        [f"f{len(lines)}", tribe, name, f"{name} {species}", *points.ravel()]
                    )
    axes = [f"{axis}{number}" for number in range(1, 7) for axis in "xy"]
    table = pd.DataFrame(lines, columns=["id", "tribe", "genus", "species", *axes])
    table.to_csv(folder / "cichlids.csv", index=False)


@pytest.fixture(scope="module")
def fish(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fish")
    write_fish(folder)
    return read_fish(folder)


@pytest.fixture(scope="module")
def study(fish):
    return fish_experiment(fish, halvings=2, seed=5, levels=LEVELS)


def test_every_group_is_held_out_on_every_level_by_every_method(study):
    held_out = study.pooled.groupby("level", sort=False)["unknown"].unique().map(list)
    assert held_out.to_dict() == {
        "tribe": ["Aini", "Bini", "Cini"],
        "genus in Aini": ["A0", "A1", "A2"],
        "species in Aini": [f"A{k} {s}" for k in range(3) for s in range(2)],
    }
    assert len(study.pooled) == 2 * len(METHODS) * (3 + 3 + 6)
    assert len(study.pairs) == 2 * len(METHODS) * (3 * 2 + 3 * 2 + 6 * 5)
    assert (study.pairs["unknown"] != study.pairs["known"]).all()
    rates = study.pooled[["equal_error_rate", "auroc"]].to_numpy()
    assert ((rates >= 0) & (rates <= 1)).all()
    has_bound = study.pooled["level"] != "species in Aini"
    assert study.pooled.loc[has_bound, "e_star"].between(0, 1).all()
    assert study.pooled.loc[~has_bound, "e_star"].isna().all()
    # Tribes lie further apart than species.
    areas = study.pooled[study.pooled["method"] == KSD].groupby("level")["auroc"].mean()
    assert areas["tribe"] > max(0.95, areas["species in Aini"])


def test_figures_are_those_of_a_space_that_never_saw_the_unknown(fish, study):
    groups = fish.labels["tribe"].to_numpy().astype(str)
    split = halved(groups, np.arange(len(groups)), 5, 1)  # the second halving
    settings = SpeciesSettings()
    for unknown in ("Aini", "Cini"):
        reference = split.reference[groups[split.reference] != unknown]
        holdout = split.holdout[groups[split.holdout] != unknown]
        X = fish.landmarks.coordinates
        rows = fit_shape_space(X[reference], groups[reference], settings).place(X).rows
        distances = np.linalg.norm(rows[:, None] - rows[reference], axis=2)
        scores = -np.sort(distances, axis=1)[:, :5].mean(axis=1)
        lines = study.pooled.set_index(["level", "unknown", "method", "halving"])
        line = lines.loc[("tribe", unknown, NEAREST, 2)]
        known, strange = scores[holdout], scores[groups == unknown]
        assert line["equal_error_rate"] == equal_error_rate(known, strange).rate
        assert line["e_star"] == critical_false_alarm(known, strange).e_star

        alone = split.reference[groups[split.reference] == "Bini"]
        near = -np.sort(np.linalg.norm(rows[:, None] - rows[alone], axis=2), axis=1)[:, :5]
        mine = split.holdout[groups[split.holdout] == "Bini"]
        expected = equal_error_rate(near.mean(axis=1)[mine], near.mean(axis=1)[groups == unknown])
        pairs = study.pairs.set_index(["level", "unknown", "known", "method", "halving"])
        pair = pairs.loc[("tribe", unknown, "Bini", NEAREST, 2)]
        assert pair["equal_error_rate"] == expected.rate


def test_folds_leave_all_their_groups_out_of_the_space(fish, monkeypatch):
    seen = []
    real = ksd_species.fit_shape_space

    def spying(coordinates, groups, settings):
        seen.append(set(groups))
        return real(coordinates, groups, settings)

    monkeypatch.setattr(ksd_species, "_MOST_FOLDS", 2)
    monkeypatch.setattr(ksd_species, "fit_shape_space", spying)
    steps = []
    with reporting(steps.append):
        folded = fish_experiment(fish, 1, levels=LEVELS[2:])
    everyone = {f"A{k} {s}" for k in range(3) for s in range(2)}
    assert seen == [{"A0 1", "A1 1", "A2 1"}, {"A0 0", "A1 0", "A2 0"}]
    assert set(folded.pooled["unknown"]) == everyone
    assert len(folded.pairs) == len(METHODS) * 6 * 5
    assert (steps[-1].task, steps[-1].done) == ("fish held out as unknown", 2)


def test_tables_are_means_over_halvings(study):
    pooled = pooled_table(study)
    assert list(pooled.columns[:4]) == ["unknown", "level", "specimens", "figure"]
    assert list(pooled.columns[4:]) == list(METHODS)
    lines = study.pooled.query("level == 'tribe' and unknown == 'Bini' and method == 'RKOF'")
    line = pooled.query("level == 'tribe' and unknown == 'Bini'").iloc[0]
    assert line[RKOF] == pytest.approx(lines["e_star"].mean())
    assert line["specimens"] == 36
    matrix = pair_matrix(study, "tribe")
    assert np.isnan(np.diag(matrix)).all()
    assert np.isfinite(matrix.to_numpy()[~np.eye(3, dtype=bool)]).all()
    summed = level_table(study)
    assert len(summed) == 3 * len(METHODS)
    first = summed.query("level == 'tribe' and method == @KSD").iloc[0]
    assert first["worst_pair"] == pytest.approx(np.nanmax(matrix))
    for figure in fish_pictures(study).values():
        assert picture_png(figure)


def invented(pooled_e_star, pooled_rate, pair_rate, areas):
    """A study of two groups with these figures, by KSD and by distance."""
    groups = ["a", "b"]
    pooled = pd.DataFrame(
        [
            {"level": level, "unknown": group, "specimens": 9, "method": method, "halving": 1,
             "e_star": pooled_e_star[group], "equal_error_rate": pooled_rate[group],
             "auroc": areas[method]}
            for level in ("tribe", "species in Aini") for group in groups for method in areas
        ]
    )  # fmt: skip
    pairs = pd.DataFrame(
        [
            {"level": level, "unknown": x, "known": y, "method": KSD, "halving": 1,
             "equal_error_rate": pair_rate[x]}
            for level in ("tribe", "species in Aini") for x, y in ("ab", "ba")
        ]
    )  # fmt: skip
    return FishStudy((LEVELS[0], LEVELS[2]), pooled, pairs)


def test_verdicts_follow_the_measurements():
    good = invented(
        {"a": 0.1, "b": 0.302}, {"a": 0.4, "b": 0.5}, {"a": 0.1, "b": 0.2}, {KSD: 0.9, NEAREST: 0.8}
    )
    claims = fish_claims(good)
    assert [claim.verdict for claim in claims] == ["reproduced"] * 6
    assert [claim.ours for claim in claims] == [
        "2 of 2 (from 0.100 to 0.302)",
        "2 of 2 (the worst 0.200)",
        "2 of 2 (the worst 0.200)",
        "2 of 2",
        "KSD 0.900, 5-NN distance 0.800",
        "KSD 0.900, 5-NN distance 0.800",
    ]
    bad = invented(
        {"a": 0.1, "b": 0.4}, {"a": 0.4, "b": 0.5}, {"a": 0.6, "b": 0.6}, {KSD: 0.7, NEAREST: 0.8}
    )
    claims = fish_claims(bad)
    assert [claim.verdict for claim in claims] == ["not reproduced"] * 6
    assert claims[3].ours == "0 of 2"
    many = pd.DataFrame(
        [
            {"level": "tribe", "unknown": f"{i}", "known": f"{j}", "method": KSD, "halving": 1,
             "equal_error_rate": 0.0}
            for i in range(8) for j in range(8) if i != j
        ]
    )  # fmt: skip
    many.loc[0, "equal_error_rate"] = 0.3
    one_alike = FishStudy(LEVELS[:1], good.pooled, many)
    claim = fish_claims(one_alike)[1]
    assert claim.ours == "55 of 56 (the worst 0.300)"
    assert claim.verdict == "differs because 1 pair is more alike than that"


def test_the_command_leaves_tables_and_pictures_of_the_fishes(tmp_path, monkeypatch):
    write_fish(tmp_path)
    monkeypatch.setattr(ksd_species, "levels_of", lambda fish: LEVELS[:2])
    monkeypatch.setattr(ksd_pictures, "pictures_of", lambda study: {})  # the others are slow
    target = tmp_path / "out"
    words = ["--data", str(tmp_path), "--folder", str(target), "--seeds", "2"]
    result = CliRunner().invoke(
        app, ["reproduce", "ksd", *words, "--repetitions", "10", "--halvings", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "fish, tribe, pairs (Table 3)" in result.stdout
    assert "Fishes: means over the groups held out" in result.stdout
    names = {path.name for path in target.iterdir()}
    assert {f"fish-{name}.csv" for name in ("levels", "pooled", "pairs")} <= names
    assert {"fish-pairs.png", "fish-methods.png"} <= names
    numbers = json.loads((target / "ksd.json").read_text())
    assert len(numbers["fish_pooled"]) == 6
    assert pd.read_csv(target / "fish-pairs.csv").shape == (2 * 6 * len(METHODS), 5)


def test_levels_are_those_of_the_issue(data_folder):
    fish = read_fish(data_folder)
    assert len(fish.landmarks) == 2197
    assert [level.name for level in levels_of(fish)] == [
        "tribe",
        "genus in Lamprologini",
        "genus in Tropheini",
        "species in Lamprologini",
        "species in Tropheini",
    ]
    sizes = [len(ksd_species._held_out(fish, level)) for level in levels_of(fish)]
    assert sizes == [11, 7, 3, 84, 38]


def test_refusals(tmp_path, fish):
    with pytest.raises(InputError) as caught:
        read_fish(tmp_path)
    assert str(caught.value) == (
        f"There is no cichlids.csv in {tmp_path}, nor in tanganyika_cichlids or "
        "landmarks/tanganyika_cichlids under it; name the folder that holds the cichlids, or "
        "leave --data out."
    )
    (tmp_path / "cichlids.csv").write_text("id,tribe,x1,y1,x2,y2\na,b,1,2,3,4\n")
    with pytest.raises(InputError) as caught:
        read_fish(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'cichlids.csv'} has no column 'genus'; the study needs it."
    )
    with pytest.raises(InputError) as caught:
        fish_experiment(fish, 1, levels=(Level("genus", "Cini", 5, has_bounds=True),))
    assert str(caught.value) == (
        "Fewer than two groups have 5 fish (genus in Cini); there is nothing to compare."
    )
