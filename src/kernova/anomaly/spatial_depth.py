"""Spatial depth and kernelized spatial depth (KSD): the centrality of a row among known rows."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.anomaly.depth_engines import (
    LowRankPlan,
    SparsePlan,
    euclidean_depths,
    exact_depths,
    low_rank_depths,
    plan_low_rank,
    plan_sparse,
    sparse_depths,
)
from kernova.anomaly.far_rows import (
    Plateau,
    mean_similarity,
    plateau_of,
    with_far_rows_ordered,
)
from kernova.anomaly.parameters import checked_contamination
from kernova.errors import InputError, quoted
from kernova.kernels.bandwidth import chosen_bandwidth
from kernova.kernels.functions import KernelLike, Stationary, kernel_named
from kernova.tables.fill_values import check_no_cell_hides_others
from kernova.typing import Vector

# Up to this many rows the exact engine is as fast as planning a faster one (measured).
_FEW_ROWS = 2000
_FEW_ROWS_FOR_LOW_RANK = 4000
# A factor of higher rank than this fraction of the rows saves too little time.
_RANK_FRACTION = 1 / 8
_ENGINE_OF_PLAN = {type(None): "exact", LowRankPlan: "low-rank", SparsePlan: "sparse"}
# contamination="auto" calls this fraction of the known rows novel.
_AUTO_CONTAMINATION = 0.05


class _DepthDetector(OutlierMixin, BaseEstimator):
    """Base class of both depths: scores are depths, and a training quantile is the threshold."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Store the known rows and find the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The known rows.
        y : ignored
            Accepted for scikit-learn's convention.

        Returns
        -------
        self
        """
        contamination = checked_contamination(self.contamination)
        reference = validate_data(self, X, dtype=np.float64, order="C", copy=True)
        self.reference_ = reference
        self._prepare(reference)
        # A row that is in the reference is scored without itself: these are leave-one-out depths.
        self._training_depths = self._depths(reference)
        fraction = _AUTO_CONTAMINATION if contamination is None else contamination
        self.offset_ = float(np.quantile(self._training_depths, fraction))
        return self

    @property
    def training_depths_(self) -> Vector:
        """Depth of each known row among the other known rows."""
        return self._training_depths

    def score_samples(self, X: ArrayLike) -> Vector:
        """Return the depth of each row among the known rows, from 0 (far outside) to 1."""
        check_is_fitted(self, "reference_")
        return self._depths(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def decision_function(self, X: ArrayLike) -> Vector:
        """Return the depth minus ``offset_``: negative where a row is novel."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return +1 for inliers and -1 for novel rows."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: ArrayLike, y: object = None, **kwargs: Any) -> NDArray[np.int64]:
        """Fit, and return +1 for the inliers and -1 for the novel rows among the same rows."""
        self.fit(X)
        return np.where(self._training_depths < self.offset_, -1, 1)


class SpatialDepth(_DepthDetector):
    """Spatial depth: 1 minus the length of the mean unit vector towards the known rows.

    Depth is 1 at the spatial median and falls to 0 far away. Its contours are round: a hole in
    the data is not detected. For that, see :class:`KernelSpatialDepth`.

    Parameters
    ----------
    contamination : "auto" or float in (0, 0.5], default="auto"
        Fraction of the known rows that ``predict`` calls novel; "auto" is 0.05.

    Attributes
    ----------
    reference_ : ndarray of shape (n_samples, n_features)
        The known rows.
    offset_ : float
        Rows with a depth below it are called novel.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import SpatialDepth
    >>> ring = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> SpatialDepth().fit(ring).score_samples([[0.0, 0.0], [9.0, 0.0]])
    array([1.        , 0.00305813])
    """

    def __init__(self, contamination: "str | float" = "auto") -> None:
        self.contamination = contamination

    def _prepare(self, reference: NDArray[np.float64]) -> None:
        pass

    def _depths(self, queries: NDArray[np.float64]) -> Vector:
        return euclidean_depths(queries, self.reference_)


