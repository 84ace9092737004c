"""Taxonomic study of the KSD paper (Tables 2 and 3), on fish made here."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import InputError
from kernova.calibration.bounds import critical_false_alarm, equal_error_rate
from kernova.cli.app import app
from kernova.papers.ksd import fish as ksd_fish
from kernova.papers.ksd import report as ksd_report
from kernova.papers.ksd.fish import (
    KSD,
    METHODS,
    NEAREST,
    RKOF,
    FishStudy,
    Level,
    fish_claims,
    fish_experiment,
    held_out_groups,
    level_table,
    levels_of,
    pair_matrix,
    pooled_table,
    read_fish,
)
from kernova.progress import reporting
from kernova.report.figures import picture_png
from kernova.species.space import SpeciesSettings, fit_shape_space
from kernova.species.splits import split_in_half
from tests.papers import messages
from tests.papers.stand_ins import LEVELS, verdicts, write_fish


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


def test_errors_are_those_of_a_space_fitted_without_the_unknown(fish, study):
    groups = fish.labels["tribe"].to_numpy().astype(str)
    split = split_in_half(groups, np.arange(len(groups)), 5, 1)  # the second split
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
        known, novel = scores[holdout], scores[groups == unknown]
        assert line["equal_error_rate"] == equal_error_rate(known, novel).rate
        assert line["e_star"] == critical_false_alarm(known, novel).e_star

        alone = split.reference[groups[split.reference] == "Bini"]
        near = -np.sort(np.linalg.norm(rows[:, None] - rows[alone], axis=2), axis=1)[:, :5]
        mine = split.holdout[groups[split.holdout] == "Bini"]
        expected = equal_error_rate(near.mean(axis=1)[mine], near.mean(axis=1)[groups == unknown])
        pairs = study.pairs.set_index(["level", "unknown", "known", "method", "halving"])
        pair = pairs.loc[("tribe", unknown, "Bini", NEAREST, 2)]
        assert pair["equal_error_rate"] == expected.rate


def test_folds_leave_all_their_groups_out_of_the_space(fish, monkeypatch):
    seen = []
    real = ksd_fish.fit_shape_space

    def spying(coordinates, groups, settings):
        seen.append(set(groups))
        return real(coordinates, groups, settings)

    monkeypatch.setattr(ksd_fish, "MAX_FOLDS", 2)
    monkeypatch.setattr(ksd_fish, "fit_shape_space", spying)
    steps = []
    with reporting(steps.append):
        folded = fish_experiment(fish, 1, levels=LEVELS[2:])
    everyone = {f"A{k} {s}" for k in range(3) for s in range(2)}
    assert seen == [{"A0 1", "A1 1", "A2 1"}, {"A0 0", "A1 0", "A2 0"}]
    assert set(folded.pooled["unknown"]) == everyone
    assert len(folded.pairs) == len(METHODS) * 6 * 5
    assert (steps[-1].task, steps[-1].done) == ("fish held out as unknown", 2)


def test_tables_are_means_over_splits(study):
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
    for figure in ksd_report.fish_figures(study).values():
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
    assert verdicts(claims) == ["reproduced"] * 6
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
    assert verdicts(claims) == ["not reproduced"] * 6
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
    assert claim.verdict == messages.ONE_PAIR_ALIKE


def test_the_command_writes_tables_and_figures_of_the_fish(tmp_path, monkeypatch):
    write_fish(tmp_path)
    monkeypatch.setattr(ksd_fish, "levels_of", lambda fish: LEVELS[:2])
    monkeypatch.setattr(ksd_report, "synthetic_figures", lambda study: {})  # the others are slow
    target = tmp_path / "out"
    options = ["--data", str(tmp_path), "--folder", str(target), "--seeds", "2"]
    result = CliRunner().invoke(
        app, ["reproduce", "ksd", *options, "--repetitions", "10", "--halvings", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "fish, tribe, pairs (Table 3)" in result.stdout
    assert "Fish: means over the groups held out" in result.stdout
    names = {path.name for path in target.iterdir()}
    assert {f"fish-{name}.csv" for name in ("levels", "pooled", "pairs")} <= names
    assert {"fish-pairs.png", "fish-methods.png"} <= names
    numbers = json.loads((target / "ksd.json").read_text())
    assert len(numbers["fish_pooled"]) == 6
    assert pd.read_csv(target / "fish-pairs.csv").shape == (2 * 6 * len(METHODS), 5)


def test_levels_of_the_cichlids(data_folder):
    fish = read_fish(data_folder)
    assert len(fish.landmarks) == 2197
    assert [level.name for level in levels_of(fish)] == [
        "tribe",
        "genus in Lamprologini",
        "genus in Tropheini",
        "species in Lamprologini",
        "species in Tropheini",
    ]
    sizes = [len(held_out_groups(fish, level)) for level in levels_of(fish)]
    assert sizes == [11, 7, 3, 84, 38]


def test_missing_fish_are_rejected(tmp_path, fish):
    with pytest.raises(InputError) as caught:
        read_fish(tmp_path)
    assert str(caught.value) == messages.NO_FISH.format(folder=tmp_path)
    (tmp_path / "cichlids.csv").write_text("id,tribe,x1,y1,x2,y2\na,b,1,2,3,4\n")
    with pytest.raises(InputError) as caught:
        read_fish(tmp_path)
    assert str(caught.value) == messages.NO_FISH_COLUMN.format(
        path=tmp_path / "cichlids.csv", name="genus"
    )
    with pytest.raises(InputError) as caught:
        fish_experiment(fish, 1, levels=(Level("genus", "Cini", 5, has_bounds=True),))
    assert str(caught.value) == messages.ONE_GROUP.format(least=5, level="genus in Cini")
