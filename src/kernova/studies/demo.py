"""A tour of the main jobs on data that comes with scikit-learn; each job is a chapter."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from kernova.progress import track
from kernova.report.figures import save_picture
from kernova.report.page import save_page
from kernova.report.tables import save_table
from kernova.studies.novelty import NoveltySettings, find_novelties, read_known_and_new
from kernova.studies.novelty_page import novelty_figures, novelty_page

_UNKNOWN_DIGIT = 4
_KNOWN_ROWS = 1200
_SEED = 0


class Chapter(NamedTuple):
    """One job of the demo: what was done, in words and figures, and what it left behind."""

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
        """What a user might type next."""
        return [command for chapter in self.chapters for command in chapter.next_commands]


def run_demo(folder: Path) -> Demo:
    """Run every chapter, and leave its tables, pictures and pages in the folder."""
    return Demo([chapter(folder) for chapter in track(_CHAPTERS, "demo")])


def novelty_chapter(folder: Path) -> Chapter:
    """Nine digits are known: find the tenth among new ones."""
    paths = {name: folder / f"{name}.csv" for name in ("known", "new", "verdicts")}
    _write_digits(paths["known"], paths["new"])
    tables = read_known_and_new(paths["known"], paths["new"], id_column="id", label_column="digit")
    # Pixels share one unit: scaling each by itself would blow up the empty margins.
    settings = NoveltySettings(scaling="none", false_discovery_rate=0.1, seed=_SEED)
    result = find_novelties(*tables, settings)
    save_table(result.rows, paths["verdicts"])
    report = folder / "report.html"
    save_page(novelty_page(result), report)
    pictures = []
    for name, figure in novelty_figures(result).items():
        pictures.append(folder / f"novelty_{name}.png")
        save_picture(figure, pictures[-1])
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
        files=[report, paths["verdicts"], *pictures, paths["known"], paths["new"]],
        next_commands=[
            f"kernova novelty {paths['known']} {paths['new']} --id-column id --label-column digit "
            f"--scaling none --max-false-alarm 0.02 --report {folder / 'stricter.html'}",
            f"kernova novelty {paths['known']} {paths['new']} --id-column id --label-column digit "
            "--method isolation-forest",
            "kernova reproduce ksd",
            "kernova novelty --help",
        ],
    )


_CHAPTERS: tuple[Callable[[Path], Chapter], ...] = (novelty_chapter,)


def _write_digits(known: Path, new: Path) -> None:
    """Write two tables of 8 x 8 images; the unknown digit is in the second only."""
    digits = load_digits()
    rows = pd.DataFrame(digits.data, columns=[f"p{place // 8}{place % 8}" for place in range(64)])
    rows.insert(0, "id", [f"image-{number:04d}" for number in range(len(rows))])
    rows.insert(1, "digit", digits.target)
    is_unknown = digits.target == _UNKNOWN_DIGIT
    random = np.random.default_rng(_SEED)
    ordinary = random.permutation(np.flatnonzero(~is_unknown))
    mixed = random.permutation(np.concatenate([ordinary[_KNOWN_ROWS:], np.flatnonzero(is_unknown)]))
    save_table(rows.iloc[ordinary[:_KNOWN_ROWS]], known)
    save_table(rows.iloc[mixed], new)


def _by_digit(rows: pd.DataFrame) -> pd.DataFrame:
    counts = rows.assign(is_novel=rows["verdict"] == "novel").groupby("digit", as_index=False)
    table = counts.agg(rows=("is_novel", "size"), novel=("is_novel", "sum"))
    table["share"] = [f"{100 * n / m:.0f} %" for n, m in zip(table.novel, table.rows, strict=True)]
    return table