class KernelSpatialDepth(_DepthDetector):
    """Kernelized spatial depth (KSD): spatial depth in a kernel's feature space.

    With a Gaussian kernel its contours follow the shape of the data, holes and arms included, so
    a row far from all known ones has low depth wherever it lies.

    Parameters
    ----------
    kernel : str or kernel object, default="gaussian"
        "gaussian", "laplacian", "matern", "polynomial", "linear", or any object with the three
        methods of :class:`kernova.kernels.functions.KernelLike`.
    bandwidth : "half-nearest", "nearest", "reach", "median" or float, default="half-nearest"
        Width of a kernel given by name. "nearest", the rule of the paper, is the median distance
        to the nearest other row, and "half-nearest" half of it; "reach" is half the distance
        within which nine rows in ten have a neighbour; "median" is the median distance overall.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Fraction of the known rows that ``predict`` calls novel; "auto" is 0.05. For a threshold
        with a guarantee, wrap the detector in :class:`kernova.CalibratedDetector`.
    engine : {"auto", "exact", "low-rank", "sparse"}, default="auto"
        "exact" costs n² multiplications per query; "low-rank" costs n r, with a rank r that
        depends on the tolerance; "sparse" uses only neighbours, which are few if there are few
        columns and the bandwidth is small. "auto" chooses a faster engine where it saves time, and
        a named engine falls back to "exact" where it cannot meet the tolerance; see ``engine_``.
    tolerance : float, default=1e-3
        Largest error of a depth that the faster engines may make, relative to the spread of
        depths (from the 5 % to the 95 % quantile). The bound is proven, and usually ten times
        the error itself. The exact engine ignores it.
    random_state : int, RandomState instance or None, default=None
        Seed for the rows that the faster engines sample. None is a fixed seed: two fits agree.
    far_rows : {"distance", "literal"}, default="distance"
        Depth of rows so far from all known ones that the kernel is below 1e-9. "literal" is the
        formula: such rows have one depth in common. "distance" subtracts up to 1e-9 from it, the
        more the farther the nearest known row is. Concerns the kernels "gaussian", "laplacian"
        and "matern"; others are literal.

    Attributes
    ----------
    reference_ : ndarray of shape (n_samples, n_features)
        The known rows.
    bandwidth_ : float or None
        The width in use; None for a kernel object or a kernel without a width.
    kernel_ : kernel object
        The kernel in use.
    engine_ : str
        The engine in use.
    offset_ : float
        Rows with a depth below it are called novel.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    References
    ----------
    Chen, Bart, Dang and Peng, "Depth-Based Novelty Detection and Its Application to Taxonomic
    Research", ICDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import KernelSpatialDepth
    >>> angles = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> ring = 4.5 * np.c_[np.cos(angles), np.sin(angles)]
    >>> depth = KernelSpatialDepth(bandwidth=3.0).fit(ring)
    >>> depth.score_samples([[0.0, 0.0], [4.5, 0.1]]).round(2)
    array([0.26, 0.32])
    """

    _ENGINES: ClassVar[tuple[str, ...]] = ("auto", "exact", "low-rank", "sparse")
    _FAR_ROWS: ClassVar[tuple[str, ...]] = ("distance", "literal")

    kernel_: KernelLike
    _plan: LowRankPlan | SparsePlan | None
    _plateau: Plateau | None = None  # of models saved by 0.1.0, whose depths are literal

    def __init__(
        self,
        kernel: "str | KernelLike" = "gaussian",
        bandwidth: "str | float" = "half-nearest",
        contamination: "str | float" = "auto",
        engine: str = "auto",
        tolerance: float = 1e-3,
        random_state: "int | np.random.RandomState | None" = None,
        far_rows: str = "distance",
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.contamination = contamination
        self.engine = engine
        self.tolerance = tolerance
        self.random_state = random_state
        self.far_rows = far_rows

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Models saved by 0.1.0 have no such parameter. The order of attributes must stay.
        old = {} if "far_rows" in state else {"far_rows": "literal"}
        super().__setstate__({**state, **old})

    def _prepare(self, reference: NDArray[np.float64]) -> None:
        self._check_parameters()
        # Results that differ between two fits would be no better for it.
        random_state = check_random_state(0 if self.random_state is None else self.random_state)
        has_width = isinstance(self.kernel, str) and self.kernel != "linear"
        self.bandwidth_ = chosen_bandwidth(self.bandwidth, reference) if has_width else None
        self.kernel_ = kernel_named(self.kernel, self.bandwidth_)
        if not isinstance(self.kernel_, Stationary):  # others have no bound on distances
            check_no_cell_hides_others(reference)
        self._plan = self._plan_shortcut(reference, random_state)
        self.engine_ = _ENGINE_OF_PLAN[type(self._plan)]
        self._plateau = self._found_plateau(reference)

    def _check_parameters(self) -> None:
        if self.engine not in self._ENGINES:
            raise InputError(
                f"There is no engine named {quoted(self.engine)}. Use one of "
                f"{', '.join(self._ENGINES)}."
            )
        if not (isinstance(self.tolerance, Real) and 0 < self.tolerance < 1):
            raise InputError(
                f"The tolerance must lie between 0 and 1; got {quoted(self.tolerance)}."
            )
        if self.far_rows not in self._FAR_ROWS:
            raise InputError(
                f'far_rows must be "distance" or "literal"; got {quoted(self.far_rows)}.'
            )

    def _found_plateau(self, reference: NDArray[np.float64]) -> Plateau | None:
        if self.far_rows == "literal" or not isinstance(self.kernel_, Stationary):
            return None
        if isinstance(self._plan, LowRankPlan):
            similarity = 1.0 - 0.5 * float(self._plan.gram.mean_distances.mean())
        elif isinstance(self._plan, SparsePlan):
            similarity = float(self._plan.row_sums.sum()) / len(reference) ** 2
        else:
            similarity = mean_similarity(reference, self.kernel_)
        return plateau_of(self.kernel_, similarity, len(reference))

    def _plan_shortcut(
        self, reference: NDArray[np.float64], random_state: np.random.RandomState
    ) -> LowRankPlan | SparsePlan | None:
        n_rows, is_free = len(reference), self.engine == "auto"
        if self.engine == "exact" or (is_free and n_rows <= _FEW_ROWS):
            return None
        if self.engine != "low-rank" and isinstance(self.kernel_, Stationary):
            sparse = plan_sparse(reference, self.kernel_, self.tolerance, random_state)
            if sparse is not None:
                return sparse
        if self.engine == "sparse" or (is_free and n_rows <= _FEW_ROWS_FOR_LOW_RANK):
            return None
        max_rank = int(_RANK_FRACTION * n_rows) if is_free else n_rows
        return plan_low_rank(reference, self.kernel_, self.tolerance, max_rank, random_state)

    def _depths(self, queries: NDArray[np.float64]) -> Vector:
        depths = self._literal_depths(queries)
        if self._plateau is None:
            return depths
        return with_far_rows_ordered(depths, queries, self.reference_, self._plateau)

    def _literal_depths(self, queries: NDArray[np.float64]) -> Vector:
        if isinstance(self._plan, LowRankPlan):
            found = low_rank_depths(queries, self.reference_, self.kernel_, self._plan.gram)
        elif isinstance(self._plan, SparsePlan):
            assert isinstance(self.kernel_, Stationary)  # or there would be no such plan
            found = sparse_depths(queries, self.reference_, self.kernel_, self._plan)
        else:
            return exact_depths(queries, self.reference_, self.kernel_)
        missed = np.flatnonzero(found.errors > self._plan.largest_error)
        if len(missed):
            found.depths[missed] = exact_depths(queries[missed], self.reference_, self.kernel_)
        return found.depths
