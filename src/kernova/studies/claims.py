"""What a paper prints, held against what came out: shared by all reproductions."""

from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kernova.errors import InputError


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


def percent(share: float) -> str:
    """Write a share without digits behind the point, as 75 %."""
    return f"{100 * share:.0f} %"


def check_count(value: object, name: str, least: int) -> None:
    """Refuse what is no whole number, or too small a one."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (is_whole and int(value) >= least):  # type: ignore[call-overload]
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Give a table's lines as dicts of plain values; infinities and gaps are None."""
    return [
        {str(name): _plain(value) for name, value in line.items()}
        for line in table.to_dict("records")
    ]


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not np.isfinite(plain) else plain
