"""Detector ensemble: the mean verdict of few fast detectors of different kinds."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.anomaly.ensemble.columns import (
    Columns,
    Rows,
    frame_or_array,
    learn_columns,
    prepared_rows,
)
from kernova.anomaly.ensemble.committee import (
    FOR_NEW_ROWS,
    FOR_OWN_ROWS,
    Committee,
    Reference,
    checked_members,
    committee_of,
    fit_members,
)
from kernova.anomaly.ensemble.members import Member
from kernova.anomaly.ensemble.views import Views, learn_views
from kernova.anomaly.parameters import checked_contamination
from kernova.errors import InputError
from kernova.neighbors.index import row_hashes
from kernova.text import quantity
from kernova.typing import Indices, Matrix, Vector

# Beyond these numbers of rows, members are fitted on a sample: for new rows, and for the table's
# own rows, whose distances to a tenth of the others a smaller sample estimates as well; the more
# rows are to be judged, the smaller.
_MOST_ROWS = 10_000
_MOST_OWN_ROWS, _FEWEST_OWN_ROWS = 2_000, 1_000
_MOST_OWN_PAIRS = 40_000_000
_AUTO_CONTAMINATION = 0.05
_SEED = 0  # of ``random_state=None``: a detector without tuning should not need a seed either


class DetectorEnsemble(OutlierMixin, BaseEstimator):
    """Ensemble of detectors, for novelty and outlier detection without tuning.

    Few fast members look at the rows in different ways: distances to neighbours under four
    scalings, linear structure, rare values and tails of single columns, isolation. Each member's
    novelty becomes a *surprise* in bits, -log2 of the fraction of training rows that look at least
    as novel without themselves, and the ensemble takes the mean. Among the table's own rows, the
    highest tenth is extrapolated by how far out the rows are. It needs no scaling and no encoding:
    columns may be numbers or categories and may have missing values.

    Rows that were in ``fit`` are judged among the other rows of the table, as an outlier detector
    does; any other row is judged as new, with all rows of the table known. Both are on the same
    scale, so ``fit_predict`` finds outliers in one table, and ``predict`` novel rows in another.

    Parameters
    ----------
    members : "auto" or list, default="auto"
        The members. A list holds names ("nearest-standard", "nearest-range",
        "nearest-decorrelated", "nearest-ranks", "linear", "central-half", "columns",
        "isolation"), detectors of kernova, scikit-learn, PyOD or your own, or pairs of a name and
        a detector. "auto" takes all but "central-half" and "isolation" for new rows, and all but
        "nearest-decorrelated" and "linear" for rows of the table itself.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Fraction of the training rows that ``predict`` calls outliers; "auto" is 0.05. For a
        threshold with a guarantee, wrap the detector in :class:`kernova.CalibratedDetector`.
    random_state : int, RandomState instance or None, default=None
        Seed of samples and of members that draw random numbers. None is a fixed seed too, so that
        results repeat.

    Attributes
    ----------
    members_ : dict of str to member
        The fitted members by name.
    left_out_ : dict of str to str
        Members that could not run on the table, each with the reason.
    notes_ : tuple of str
        Sentences on columns that are constant or repeat another one.
    sampled_ : str or None
        What was learnt from a sample of the rows, as a sentence; None if nothing was.
    training_scores_ : ndarray of shape (n_samples,)
        The scores of the training rows, each among the others.
    offset_ : float
        Rows with a score below it are called outliers.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if ``fit`` saw a DataFrame.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova import DetectorEnsemble
    >>> sizes = [20.1, 19.5, 21.0, 20.4, 19.9, 20.6, 20.2, 19.7]
    >>> fish = pd.DataFrame({"size": sizes, "sex": ["f", "m"] * 4})
    >>> ensemble = DetectorEnsemble().fit(fish)
    >>> new = pd.DataFrame({"size": [20.3, 31.0, 20.3], "sex": ["f", "m", "unknown"]})
    >>> ensemble.score_samples(new).round(1)
    array([-0.2, -4.6, -4.3])
    """

    def __init__(
        self,
        members: "str | list[Any]" = "auto",
        contamination: "str | float" = "auto",
        random_state: "int | np.random.RandomState | None" = None,
    ) -> None:
        self.members = members
        self.contamination = contamination
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: "pd.DataFrame | ArrayLike", y: object = None) -> Self:
        """Fit all members, and learn how novel ordinary rows look to each.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The rows: known ordinary ones, or the table in which to find outliers.
        y : ignored
            Accepted for scikit-learn's convention.

        Returns
        -------
        self
        """
        contamination = checked_contamination(self.contamination)
        wanted = None if _is_auto(self.members) else checked_members(self.members)
        random = check_random_state(_SEED if self.random_state is None else self.random_state)
        table = self._table(X, reset=True)
        self._columns = learn_columns(table)
        self._rows = prepared_rows(table, self._columns)
        self._places = _places(self._rows)
        for_new = dict.fromkeys(FOR_NEW_ROWS) if wanted is None else wanted
        for_own = dict.fromkeys(FOR_OWN_ROWS) if wanted is None else wanted
        sampled = _sample(len(table), _MOST_ROWS, random)
        known = _learn(self._rows, self._columns, sampled, for_new, random)
        few = sampled[_sample(len(sampled), _most_own_rows(len(table)), random)]
        own = _learn(self._rows, self._columns, few, for_own, random, known)
        self._views, self._of_new = known.views, known.committee(self._rows, sampled, among=False)
        self._own_sample = few
        self._of_own = own.committee(self._rows, sampled, among=True)
        self.members_: dict[str, Member] = {**own.members, **known.members}
        self.left_out_ = {**own.left_out, **known.left_out}
        self.notes_ = self._columns.notes
        self.sampled_ = _sampled_sentence(len(table), len(sampled), len(few))
        fraction = _AUTO_CONTAMINATION if contamination is None else contamination
        self.offset_ = -float(np.quantile(self._of_own.of_reference, 1 - fraction))
        return self

    @property
    def training_scores_(self) -> Vector:
        """Scores of the training rows, each among the others; high is usual."""
        check_is_fitted(self, "offset_")
        return -self._own_bits(self._rows, self._places.of(self._rows))

    def score_samples(self, X: "pd.DataFrame | ArrayLike") -> Vector:
        """Return minus the surprise of each row in bits; high is usual."""
        rows, places = self._judged(X)
        bits = np.empty(len(places))
        is_own = places >= 0
        bits[is_own] = self._own_bits(_part(rows, is_own), places[is_own])
        bits[~is_own] = self._new_bits(_part(rows, ~is_own))
        return -bits

    def decision_function(self, X: "pd.DataFrame | ArrayLike") -> Vector:
        """Return the score minus ``offset_``: negative where a row is an outlier."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: "pd.DataFrame | ArrayLike") -> NDArray[np.int64]:
        """Return +1 for usual rows and -1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(
        self, X: "pd.DataFrame | ArrayLike", y: object = None, **kwargs: Any
    ) -> NDArray[np.int64]:
        """Fit, and return +1 for usual rows and -1 for outliers among the same rows."""
        self.fit(X)
        return np.where(self.training_scores_ < self.offset_, -1, 1)

    def member_scores(self, X: "pd.DataFrame | ArrayLike | None" = None) -> pd.DataFrame:
        """Return the surprise of each row for each member, in bits: which of them spoke.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), default=None
            The rows; None for the training rows.

        Returns
        -------
        DataFrame of shape (n_samples, n_members)
            High is strange; NaN where a member does not judge such rows (see ``members``).

        See Also
        --------
        kernova.explain.explain : which features make a row strange.

        Examples
        --------
        >>> import numpy as np
        >>> from kernova import DetectorEnsemble
        >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ [[1.0, 1.0], [0.0, 0.2]]
        >>> ensemble = DetectorEnsemble(members=["linear", "columns"]).fit(X)
        >>> ensemble.member_scores([[1.0, -1.0]]).round(1)  # only together are these values strange
           linear  columns
        0    12.9      2.0
        """
        check_is_fitted(self, "offset_")
        if X is None:
            rows, places = self._rows, self._places.of(self._rows)
        else:
            rows, places = self._judged(X)
        index = X.index if isinstance(X, pd.DataFrame) else None
        table = pd.DataFrame(np.nan, index=range(len(places)), columns=list(self.members_))
        for is_judged, committee, own in (
            (places >= 0, self._of_own, self._own_numbers(places)),
            (places < 0, self._of_new, np.full(len(places), -1)),
        ):
            if is_judged.any():
                found = committee.surprises(self._views, _part(rows, is_judged), own[is_judged])
                table.loc[is_judged, list(committee.names)] = found
        return table if index is None else table.set_axis(index, axis=0)

    def _table(self, X: "pd.DataFrame | ArrayLike", *, reset: bool) -> "pd.DataFrame | Matrix":
        least = 2 if reset else 1
        X = frame_or_array(X)
        if isinstance(X, pd.DataFrame):
            _check_size(X, least)
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if not reset and self._columns.is_category.any():
            cells = validate_data(self, X, reset=False, dtype=object, ensure_all_finite=False)
            return pd.DataFrame(cells, columns=getattr(self, "feature_names_in_", None))
        try:
            numbers: Matrix = validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                ensure_all_finite="allow-nan",
                ensure_min_samples=least,
            )
        except (ValueError, OverflowError) as error:
            raise _as_input_error(error) from error
        return numbers

    def _judged(self, X: "pd.DataFrame | ArrayLike") -> tuple[Rows, Indices]:
        """Return rows as members see them, and their places in the training table, or -1."""
        check_is_fitted(self, "offset_")
        rows = prepared_rows(self._table(X, reset=False), self._columns)
        return rows, self._places.of(rows)

    def _new_bits(self, rows: Rows) -> Vector:
        return self._of_new.bits(self._views, rows, np.full(len(rows.codes), -1))

    def _own_bits(self, rows: Rows, places: Indices) -> Vector:
        return self._of_own.bits(self._views, rows, self._own_numbers(places))

    def _own_numbers(self, places: Indices) -> Indices:
        return numbers_in(self._own_sample, places)


class _Places(NamedTuple):
    """Sorted hashes of the training rows, and where each was first."""

    hashes: NDArray[np.uint64]
    first: Indices

    def of(self, rows: Rows) -> Indices:
        """Return the place of each row in the training table; -1 if it was not there."""
        hashes = _hashes(rows)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[at] == hashes, self.first[at], -1)


def _places(rows: Rows) -> _Places:
    hashes, first = np.unique(_hashes(rows), return_index=True)
    return _Places(hashes, first)


def _hashes(rows: Rows) -> NDArray[np.uint64]:
    both = np.hstack([rows.numbers, rows.codes.astype(np.float64)]) + 0.0  # no minus zeros
    return row_hashes(np.ascontiguousarray(both))


class _Learnt(NamedTuple):
    views: Views
    sample: Indices
    members: dict[str, Member]
    left_out: dict[str, str]

    def committee(self, rows: Rows, judged: Indices, *, among: bool) -> Committee:
        """Learn the scales from some rows of the table."""
        own = numbers_in(self.sample, judged)
        return committee_of(self.members, self.views, _part(rows, judged), own, among=among)


def _learn(
    rows: Rows,
    columns: Columns,
    sample: Indices,
    wanted: Mapping[str, Any],
    random: np.random.RandomState,
    earlier: _Learnt | None = None,
) -> _Learnt:
    """Fit members on a sample of the rows; those of an earlier, equal sample are taken over."""
    part = _part(rows, sample)
    views = learn_views(part, columns.n_levels) if earlier is None else earlier.views
    is_large = len(rows.codes) > _MOST_OWN_ROWS
    reference = Reference(views.seen(part), views, columns.n_levels, is_large)
    is_same = earlier is not None and len(earlier.sample) == len(sample)
    taken = {
        name: earlier.members[name]
        for name in wanted
        if earlier is not None and is_same and name in earlier.members
    }
    left = {name: detector for name, detector in wanted.items() if name not in taken}
    fitted, left_out = fit_members(left, reference, random)
    members = {name: (taken | fitted)[name] for name in wanted if name in taken | fitted}
    if not members:
        reasons = " ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise InputError(f"No member of the ensemble can run on these rows. {reasons}")
    return _Learnt(views, sample, members, left_out)


def _most_own_rows(n_rows: int) -> int:
    return int(np.clip(_MOST_OWN_PAIRS // n_rows, _FEWEST_OWN_ROWS, _MOST_OWN_ROWS))


def numbers_in(sample: Indices, places: Indices) -> Indices:
    """Return the position of each place in a sorted sample; -1 if it is not in it."""
    at = np.minimum(np.searchsorted(sample, places), len(sample) - 1)
    return np.where(sample[at] == places, at, -1)


def _sample(n_rows: int, most: int, random: np.random.RandomState) -> Indices:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(random.choice(n_rows, most, replace=False))


def _part(rows: Rows, chosen: Any) -> Rows:
    return Rows(rows.numbers[chosen], rows.codes[chosen])


def _sampled_sentence(n_rows: int, n_sampled: int, n_few: int) -> str | None:
    if n_few == n_rows:
        return None
    sizes = f"{n_few:,}" if n_sampled == n_rows else f"{n_sampled:,} and {n_few:,}"
    return f"Members of the ensemble learnt from samples of {sizes} of {quantity(n_rows, 'row')}."


def _is_auto(members: Any) -> bool:
    return isinstance(members, str) and members == "auto"


def _check_size(table: pd.DataFrame, least: int) -> None:
    if len(table) < least or not table.shape[1]:
        raise InputError(
            f"The table has {quantity(len(table), 'row')} and "
            f"{quantity(table.shape[1], 'column')}; at least {quantity(least, 'row')} and 1 column "
            "are needed."
        )


def _as_input_error(error: ValueError | OverflowError) -> Exception:
    """Return what to do about an array of other things than numbers; other errors say it."""
    if isinstance(error, OverflowError):
        return InputError(f"The array holds a number that is too large ({error}); correct it.")
    if "could not convert string" in str(error):
        return InputError(
            f"The array holds text ({error}). Pass a DataFrame, whose columns of text are "
            "categories."
        )
    return error
