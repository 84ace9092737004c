"""Shared parts of all reproductions: claims and verdicts, data files, results and reports."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kernova.errors import InputError, quoted
from kernova.files import replacing
from kernova.report.canvas import new_figure, picture_png
from kernova.report.page import Section, facts, paragraph, save_page
from kernova.report.page import table as page_table
from kernova.tables.formats import save_table
from kernova.tables.records import json_rows
from kernova.tables.table import read_table
from kernova.text import percent

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"

# Series in a figure differ by marker as well as by colour.
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#5b5b5b")
MARKERS: Final = "osD^vP"
_PIXELS_PER_INCH: Final = 120

Result = TypeVar("Result", bound="Reproduction")


# --- claims and verdicts ----------------------------------------------------------------------


class Claim(NamedTuple):
    """A claim of a paper: the printed value, our value, and the verdict."""

    claim: str
    paper: str
    ours: str
    verdict: str


class Spread(NamedTuple):
    """Mean and standard deviation over random draws."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        """Compute both from one number per draw."""
        drawn = np.asarray(values, dtype=np.float64)
        return cls(float(drawn.mean()), float(drawn.std(ddof=1)))

    def holds(self, figure: float) -> bool:
        """Return whether a figure lies within two standard deviations of the mean."""
        return abs(figure - self.mean) <= 2 * self.deviation

    def written(self, digits: int = 2) -> str:
        """Return mean and deviation as text, such as 0.91 ± 0.05."""
        return f"{self.mean:.{digits}f} ± {self.deviation:.{digits}f}"


def verdict(agrees: bool, in_part: bool = False, part: str = "") -> str:
    """Return "reproduced", "partly" with the part that holds, or "not reproduced".

    Examples
    --------
    >>> from kernova.papers.claims import verdict
    >>> verdict(False, in_part=True, part="on half of the sets")
    'partly: on half of the sets'
    """
    if agrees:
        return REPRODUCED
    if not in_part:
        return NOT_REPRODUCED
    return f"partly: {part}" if part else "partly"


def verdict_over_sets(holds: "pd.Series[bool]") -> str:
    """Return the verdict on a claim about every data set."""
    part = f"on {int(holds.sum())} of {len(holds)} sets"
    return verdict(bool(holds.all()), bool(holds.any()), part)


def claim_over_draws(
    claim: str,
    holds: "pd.Series[bool]",
    nearly_holds: "pd.Series[bool] | None" = None,
    nearly: str = "",
) -> Claim:
    """Return a claim that is reproduced if it holds in more than half of the draws.

    Parameters
    ----------
    claim : str
        The claim.
    holds : Series of bool
        Whether it holds, by draw.
    nearly_holds : Series of bool, optional
        Whether a weaker form holds, by draw: enough for "partly".
    nearly : str
        The weaker form.
    """
    fraction = float(holds.mean())
    ours = f"in {percent(fraction)} of the draws"
    if nearly_holds is None:
        return Claim(claim, "yes", ours, verdict(fraction > 0.5))
    weaker = float(nearly_holds.mean())
    ours = f"{ours}, {nearly} in {percent(weaker)}"
    return Claim(claim, "yes", ours, verdict(fraction > 0.5, weaker > 0.5, f"{nearly} in most"))


# --- data files -------------------------------------------------------------------------------


class LabelledTable(NamedTuple):
    """Features as in the file, and one label for each row, as text."""

    features: pd.DataFrame
    labels: "pd.Series[str]"


def check_data_folder(folder: Path, content: str = "data sets") -> None:
    """Raise an error if the folder does not exist."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; name the one that holds the {content}.")


def checked_names(names: str | Iterable[str], known: Collection[str]) -> list[str]:
    """Return names of data sets without repetitions; raise an error if one is unknown.

    Examples
    --------
    >>> from kernova.papers.claims import checked_names
    >>> checked_names(["wine", "iris", "wine"], ("iris", "wine", "digits"))
    ['wine', 'iris']
    """
    chosen = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            raise InputError(
                f"There is no data set {quoted(name)}; choose from {', '.join(known)}."
            )
    return chosen


