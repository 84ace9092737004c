"""Report of a suite: tables as CSV, numbers as JSON, pictures, and a page with all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from kernova.errors import InputError
from kernova.proving import comparison
from kernova.proving.comparison import FAR, NEAR, NOTHING, RANDOM
from kernova.proving.journal import RunRecord
from kernova.proving.pictures import (
    courses_picture,
    named_strategies,
    overall_picture,
    problems_picture,
)
from kernova.proving.runs import Measures
from kernova.proving.suite import SuiteRuns
from kernova.proving.tasks import told
from kernova.report.canvas import picture_png, save_picture
from kernova.report.page import Section, page, paragraph, picture, save_page, table
from kernova.tables.formats import save_table
from kernova.tables.records import json_rows
from kernova.text import counted, percent, quantity

_DPI = 120


@dataclass(frozen=True)
class SuiteReport:
    """The tables, pictures and notes of a suite.

    Attributes
    ----------
    suite : SuiteRuns
        The runs.
    """

    suite: SuiteRuns

    def __post_init__(self) -> None:
        """Raise if there is nothing to compare."""
        means = self.means[self.means["error_rate"] == 0]
        if self.reference not in set(means["strategy"]):
            reasons = [record.error for record in self.suite.records if record.error]
            reasons += list(self.suite.skipped.values())
            reason = reasons[0] if reasons else "No run is finished."
            raise InputError(f"There are no runs of {self.reference} to compare. {reason}")

    @property
    def reference(self) -> str:
        """The strategy that is compared with the others."""
        return self.suite.plan.strategies[0]

    @cached_property
    def means(self) -> pd.DataFrame:
        """Means over draws, by problem, strategy and error rate."""
        return comparison.means_by_problem(self._runs)

    @cached_property
    def _runs(self) -> pd.DataFrame:
        lines = [_line(record) for record in self.suite.records if record.course is not None]
        names = ["problem", "draw", "strategy", "told", "error_rate", *Measures._fields]
        return pd.DataFrame(lines, columns=names)

    @cached_property
    def _overall(self) -> pd.DataFrame:
        return comparison.overall(self.means)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables that do not depend on the machine, by the name of their file."""
        return {
            "overall": self._overall,
            "pairs": comparison.pairs(self.means, self.reference),
            "ratios-to-best": comparison.ratios_to_best(self.means),
            "best-by-problem": comparison.best_by_problem(self.means, self.reference),
            "worse-than-random": comparison.worse_than_random(self.means, self.reference),
            "wrong-answers": comparison.wrong_answers(self.means),
            "problems": self.means,
            "runs": self._runs,
            "failures": self.failures(),
            "skipped": pd.DataFrame(
                list(self.suite.skipped.items()), columns=["problem", "reason"]
            ),
        }

    def failures(self) -> pd.DataFrame:
        """Return the runs that failed, and why."""
        failed = [record for record in self.suite.records if record.error]
        lines = [{**record.key._asdict(), "error": record.error} for record in failed]
        return pd.DataFrame(lines, columns=["problem", "draw", "strategy", "error_rate", "error"])

    def seconds(self) -> pd.DataFrame:
        """Return the time of the processor that runs took, by strategy."""
        lines = [
            {"strategy": record.key.strategy, "seconds": record.seconds}
            for record in self.suite.records
            if record.course is not None
        ]
        by_strategy = pd.DataFrame(lines).groupby("strategy", sort=False)["seconds"]
        return by_strategy.agg(runs="size", total="sum", mean="mean", longest="max").reset_index()

    def figures(self) -> dict[str, Figure]:
        """Draw all pictures, by the name of their file."""
        named = named_strategies(self._overall, self.reference)
        figures = {
            "overall": overall_picture(self._overall, self.reference),
            "problems": problems_picture(self.means, named),
        }
        courses = self._courses([*named, RANDOM])
        if not courses.empty:
            figures["courses"] = courses_picture(courses, named)
        return figures

    def _courses(self, names: list[str]) -> pd.DataFrame:
        means = self.means[self.means["error_rate"] == 0]
        known = set(zip(means["problem"], means["strategy"], strict=True))
        lines = [
            {**record.key._asdict(), "meetings": record.course.meetings}
            for record in self.suite.records
            if record.course is not None
            and record.key.error_rate == 0
            and (record.key.problem, record.key.strategy) in known
        ]
        return comparison.mean_course(pd.DataFrame(lines), dict.fromkeys(names))

    def shown(self) -> dict[str, pd.DataFrame]:
        """Return the tables for people, by their titles."""
        tables = self.tables()
        shown = {
            "Questions, geometric means over problems (area: mean)": _shown_overall(self._overall),
            f"Questions of the other strategy over those of {self.reference}": _shown_pairs(
                tables["pairs"]
            ),
            "Questions to all categories over the fewest of any strategy told nothing": _shown_best(
                tables["ratios-to-best"]
            ),
        }
        worse = tables["worse-than-random"].rename(columns={"reference": self.reference})
        if len(worse):
            title = f"{self.reference} is worse than random sampling, and another is better"
            shown[title] = worse.drop(columns="ratio")
        if len(tables["wrong-answers"]):
            title = "Questions with wrong answers over those without"
            shown[title] = _shown_wrong(tables["wrong-answers"])
        return shown

    def notes(self) -> list[str]:
        """Return what was run, skipped, and failed, in sentences."""
        plan, skipped = self.suite.plan, self.suite.skipped
        n_problems = self.means["problem"].nunique()
        notes = [
            f"{quantity(n_problems, 'problem')}, up to {quantity(plan.draws, 'draw')} each. A run "
            f"goes on at random after {plan.most_chosen:,} questions."
        ]
        notes += [
            f"Runs of {name} do after {plan.most_chosen_by(name):,}."
            for name in plan.strategies
            if plan.most_chosen_by(name) < plan.most_chosen
        ]
        notes += [f"Skipped: {name}. {reason}" for name, reason in skipped.items()]
        failures = self.failures()
        if len(failures):
            by_strategy = failures["strategy"].value_counts(sort=False).to_dict()
            notes.append(
                f"{quantity(len(failures), 'run')} failed, and the strategy has no figure for the "
                f"problem: {counted({str(name): n for name, n in by_strategy.items()})}; see "
                f"failures.csv. The first said: {failures['error'].iloc[0]}"
            )
        worse = comparison.worse_than_random(self.means, self.reference)
        if worse.empty:
            notes.append(
                f"On no problem {self.reference} is worse than random sampling while another "
                "strategy is better."
            )
        return notes

    def to_json_dict(self) -> dict[str, Any]:
        """Return all results as values for JSON."""
        plan = self.suite.plan
        tables = {name.replace("-", "_"): json_rows(rows) for name, rows in self.tables().items()}
        return {
            "reference": self.reference,
            "strategies": list(plan.strategies),
            "draws": plan.draws,
            "error_rates": list(plan.error_rates),
            "most_chosen": plan.most_chosen,
            "notes": self.notes(),
            **tables,
        }


