"""Demo of the main workflows on data that comes with scikit-learn, one chapter per workflow."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from kernova.discover.strategies import DEFAULT_STRATEGY
from kernova.media.opening import DIGIT_COUNTS, digit_images, rare_digits
from kernova.persist.models import save_model
from kernova.progress import track
from kernova.report.figures import save_picture
from kernova.report.page import save_page
from kernova.tables.formats import save_table
from kernova.text import percent
from kernova.workflows.learn import learn_classes, read_labelled
from kernova.workflows.novelty import find_novelties, read_known_and_new
from kernova.workflows.novelty_page import novelty_figures, novelty_page
from kernova.workflows.outliers import find_outliers, read_rows
from kernova.workflows.outliers_page import outliers_figures, outliers_page
from kernova.workflows.recognize import read_new, recognize_rows
from kernova.workflows.recognize_page import recognition_page
from kernova.workflows.settings import (
    LearnSettings,
    NoveltySettings,
    OutlierSettings,
    SimulationSettings,
)
from kernova.workflows.simulate import SimulationResult, read_labelled_rows, simulate_strategies
from kernova.workflows.verdicts import NOVEL

_UNKNOWN_DIGIT = 4
_KNOWN_ROWS = 1200
_N_RUNS = 25
_SEED = 0


class Chapter(NamedTuple):
    """One workflow of the demo: sentences, a table, the files written, commands to try next."""

    title: str
    sentences: list[str]
    table: pd.DataFrame
    table_title: str
    files: list[Path]
    next_commands: list[str]


@dataclass(frozen=True)
class Demo:
    """All chapters of the demo."""

    chapters: list[Chapter]

    @property
    def files(self) -> list[Path]:
        """Everything that was written, in order."""
        return [path for chapter in self.chapters for path in chapter.files]

    @property
    def next_commands(self) -> list[str]:
        """Commands to try next."""
        return [command for chapter in self.chapters for command in chapter.next_commands]


def run_demo(folder: Path) -> Demo:
    """Run every chapter, and write its tables, figures and pages to the folder."""
    return Demo([chapter(folder) for chapter in track(_CHAPTERS, "demo")])


def _novelty_chapter(folder: Path) -> Chapter:
    """Novelty detection: nine digits are known, the tenth is among the new ones."""
    paths = {name: folder / f"{name}.csv" for name in ("known", "new", "verdicts")}
    _write_digits(paths["known"], paths["new"])
    tables = read_known_and_new(paths["known"], paths["new"], id_column="id", label_column="digit")
    # Pixels share one unit: scaling each by itself would blow up the empty margins.
    settings = NoveltySettings(scaling="none", false_discovery_rate=0.1, seed=_SEED)
    result = find_novelties(*tables, settings)
    results = _save_results(
        folder / "report.html", novelty_page(result), paths["verdicts"], result.rows
    )
    pictures = _saved(novelty_figures(result), folder, "novelty")
    return Chapter(
        title="Which of these digits are new?",
        sentences=[
            f"{len(tables.known.features)} images of every digit but {_UNKNOWN_DIGIT} are known; "
            f"{len(tables.new.features)} new ones are to be judged, some of them "
            f"{_UNKNOWN_DIGIT}s.",
            result.summary,
            result.detector.guarantee(),
        ],
        table=_by_digit(result.rows),
        table_title=f"Called novel, by digit ({_UNKNOWN_DIGIT} is the unknown one)",
        files=[*results, *pictures, paths["known"], paths["new"]],
        next_commands=[
            f"kernova novelty {paths['known']} {paths['new']} --id-column id --label-column digit "
            f"--scaling none --max-false-alarm 0.02 --report {folder / 'stricter.html'}",
            f"kernova novelty {paths['known']} {paths['new']} --id-column id --label-column digit "
            "--method isolation-forest",
            "kernova reproduce ksd",
            "kernova novelty --help",
        ],
    )


def _outliers_chapter(folder: Path) -> Chapter:
    """Outlier detection: find three typing errors in a table."""
    data = folder / "wines.csv"
    _write_wines(data)
    table = read_rows(data, id_column="wine", label_column="cultivar")
    settings = OutlierSettings(top=5, seed=_SEED)
    result = find_outliers(table, settings)
    results = _save_results(
        folder / "outliers.html", outliers_page(result), folder / "outliers.csv", result.rows
    )
    pictures = _saved(outliers_figures(result), folder, "outliers")
    return Chapter(
        title="Which of these wines are outliers?",
        sentences=[
            f"In a table of {len(result.rows)} wines, three errors were made on purpose: the ash "
            "of wine-010 and the proline of wine-080 are ten times too large, and the hue and "
            "color intensity of wine-150 are swapped.",
            result.summary,
        ],
        table=result.rows.head(settings.top)[["wine", "factor", "because"]],
        table_title="Most outlying first",
        files=[*results, *pictures, data],
        next_commands=[
            f"kernova outliers {data} --id-column wine --label-column cultivar "
            f"--max-false-alarm 0.1 --report {folder / 'proven.html'}",
            "kernova outliers --help",
        ],
    )


def recognition_chapter(folder: Path) -> Chapter:
    """Recognition: nine digits are learnt, the tenth is to be called unknown."""
    known, new = folder / "known.csv", folder / "new.csv"
    _write_digits(known, new)
    learnt = learn_classes(
        read_labelled(known, "digit", id_column="id"), LearnSettings(scale="common", seed=_SEED)
    )
    model, classes, report = (folder / f"digits{end}" for end in (".kernova", ".csv", ".html"))
    save_model(learnt.model, model)
    table = read_new(new, learnt.model, id_column="id", label_column="digit")
    result = recognize_rows(learnt.model, table)
    results = _save_results(report, recognition_page(result), classes, result.rows)
    return Chapter(
        title="Which digit is this, or is it none that we know?",
        sentences=[
            f"The known images are learnt, digit by digit; no {_UNKNOWN_DIGIT} is among them. Then "
            "each new image is recognised as one of the nine, or called unknown.",
            *learnt.tests.sentences,
            *result.sentences,
        ],
        table=result.by_class,
        table_title="Rows by class",
        files=[*results, model],
        next_commands=[
            f"kernova learn {known} --label-column digit --id-column id --scale common -o {model}",
            f"kernova recognize {model} {new} --id-column id --label-column digit",
        ],
    )


def discovery_chapter(folder: Path) -> Chapter:
    """Category discovery: find ten digits, some of them rare, in few questions."""
    data = folder / "rare_digits.csv"
    write_rare_digits(data)
    table = read_labelled_rows(data, "digit", id_column="id")
    settings = SimulationSettings(strategies=(DEFAULT_STRATEGY, "random"), seeds=_N_RUNS)
    result = simulate_strategies(table, settings)
    pictures = _saved({"curves": result.figure()}, folder, "discovery")
    return Chapter(
        title="Which digits does the table contain?",
        sentences=[
            f"{len(table.features)} images of ten digits; the rarest digit has "
            f"{min(DIGIT_COUNTS)}. Nothing is known of them, and an expert labels one image after "
            "another until every digit has been found. Here their labels simulate the expert.",
            _compared(result),
        ],
        table=_first_questions(result),
        table_title="Images of each digit, and the question at which it was found",
        files=[*pictures, data],
        next_commands=[
            "kernova discover --demo",
            f"kernova discover {data} --id-column id --drop digit --terminal",
            f"kernova simulate {data} --label-column digit --id-column id "
            f"--picture {folder / 'strategies.png'}",
        ],
    )


def _compared(result: SimulationResult) -> str:
    ours, random = result.overview()["questions"]
    return (
        f"The strategy {DEFAULT_STRATEGY} needs {ours} questions; random sampling needs {random} "
        f"(the median of {_N_RUNS} runs)."
    )


def _first_questions(result: SimulationResult) -> pd.DataFrame:
    """Count the images of each digit, and find the question at which each strategy found it."""
    assert result.table.labels is not None
    digits = result.table.labels.to_numpy()
    lines = pd.DataFrame({"digit": np.unique(digits)})
    lines["images"] = [int((digits == digit).sum()) for digit in lines["digit"]]
    for name, runs in result.runs.items():
        lines[name] = [
            float(np.median([np.argmax(digits[run.asked] == digit) + 1 for run in runs]))
            for digit in lines["digit"]
        ]
    return lines.sort_values("images", kind="stable")


_CHAPTERS: tuple[Callable[[Path], Chapter], ...] = (
    _novelty_chapter,
    _outliers_chapter,
    discovery_chapter,
    recognition_chapter,
)


def _save_results(report: Path, html: str, table: Path, rows: pd.DataFrame) -> list[Path]:
    save_table(rows, table)
    save_page(html, report)
    return [report, table]


def _saved(figures: dict[str, Figure], folder: Path, job: str) -> list[Path]:
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{job}_{name}.png")
        save_picture(figure, paths[-1])
    return paths


def _write_wines(data: Path) -> None:
    """Write chemical analyses of wines, with typing errors."""
    wines = load_wine(as_frame=True)
    rows = wines.data.rename(columns=lambda name: name.replace("/", "_"))
    rows.insert(0, "wine", [f"wine-{number:03d}" for number in range(1, len(rows) + 1)])
    rows["cultivar"] = wines.target + 1
    rows.loc[9, "ash"] = round(10 * rows.loc[9, "ash"], 2)
    rows.loc[79, "proline"] = 10 * rows.loc[79, "proline"]
    swapped = ["color_intensity", "hue"]
    rows.loc[149, swapped] = rows.loc[149, swapped[::-1]].to_numpy()
    save_table(rows, data)


def write_rare_digits(data: Path) -> None:
    """Write images of all digits, in decreasing numbers."""
    save_table(rare_digits(), data)


def _write_digits(known: Path, new: Path) -> None:
    """Write two tables of images; the unknown digit is in the second only."""
    images = digit_images()
    is_unknown = (images["digit"] == _UNKNOWN_DIGIT).to_numpy()
    random = np.random.default_rng(_SEED)
    ordinary = random.permutation(np.flatnonzero(~is_unknown))
    mixed = random.permutation(np.concatenate([ordinary[_KNOWN_ROWS:], np.flatnonzero(is_unknown)]))
    save_table(images.iloc[ordinary[:_KNOWN_ROWS]], known)
    save_table(images.iloc[mixed], new)


def _by_digit(rows: pd.DataFrame) -> pd.DataFrame:
    counts = rows.assign(is_novel=rows["verdict"] == NOVEL).groupby("digit", as_index=False)
    table = counts.agg(rows=("is_novel", "size"), novel=("is_novel", "sum"))
    table["fraction"] = [percent(n / m) for n, m in zip(table.novel, table.rows, strict=True)]
    return table
