"""The report of a suite: its files, its sentences, and what it does without some runs."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.proving.report import SuiteReport, save_report
from kernova.proving.suite import run_suite
from tests.proving import messages
from tests.proving.stand_ins import Failing, add_baseline, use_tiny_problems

TABLES = {
    *("overall", "pairs", "ratios-to-best", "best-by-problem", "worse-than-random"),
    *("wrong-answers", "problems", "runs", "failures", "skipped", "seconds"),
}
PICTURES = {"overall", "problems", "courses"}


def reported(plan, folder):
    return SuiteReport(run_suite(plan, folder, folder))


def saved(report, folder):
    target = folder / "report"
    target.mkdir()
    paths = save_report(report, target)
    assert {path.name for path in target.iterdir()} == {path.name for path in paths}
    return target, {path.name for path in paths}


def test_a_report_has_a_page_tables_and_pictures(tiny, tmp_path):
    report = reported(tiny(draws=2), tmp_path)
    target, names = saved(report, tmp_path)
    tables, pictures = (
        {f"{n}.{end}" for n in of} for of, end in ((TABLES, "csv"), (PICTURES, "png"))
    )
    assert names == {"report.html", *tables, *pictures}
    html = (target / "report.html").read_text()
    assert html.count("<img ") == len(PICTURES)
    assert "2 problems, up to 2 draws each." in html
    assert len(pd.read_csv(target / "runs.csv")) == len(report.suite.records)
    numbers = json.loads(json.dumps(report.to_json_dict()))
    assert numbers["reference"] == "farthest-first"
    assert len(numbers["runs"]) == len(report.suite.records)


def test_a_failed_run_takes_the_problem_from_the_strategy_alone(tiny, tmp_path, monkeypatch):
    add_baseline(monkeypatch, "failing", Failing())
    report = reported(tiny("nndm", "failing", draws=1), tmp_path)
    assert set(report.means["strategy"]) == {"nndm", "random"}
    assert len(report.failures()) == 2
    assert messages.REPORTED_FAILURES in report.notes()
    assert "failures.csv" in saved(report, tmp_path)[1]


def test_without_runs_of_the_reference_there_is_no_report(tiny, tmp_path, monkeypatch):
    add_baseline(monkeypatch, "failing", Failing())
    with pytest.raises(InputError) as error:
        reported(tiny("failing", "nndm", draws=1), tmp_path)
    assert str(error.value) == messages.NOTHING_TO_COMPARE.format(
        strategy="failing", reason=messages.FAILED
    )


def only(runs, is_kept):
    """Return the report of a part of the runs, or raise as it does."""
    return SuiteReport(replace(runs, records=tuple(filter(is_kept, runs.records))))


def test_runs_with_wrong_answers_alone_are_nothing_to_compare(tiny, tmp_path):
    runs = run_suite(tiny("nndm", draws=1), tmp_path, tmp_path)
    with pytest.raises(InputError) as error:
        only(runs, lambda one: one.key.strategy != "nndm" or one.key.error_rate > 0)
    assert str(error.value) == messages.NOTHING_TO_COMPARE.format(
        strategy="nndm", reason="No run is finished."
    )


def test_without_a_common_problem_there_is_no_picture_of_courses(tiny, tmp_path):
    """The other strategy failed where the reference did not."""
    runs = run_suite(tiny("nndm", "farthest-first", draws=1), tmp_path, tmp_path)
    kept = {("tiny-a", "nndm"), ("tiny-b", "farthest-first")}
    kept |= {("tiny-a", "random"), ("tiny-b", "random")}
    report = only(runs, lambda one: (one.key.problem, one.key.strategy) in kept)
    _, names = saved(report, tmp_path)
    assert {name for name in names if name.endswith(".png")} == {"overall.png", "problems.png"}


def test_skipped_problems_are_named(tmp_path, monkeypatch):
    plan = use_tiny_problems(monkeypatch, "tiny-a", "tiny-missing")
    notes = reported(plan(draws=1), tmp_path).notes()
    sentence = messages.MISSING_FILE.format(name="tiny.parquet", folder=tmp_path)
    assert f"Skipped: tiny-missing. {sentence}" in notes