def save_report(report: SuiteReport, folder: Path) -> list[Path]:
    """Write the page, every table as CSV and every picture as PNG; return the paths."""
    figures = report.figures()
    written = [folder / "report.html"]
    save_page(suite_page(report, figures), written[0])
    for name, rows in {**report.tables(), "seconds": report.seconds()}.items():
        written.append(folder / f"{name}.csv")
        save_table(rows, written[-1])
    for name, figure in figures.items():
        written.append(folder / f"{name}.png")
        save_picture(figure, written[-1], _DPI)
    return written


def suite_page(report: SuiteReport, figures: dict[str, Figure]) -> str:
    """Return the page with the tables and pictures."""
    captions = {
        "overall": "Geometric means over problems, with bootstrap intervals of 95 %; hollow dots "
        "are told something of the labels.",
        "problems": "Questions to all categories by problem, relative to random sampling.",
        "courses": "Fraction of categories met against questions: geometric means over problems.",
    }
    shown = [table(rows, title) for title, rows in report.shown().items()]
    pictures = [
        picture(picture_png(figures[name], _DPI), caption, caption)
        for name, caption in captions.items()
        if name in figures
    ]
    problems = comparison.by_strategy(report.means, "questions").reset_index()
    formats = {name: ".3g" for name in problems.columns if name != "problem"}
    return page(
        "Question strategies on the proving ground",
        [
            Section("Results", [*map(paragraph, report.notes()), *shown]),
            Section("Pictures", pictures),
            Section(
                "By problem",
                [table(problems, "Questions to all categories: geometric means", formats)],
            ),
            Section("Problems", [table(_shown_best_of(report), "The best strategy told nothing")]),
        ],
        lead="Simulated experts who know the labels answer until every category is met.",
        footer="Made by kernova reproduce hms --suite.",
    )


