"""What a paper prints, held against what came out: shared by all reproductions.

What every reproduction leaves behind: a page, and each table and picture as a file.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kernova.files import replacing
from kernova.report.canvas import picture_png
from kernova.report.page import save_page
from kernova.tables.formats import save_table


class Claim(NamedTuple):
    """One statement of the paper, what it prints, what came out here, and how they agree."""

    claim: str
    paper: str
    ours: str
    verdict: str


class Spread(NamedTuple):
    """A mean over draws and their standard deviation."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        """Take both from one number per draw."""
        drawn = np.asarray(values, dtype=np.float64)
        return cls(float(drawn.mean()), float(drawn.std(ddof=1)))

    def holds(self, figure: float) -> bool:
        """Whether a figure lies within two standard deviations of the mean."""
        return abs(figure - self.mean) <= 2 * self.deviation

    def written(self, digits: int = 2) -> str:
        """Write mean and deviation, as 0.91 ± 0.05."""
        return f"{self.mean:.{digits}f} ± {self.deviation:.{digits}f}"


_PIXELS_PER_INCH = 120


class Reproduction(Protocol):
    """What came out of remaking a paper's experiments."""

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give every table by its name."""
        ...

    def figures(self) -> dict[str, Figure]:
        """Draw every picture, by its name."""
        ...


Result = TypeVar("Result", bound=Reproduction)


def write_reproduction(
    result: Result, make_page: Callable[[Result, Mapping[str, bytes]], str], folder: Path
) -> list[Path]:
    """Write the page, a table (CSV) and a picture (PNG) of everything; give the paths."""
    pictures = {
        name: picture_png(figure, _PIXELS_PER_INCH) for name, figure in result.figures().items()
    }
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
