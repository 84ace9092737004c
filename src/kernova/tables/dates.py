"""Dates and times as features: the day as a number, and hour, weekday and season where they matter.

A column of dates becomes the number of days since the first of January of its median year, which
its name says. Hour, weekday and day of the year are features of their own where rows are not
spread evenly over them (a chi-squared test at 1 %): on even ones no row can be unusual. Hours and
days of the year are cut open where the fewest rows are, so that 23:50 and 0:10 stay neighbours;
hours behind midnight may therefore be 24 and more. A weekday is a category.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray
from scipy.special import chdtri

from kernova.errors import quoted, shortened
from kernova.typing import Mask, Vector

Kind = Literal["date", "time", "duration"]
# Microseconds since 1970 as float64 would lose digits: instants stay datetime64[us].
Values = NDArray[Any]

_DAYS: Final = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d-%b-%Y", "%d-%B-%Y"),
    *("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%y"),
)
_CLOCKS: Final = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S")
_MONTHS: Final = ("%b %Y", "%B %Y", "%m/%Y", "%b-%y", "%b-%Y")
_DATE_FORMATS: Final = (
    "ISO8601",
    *(day + clock for day, clock in product(_DAYS, _CLOCKS)),
    *("%a, %d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S", "%a %b %d %H:%M:%S %Y"),
    *_MONTHS,
)
# Whole numbers such as 20241231, in columns of at least ten rows.
COMPACT: Final = "%Y%m%d"
_FIRST_COMPACT, _LAST_COMPACT, _FEWEST_COMPACT = 1900_01_01, 2100_12_31, 10
_LONG_CLOCK: Final = "H:MM:SS"  # the "format" of durations
_ZONE: Final = r"[0-9]:[0-9]{2}.*(?:Z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2})$"
_TIME_FORMATS: Final = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
_SWAPPED: Final = {"%d/%m/": "%m/%d/", "%d-%m-": "%m-%d-"}  # both can read a text
_UTC: Final = ("", " +0000")  # in place of the zone's name
_SAMPLE: Final = 60  # texts that decide which formats are tried
_LONGEST: Final = 40
_SHORTEST: Final = 4
_WEEKDAYS: Final = np.array(
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], dtype=object
)
# A cycle is a feature if this many rows or more would fall into each bin, and unevenly.
_ROWS_PER_BIN: Final = 5
_SIGNIFICANCE: Final = 0.01
_HOUR_BINS, _SEASON_BINS = 8, 12
_YEAR: Final = 365.25
_LEAST_CYCLES: Final = 2


class Moments(NamedTuple):
    """Values of a column of dates (datetime64), times of day (hours) or durations (seconds)."""

    kind: Kind
    cells: Values
    pattern: str = ""  # the format of texts
    is_ambiguous: bool = False  # day and month could be exchanged
    zone: str = ""  # whose clock the hours are read on, if the column has a time zone


@dataclass(frozen=True)
class DatePlan:
    """Features of a column of dates, learnt from known rows."""

    kind: Kind
    pattern: str = ""
    origin: str = ""  # the day from which days are counted
    first_hour: float | None = None  # where the day is cut open; None without a feature
    has_weekday: bool = False
    first_day: float | None = None  # of the year


def is_moment(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is a date, a time or a duration that can be read."""
    types = pa.types
    return bool(types.is_temporal(kind) and not types.is_interval(kind))


def moments_of(column: pa.ChunkedArray) -> Moments:
    """Return the values of a column of Arrow's dates, times or durations.

    Times with a time zone are read on that zone's clock.
    """
    types, kind = pa.types, column.type
    if types.is_duration(kind):
        return Moments("duration", _divided(column.cast(pa.int64()), _per_second(kind.unit)))
    if types.is_time(kind):
        return Moments("time", _divided(column.cast(_whole(kind)), 3600 * _per_second(kind.unit)))
    zone = kind.tz if types.is_timestamp(kind) and kind.tz is not None else ""
    if zone:
        column = _on_local_clock(column)
    instants = column.cast(pa.timestamp("us"), safe=False)
    return Moments("date", instants.to_numpy().astype("datetime64[us]"), zone=zone)