# --- tables for people -----------------------------------------------------------------------


def _best_first(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the lines of strategies in ascending order, those that are told nothing first."""
    is_told = rows["told"] != NOTHING
    return rows.assign(_told=is_told).sort_values(
        ["_told", column], kind="stable", ignore_index=True
    )


def _shown_overall(rows: pd.DataFrame) -> pd.DataFrame:
    rows = _best_first(rows, "to_random")
    return pd.DataFrame(
        {
            "strategy": rows["strategy"],
            "told": rows["told"],
            "problems": rows["problems"],
            "to random": _spreads(rows, "to_random"),
            "all categories": _spreads(rows, "questions"),
            "90 %": _spreads(rows, "questions_90"),
            "area": _spreads(rows, "area"),
        }
    )


def _shown_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    if rows.empty:
        return pd.DataFrame(columns=["strategy"])
    rows = _best_first(rows, "ratio")
    shown = rows.assign(ratio=_spreads(rows, "ratio"), p=[f"{p:.2g}" for p in rows["p"]])
    return _side_by_side(shown, ["ratio", "p", "worse", "equal", "better"])


def _shown_best(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "strategy": rows["strategy"],
            "largest": [f"{value:.3g}" for value in rows["largest"]],
            "on": rows["largest_on"],
            "90th percentile": [f"{value:.3g}" for value in rows["percentile_90"]],
            f"≤ {NEAR:g}": _of(rows[f"at_most_{NEAR:g}"], rows["problems"]),
            f"≤ {FAR:g}": _of(rows[f"at_most_{FAR:g}"], rows["problems"]),
        }
    )


def _shown_best_of(report: SuiteReport) -> pd.DataFrame:
    rows = comparison.best_by_problem(report.means, report.reference)
    numbers = {
        name: [f"{value:.3g}" for value in rows[name]]
        for name in ("best", "reference", "random", "ratio")
    }
    return rows.assign(**numbers).rename(columns={"reference": report.reference})


def _shown_wrong(rows: pd.DataFrame) -> pd.DataFrame:
    rows = _best_first(rows, "ratio")
    largest = [
        f"{ratio:.3g} ({on})" for ratio, on in zip(rows["largest"], rows["largest_on"], strict=True)
    ]
    wrong = [percent(rate) for rate in rows["error_rate"]]
    shown = rows.assign(ratio=_spreads(rows, "ratio"), largest=largest, wrong=wrong)
    return _side_by_side(shown, ["ratio", "largest"], ["strategy", "told", "wrong"])


def _side_by_side(
    rows: pd.DataFrame, columns: list[str], keys: Sequence[str] = ("strategy", "told")
) -> pd.DataFrame:
    """Return one line for each strategy: columns for all categories, then those for 90 %."""
    every, most = (rows[rows["measure"] == measure] for measure in comparison.COUNTS)
    return every[[*keys, *columns]].merge(
        most[[*keys, *columns]], on=list(keys), suffixes=("", ", 90 %"), how="left"
    )


def _spreads(rows: pd.DataFrame, name: str) -> list[str]:
    columns = (rows[name], rows[f"{name}_low"], rows[f"{name}_high"])
    return [
        "–" if pd.isna(middle) else f"{middle:.3g} ({low:.3g}–{high:.3g})"
        for middle, low, high in zip(*columns, strict=True)
    ]


def _of(counts: Iterable[int], totals: Iterable[int]) -> list[str]:
    return [f"{n} of {total}" for n, total in zip(counts, totals, strict=True)]


def _line(record: RunRecord) -> dict[str, Any]:
    assert record.course is not None
    key, measures = record.key._asdict(), record.course.measures._asdict()
    return {**key, "told": told(record.key.strategy), **measures}
