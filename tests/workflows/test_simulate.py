"""Simulated strategies on a table: overview, lines and JSON say what the runs say."""

import json

import numpy as np
import pandas as pd
import pytest

from kernova.discover.simulation import simulate
from kernova.discover.strategies import STRATEGIES
from kernova.errors import InputError
from kernova.tables.table import read_table
from kernova.workflows.settings import SimulationSettings
from kernova.workflows.simulate import encoded_rows, read_labelled_rows, simulate_strategies
from tests.workflows.messages import (
    BAD_SIMULATIONS,
    NO_ANSWERS,
    UNLABELLED_ROW,
    WRONG_LABELS,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        np.concatenate([rng.normal(0, 1, (50, 3)), rng.normal(5, 0.2, (5, 3))]), columns=list("xyz")
    )
    rows["colour"] = ["red", "blue", "blue", "red", "green"] * 11
    rows["kind"] = ["common"] * 50 + ["rare"] * 5
    rows.insert(0, "name", [f"row-{number}" for number in range(55)])
    target = tmp_path_factory.mktemp("simulation") / "rows.csv"
    rows.to_csv(target, index=False)
    return target


@pytest.fixture(scope="module")
def table(path):
    return read_labelled_rows(path, "kind", id_column="name")


@pytest.fixture(scope="module")
def result(table):
    return simulate_strategies(table, SimulationSettings(seeds=3, questions=8))


def test_every_strategy_is_run_as_often_as_asked(result):
    assert list(result.runs) == list(STRATEGIES)
    assert {len(runs) for runs in result.runs.values()} == {3}
    assert result.n_classes == 2
    assert result.summary == ("55 rows of 2 classes, the rarest with 5; 3 runs of each strategy.")


def test_lots_differ_by_seed_and_the_rest_is_run_once(result):
    asked = {name: [run.asked.tolist() for run in runs] for name, runs in result.runs.items()}
    assert asked["random"][0] != asked["random"][1] != asked["random"][2]
    assert result.runs["hms-ci"][0] is result.runs["hms-ci"][2]


def test_a_run_is_what_simulate_gives(result, table):
    X, labels = encoded_rows(table, "refuse"), table.labels.tolist()
    for name in ("hms-ci-had", "random", "interleave"):
        alone = simulate(X, labels, name, random_state=0, max_questions=8)
        assert result.runs[name][0].asked.tolist() == alone.asked.tolist()


def test_overview_and_lines_agree_with_the_runs(result):
    lines, overview = result.lines(), result.overview().set_index("strategy")
    for name, runs in result.runs.items():
        needed = [run.questions_to_all for run in runs]
        found = [n for n in needed if n is not None]
        line = overview.loc[name]
        assert line["complete"] == f"{len(found)} of 3"
        assert line["most"] == (str(max(found)) if len(found) == 3 else "-")
        assert line["fewest"] == (str(min(found)) if found else "-")
        assert line["questions"] == (
            "never" if len(found) < 2 else f"{sorted(found + [99] * 3)[1]:g}"
        )
        mine = lines[lines["strategy"] == name]
        assert mine["questions_to_all"].dropna().tolist() == found
        assert line["area"] == pytest.approx(mine["area"].mean())


def test_json_holds_ids_and_curves_and_no_nan(result):
    answer = json.loads(json.dumps(result.to_json_dict(), allow_nan=False))
    assert answer["classes"] == {"common": 50, "rare": 5}
    assert len(answer["runs"]) == 3 * len(STRATEGIES)
    run = answer["runs"][0]
    assert run["asked"][0].startswith("row-")
    assert len(run["curve"]) == len(run["asked"]) == run["questions_asked"]
    missed = [run for run in answer["runs"] if run["questions_to_all"] is None]
    assert all(run["curve"][-1] < 2 for run in missed)


def test_mistakes_are_drawn_anew_for_each_seed(table):
    settings = SimulationSettings(strategies=("hms-ci",), seeds=4, error_rate=0.6)
    result = simulate_strategies(table, settings)
    assert len({tuple(run.classes_seen) for run in result.runs["hms-ci"]}) > 1
    assert result.summary.endswith(WRONG_LABELS)


def test_the_figure_has_a_line_for_each_strategy(result):
    (ax,) = result.figure().axes
    legend = [text.get_text().split(":")[0] for text in ax.get_legend().get_texts()]
    assert legend == list(STRATEGIES)


def test_bad_input_is_rejected(table, path, tmp_path):
    for settings, message in BAD_SIMULATIONS:
        with pytest.raises(InputError) as caught:
            simulate_strategies(table, SimulationSettings(**settings))
        assert str(caught.value) == message
    unlabelled = read_table(path, id_column="name")
    with pytest.raises(InputError) as caught:
        simulate_strategies(unlabelled)
    assert str(caught.value) == NO_ANSWERS.format(path)
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("x,kind\n1,a\n2,\n3,b\n")
    with pytest.raises(InputError) as caught:
        read_labelled_rows(gaps, "kind")
    assert str(caught.value) == UNLABELLED_ROW.format(gaps)