def compact_dates(numbers: pa.ChunkedArray, *, is_known: bool) -> Moments | None:
    """Return the dates of whole numbers such as 20241231; None if some are no dates.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from kernova.tables.dates import compact_dates
    >>> compact_dates(pa.chunked_array([[20240229, None]]), is_known=True).cells.tolist()[0]
    datetime.datetime(2024, 2, 29, 0, 0)
    >>> compact_dates(pa.chunked_array([[20240230] * 10]), is_known=False) is None
    True
    """
    ends = compute.min_max(numbers).as_py()
    if ends["min"] is None or (len(numbers) < _FEWEST_COMPACT and not is_known):
        return None
    if ends["min"] < _FIRST_COMPACT or ends["max"] > _LAST_COMPACT:
        return None
    try:
        texts = numbers.cast(pa.int64()).cast(pa.string()).to_pandas()
        days = pd.to_datetime(texts, format=COMPACT)
    except (pa.ArrowException, ValueError):
        return None
    return Moments("date", days.to_numpy().astype("datetime64[us]"), COMPACT)


def _whole(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if pa.types.is_time32(kind) else pa.int64()


def _per_second(unit: str) -> float:
    return {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]


def _divided(column: pa.ChunkedArray, by: float) -> Vector:
    numbers = column.cast(pa.float64(), safe=False).to_numpy()
    return np.asarray(numbers, dtype=np.float64) / by


def _on_local_clock(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return compute.local_timestamp(column)
    except (pa.ArrowException, ValueError):  # a zone that this machine does not know
        return column.cast(pa.timestamp(column.type.unit))


# --- texts ---------------------------------------------------------------------------------------


def parsed_moments(texts: "pd.Series[str]", pattern: str = "") -> Moments | None:
    """Read texts as dates or times of day, all in one format; None if no format reads all.

    Parameters
    ----------
    texts : Series of str
        Different texts, without those that stand for "no value".
    pattern : str
        A format to try first.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.dates import parsed_moments
    >>> found = parsed_moments(pd.Series(["31/12/2024", "02/01/2025"]))
    >>> found.kind, found.cells.astype("datetime64[D]").tolist()[1], found.is_ambiguous
    ('date', datetime.date(2025, 1, 2), False)
    """
    sample = texts.iloc[:: max(1, len(texts) // _SAMPLE)]
    if not _may_be_moments(sample):
        return None
    if pattern == _LONG_CLOCK:
        return _durations(texts)
    patterns = [*((pattern,) if pattern else ()), *_TIME_FORMATS, *_DATE_FORMATS]
    for tried in patterns:
        if _read(sample, tried) is None:
            continue
        values = _read(texts, tried)
        if values is not None:
            return _moments(values, tried, texts, known=tried == pattern)
    return _durations(texts)


def _durations(texts: "pd.Series[str]") -> Moments | None:
    """Read texts such as 35:12:08 as hours, minutes and seconds beyond one day."""
    parts = texts.str.extract(r"^\s*([0-9]{1,5}):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)\s*$")
    if parts.isna().to_numpy().any():
        return None
    seconds = parts.astype(np.float64).to_numpy() @ np.array([3600.0, 60.0, 1.0])
    return Moments("duration", seconds, _LONG_CLOCK)


def is_any_date(text: str) -> bool:
    """Return whether a single text is a date or a time in any form."""
    return parsed_moments(pd.Series([text])) is not None


def _may_be_moments(sample: "pd.Series[str]") -> bool:
    lengths = sample.str.len()
    has_mark = sample.str.contains(r"[0-9].*[-/.: T]|[-/. ].*[0-9]", regex=True)
    return bool(len(sample) and lengths.between(_SHORTEST, _LONGEST).all() and has_mark.all())


def _read(texts: "pd.Series[str]", pattern: str) -> "pd.Series[pd.Timestamp] | None":
    if pattern.endswith(("%z", "%S", "ISO8601")):
        texts = texts.str.replace(r"\s*(?:UTC|GMT)\s*$", _UTC[pattern.endswith("%z")], regex=True)
    try:
        return pd.to_datetime(texts, format=pattern, utc=True)
    except (ValueError, TypeError, OverflowError):
        return None


def _moments(
    values: "pd.Series[pd.Timestamp]", pattern: str, texts: "pd.Series[str]", *, known: bool
) -> Moments:
    instants = values.dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    if pattern in _TIME_FORMATS:
        clock = instants - instants.astype("datetime64[D]")
        return Moments("time", clock / np.timedelta64(1, "h"), pattern)
    others = [] if known else swapped(pattern)
    is_ambiguous = any(_read(texts, other) is not None for other in others)
    zone = "UTC" if texts.str.contains(_ZONE, regex=True).any() else ""
    return Moments("date", instants, pattern, is_ambiguous, zone)


def swapped(pattern: str) -> list[str]:
    """Return the format in which day and month are exchanged, if there is one.

    Examples
    --------
    >>> from kernova.tables.dates import swapped
    >>> swapped("%d/%m/%Y"), swapped("%m/%d/%Y %H:%M"), swapped("ISO8601")
    (['%m/%d/%Y'], ['%d/%m/%Y %H:%M'], [])
    """
    pairs = [*_SWAPPED.items(), *((second, first) for first, second in _SWAPPED.items())]
    return [pattern.replace(start, other) for start, other in pairs if pattern.startswith(start)]


def fraction_of_dates(texts: "pd.Series[str]", n_rows: NDArray[Any]) -> tuple[float, Mask]:
    """Return the largest fraction of rows that one format of dates reads, and which texts."""
    best, is_best = 0.0, np.zeros(len(texts), dtype=np.bool_)
    if not texts.str.contains(r"[0-9]{1,4}[-/.: ]", regex=True).any():
        return best, is_best
    sample = texts.iloc[:: max(1, len(texts) // _SAMPLE)]
    for pattern in (*_TIME_FORMATS, *_DATE_FORMATS):
        if 2 * pd.to_datetime(sample, format=pattern, errors="coerce", utc=True).count() < len(
            sample
        ):
            continue
        is_date = (
            pd.to_datetime(texts, format=pattern, errors="coerce", utc=True).notna().to_numpy()
        )
        fraction = float(n_rows[is_date].sum() / n_rows.sum())
        if fraction > best:
            best, is_best = fraction, is_date
    return best, is_best


# --- features ------------------------------------------------------------------------------------


def plan_of(moments: Moments) -> DatePlan:
    """Decide which features a column of dates or times has, from the rows of a known table."""
    if moments.kind == "duration":
        return DatePlan("duration", moments.pattern)
    if moments.kind == "time":
        hours = moments.cells[np.isfinite(moments.cells)]
        return DatePlan("time", moments.pattern, first_hour=_emptiest(hours, 24.0, 24))
    present = moments.cells[~np.isnat(moments.cells)]
    if len(present) == 0:
        return DatePlan("date", moments.pattern, "1970-01-01")
    middle = np.sort(present)[len(present) // 2]
    hours, days = _hours(present), _days_of_year(present)
    has_hours = _is_uneven(hours[_in_whole_cycles(present, 1.0)], 24.0, _HOUR_BINS)
    weekdays = _weekdays(present)[_in_whole_cycles(present, 7.0)]
    of_whole_years = _in_whole_cycles(present, _YEAR)
    has_season = _is_uneven(days[of_whole_years], 366.0, _SEASON_BINS)
    return DatePlan(
        "date",
        moments.pattern,
        origin=f"{middle.astype('datetime64[Y]')}-01-01",
        first_hour=_emptiest(hours, 24.0, 24) if has_hours else None,
        has_weekday=_is_uneven(weekdays.astype(np.float64), 7.0, 7),
        first_day=_emptiest(days, 366.0, 12) if has_season else None,
    )


def moment_columns(name: str, moments: Moments, plan: DatePlan) -> dict[str, Any]:
    """Return the features of a column of dates or times, by their names.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.tables.dates import DatePlan, Moments, moment_columns
    >>> days = Moments("date", np.array(["2024-02-01", "NaT"], "datetime64[us]"))
    >>> moment_columns("seen", days, DatePlan("date", origin="2024-01-01"))
    {'seen (days since 2024-01-01)': array([31., nan])}
    """
    if plan.kind == "duration":
        return {f"{name} (seconds)": moments.cells}
    if plan.kind == "time":
        return {f"{name} (hour)": _unrolled(moments.cells, plan.first_hour or 0.0, 24.0)}
    is_missing = np.isnat(moments.cells)
    since = (moments.cells - np.datetime64(plan.origin)) / np.timedelta64(1, "D")
    columns: dict[str, Any] = {day_column(name, plan): since}
    if plan.first_hour is not None:
        columns[f"{name} (hour)"] = _unrolled(_hours(moments.cells), plan.first_hour, 24.0)
    if plan.has_weekday:
        weekdays = _WEEKDAYS[np.where(is_missing, 0, _weekdays(moments.cells))]
        weekdays[is_missing] = None
        columns[f"{name} (weekday)"] = weekdays
    if plan.first_day is not None:
        days = _days_of_year(moments.cells)
        columns[f"{name} (day of year)"] = _unrolled(days, plan.first_day, 366.0)
    return columns


def day_column(name: str, plan: DatePlan) -> str:
    """Return the name of the feature that counts the days of a column of dates."""
    return f"{name} (days since {plan.origin})"


def moments_note(name: str, moments: Moments, columns: list[str], source: str) -> str:
    """Return the sentence that a column was turned into these features."""
    what = {"date": "dates", "time": "times of day", "duration": "durations"}[moments.kind]
    features = ", ".join(map(quoted, columns))
    note = f"Column {quoted(name)} of {source} holds {what}; used as {features}."
    if moments.is_ambiguous:
        note += " Day and month could be exchanged in all of them; the day was read first."
    if moments.zone:
        note += f" Hours are those of {shortened(moments.zone)}."
    return note


def _hours(instants: Values) -> Vector:
    clock = instants - instants.astype("datetime64[D]")
    return np.asarray(clock / np.timedelta64(1, "h"), dtype=np.float64)


def _weekdays(instants: Values) -> NDArray[np.int64]:
    """Return weekdays from 0 for Monday: the first of January 1970 was a Thursday."""
    return (instants.astype("datetime64[D]").astype(np.int64) + 3) % 7


def _days_of_year(instants: Values) -> Vector:
    days = instants.astype("datetime64[D]") - instants.astype("datetime64[Y]").astype(
        "datetime64[D]"
    )
    return np.asarray(days / np.timedelta64(1, "D") + 1, dtype=np.float64)


def _in_whole_cycles(instants: Values, n_days: float) -> Mask:
    """Return which instants are in whole cycles from the first on; none within two of them.

    Rows of one and a half years are spread unevenly over the months without any season.
    """
    since = (instants - instants.min()) / np.timedelta64(1, "D")
    n_cycles = float(since.max() // n_days)
    return np.asarray(since < (n_cycles if n_cycles >= _LEAST_CYCLES else 0) * n_days)


def _is_uneven(values: Vector, period: float, n_bins: int) -> bool:
    """Return whether values on a circle are spread unevenly over its bins."""
    expected = len(values) / n_bins
    if expected < _ROWS_PER_BIN or np.ptp(values) == 0:
        return False
    counts = np.bincount((values % period * n_bins / period).astype(np.intp), minlength=n_bins)
    statistic = float(np.sum((counts[:n_bins] - expected) ** 2) / expected)
    return statistic > float(chdtri(n_bins - 1, _SIGNIFICANCE))


def _emptiest(values: Vector, period: float, n_bins: int) -> float:
    """Return the middle of the quarter of the circle that holds the fewest values."""
    bins = (values % period * n_bins / period).astype(np.intp) % n_bins
    counts = np.bincount(bins, minlength=n_bins)
    quarter = n_bins // 4
    circle = np.concatenate([counts, counts[:quarter]])
    held = np.convolve(circle, np.ones(quarter), mode="valid")[:n_bins]
    return float((int(held.argmin()) + quarter // 2) % n_bins * period / n_bins)


def _unrolled(values: Vector, first: float, period: float) -> Vector:
    """Cut a circle open at ``first``; the values run on beyond the period, or from below 0."""
    start = first if first <= period / 2 else first - period
    return (values - start) % period + start
