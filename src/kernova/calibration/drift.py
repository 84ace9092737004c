"""Drift test: whether new rows as a whole still come from where the known ones came from.

A bound on false alarms is about rows drawn like the known ones. A two-sample test would reject
that as soon as some of the new rows are novel, which is no drift; and with many rows it rejects
for differences that do not matter. Here the hypothesis is wider: at least nine tenths of the new
rows are drawn like the known ones, and the others are anything. Whatever the others are, no part
of the known distribution can then have less than nine tenths of its probability among new rows.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from scipy.special import betaincinv
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state

from kernova.calibration.bounds import check_open_unit_interval
from kernova.errors import InputError
from kernova.typing import Mask, Vector

# Fraction of the new rows that may be anything.
_ALLOWED: Final = 0.1
# Rows of each table that are looked at.
_MOST_ROWS: Final = 2000
# With fewer rows nothing can be seen.
_FEWEST_ROWS: Final = 20
_TREES: Final = 50


class DriftTest(NamedTuple):
    """Result of a test for drift."""

    p_value: float  # low: the new rows as a whole differ from the known ones
    known_fraction: float  # of the known rows, those in the region that new rows avoid most
    new_fraction: float  # of the new rows, those in it


def drift_test(known: Any, new: Any, allowed: float = _ALLOWED, random_state: Any = 0) -> DriftTest:
    """Test whether more than a few of the new rows are drawn differently from the known ones.

    A classifier learns, on half of the rows of each table, a region where new rows are rarer
    than known ones. On the other halves the two fractions of rows in that region are compared.
    Then the halves change places, and the smaller of the two p-values is doubled.

    Parameters
    ----------
    known, new : array-like of shape (n_rows, n_features)
        Numbers without missing values. The known rows must not have been fitted to: if an
        encoder was, pass rows that were held out. At most 2,000 rows of each are used, drawn at
        random.
    allowed : float, default=0.1
        Fraction of the new rows that may be drawn in any way. Novel rows do not cause
        rejection unless they are more than this fraction.
    random_state : int, RandomState or None, default=0
        Seed of the halves and of the classifier.

    Returns
    -------
    DriftTest
        ``p_value``, ``known_fraction``, ``new_fraction``. If at least 1 - ``allowed`` of the new
        rows are drawn like the known ones, P(p_value <= a) <= a for every a.

    Notes
    -----
    For a region A that was fixed beforehand, the hypothesis says P_new(A) >= (1 - allowed)
    P_known(A). It is rejected at level a where the upper limit of Clopper and Pearson for P_new(A)
    is below (1 - allowed) times their lower limit for P_known(A), each at level a / 2. That is
    exact in finite samples and a little cautious. The test cannot see a change that adds mass
    anywhere, up to the allowed fraction, nor any change with fewer than 20 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import drift_test
    >>> rng = np.random.default_rng(0)
    >>> known, same = rng.normal(size=(500, 3)), rng.normal(size=(500, 3))
    >>> few_novel = np.vstack([same[:475], same[475:] + 9])
    >>> drift_test(known, few_novel).p_value > 0.1, drift_test(known, same + 0.8).p_value < 0.001
    (True, True)
    """
    check_open_unit_interval(allowed, "allowed")
    random = check_random_state(random_state)
    samples = [_sample(rows, random) for rows in (known, new)]
    if samples[0].shape[1:] != samples[1].shape[1:]:
        raise InputError(
            "known and new must have the same columns; got "
            f"{samples[0].shape[1]} and {samples[1].shape[1]}."
        )
    if min(map(len, samples)) < _FEWEST_ROWS:
        return DriftTest(1.0, 1.0, 1.0)
    seed = int(random.randint(np.iinfo(np.int32).max))
    halves = [[sample[part::2] for sample in samples] for part in (0, 1)]
    results = [_tested(halves[learnt], halves[1 - learnt], allowed, seed) for learnt in (0, 1)]
    best = min(results, key=lambda result: result.p_value)
    return best._replace(p_value=min(1.0, 2 * best.p_value))


def _sample(rows: Any, random: np.random.RandomState) -> Vector:
    """Return the rows in random order, a sample of them if there are many."""
    numbers = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    numbers = np.asarray(numbers, dtype=np.float64)
    if numbers.ndim != 2 or not np.isfinite(numbers).all():
        raise InputError(
            "A test for drift takes rows of finite numbers; got an array of shape "
            f"{numbers.shape}. Encode the rows first."
        )
    return numbers[random.permutation(len(numbers))[:_MOST_ROWS]]


def _tested(learnt: list[Vector], tested: list[Vector], allowed: float, seed: int) -> DriftTest:
    """Learn a region on one half, and compare the fractions of the other half in it."""
    known, new = learnt
    trees = ExtraTreesClassifier(
        _TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed
    )
    limits = np.finfo(np.float32)
    both = np.clip(np.vstack([known, new]), limits.min, limits.max)
    trees.fit(both, np.repeat([0, 1], [len(known), len(new)]))

    def avoided(rows: Vector) -> Mask:
        # Where new rows are rarer than (1 - allowed) times known ones; the classes weigh alike.
        ratio = trees.predict_proba(np.clip(rows, limits.min, limits.max))
        return ratio[:, 1] < (1 - allowed) * ratio[:, 0]

    is_known, is_new = (avoided(rows) for rows in tested)
    p_value = deficit_p_value(
        int(is_known.sum()), len(is_known), int(is_new.sum()), len(is_new), allowed
    )
    return DriftTest(p_value, float(is_known.mean()), float(is_new.mean()))


def deficit_p_value(
    n_known_inside: int, n_known: int, n_new_inside: int, n_new: int, allowed: float
) -> float:
    """Return the p-value of P_new(A) >= (1 - allowed) P_known(A), from the counts inside of A.

    Examples
    --------
    >>> from kernova.calibration.drift import deficit_p_value
    >>> round(deficit_p_value(50, 100, 30, 100, 0.1), 3), deficit_p_value(50, 100, 46, 100, 0.1)
    (0.129, 1.0)
    """
    if n_known_inside == 0 or n_new_inside == n_new:
        return 1.0

    def is_rejected(level: float) -> bool:
        upper = betaincinv(n_new_inside + 1, n_new - n_new_inside, 1 - level / 2)
        lower = betaincinv(n_known_inside, n_known - n_known_inside + 1, level / 2)
        return bool(upper < (1 - allowed) * lower)

    low, high = -300.0, 0.0  # powers of ten
    if not is_rejected(1.0):
        return 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if is_rejected(10**middle) else (middle, high)
    return float(10**high)