def read_labelled_file(path: Path, categories: Collection[str] = ()) -> LabelledTable:
    """Read the features and the column "label" of a Parquet file."""
    if not path.is_file():
        raise InputError(
            f"There is no {path.name} in {path.parent}; put the set there, with its classes in a "
            'column "label".'
        )
    table = read_table(path, label_column="label", categories=categories, reading="strict")
    assert table.labels is not None  # a missing column is an error
    return LabelledTable(table.features, table.labels.astype(str))


# --- results and reports ----------------------------------------------------------------------


class Reproduction(ABC):
    """Results of repeating the experiments of a paper."""

    paper: ClassVar[str]

    @abstractmethod
    def claims(self) -> Sequence[Claim]:
        """Return every claim that the results can decide."""

    @abstractmethod
    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables, by the name of their file."""

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """Return the values before the tables in the JSON file."""

    def table(self) -> pd.DataFrame:
        """Return the claims as a table: the paper's value, ours, and the verdict."""
        return pd.DataFrame(self.claims(), columns=list(Claim._fields))

    def to_json_dict(self) -> dict[str, Any]:
        """Return all results as values for JSON, by the rule of ``tables.records``."""
        tables = {name.replace("-", "_"): json_rows(table) for name, table in self.tables().items()}
        return {"paper": self.paper, **self.header(), **tables}


def text_by_method(
    means: pd.DataFrame, text: Sequence[str], keys: str | list[str], methods: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a table of texts with one column for each method.

    Parameters
    ----------
    means : DataFrame
        One line for each combination of keys and "method".
    text : sequence of str
        The text for each line.
    keys : str or list of str
        The columns that name the lines of the result.
    methods : sequence of str, default=in order of appearance
        The columns of the result; absent ones are skipped.
    """
    wide = means.assign(text=text).pivot_table(
        "text", index=keys, columns="method", sort=False, aggfunc="first"
    )
    shown = [method for method in methods or wide.columns if method in wide.columns]
    return wide[shown].rename_axis(columns=None).reset_index()


def claims_section(
    claims: pd.DataFrame,
    notes: Iterable[str],
    failed: Sequence[str],
    introduction: Sequence[str] = (),
    caption: str = "Claims of the paper, and our results",
) -> Section:
    """Return the first section of a report: the number of claims by verdict, and all claims.

    Parameters
    ----------
    claims : DataFrame
        One line for each claim, with a column "verdict".
    notes : iterable of str
        Remarks below the table.
    failed : sequence of str
        Verdicts whose lines are marked.
    introduction : sequence of str
        Paragraphs above the table.
    caption : str
        Caption of the table.
    """
    verdicts = claims["verdict"].str.split(":").str[0].value_counts()
    return Section(
        "Claims",
        [
            facts({"claims": len(claims), **{str(name): n for name, n in verdicts.items()}}),
            *introduction,
            page_table(claims, caption, marked=claims["verdict"].isin(list(failed))),
            *(paragraph(note) for note in notes),
        ],
    )


def write_report(
    result: Result,
    figures: Mapping[str, Figure],
    make_page: Callable[[Result, Mapping[str, bytes]], str],
    folder: Path,
) -> list[Path]:
    """Write ``report.html``, every table as CSV and every figure as PNG; return the paths."""
    pictures = {name: picture_png(figure, _PIXELS_PER_INCH) for name, figure in figures.items()}
    written = [folder / "report.html"]
    save_page(make_page(result, pictures), written[0])
    for name, rows in result.tables().items():
        written.append(folder / f"{name}.csv")
        save_table(rows, written[-1])
    for name, png in pictures.items():
        written.append(folder / f"{name}.png")
        with replacing(written[-1]) as scratch:
            scratch.write_bytes(png)
    return written


def panels(
    width: float, height: float, n_rows: int = 1, n_columns: int = 1
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, without frames at the top and at the right."""
    figure = new_figure(width, height)
    axes = list(np.ravel(figure.subplots(n_rows, n_columns)))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes
