"""Bad parameters and input: every detector raises with a message."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from kernova import (
    InputError,
    KernelSpatialDepth,
    LocalDensityFactor,
    LocalPeculiarityFactor,
    RobustKernelOutlierFactor,
    outlier_factor_path,
)
from kernova.kernels import Polynomial
from tests.anomaly import messages

ROWS = np.arange(24.0).reshape(12, 2)
COLUMN = np.arange(12.0).reshape(12, 1)
FACTORS = [RobustKernelOutlierFactor, LocalDensityFactor, LocalPeculiarityFactor]

BAD_FACTORS = [
    *(({"n_neighbors": k}, messages.neighbors(k)) for k in (0, 2.5, True, "5", [], [5, 0], None)),
    *(({"alpha": a}, messages.exponent("alpha", a)) for a in (-1, np.inf)),
    *(
        ({"gamma": g}, messages.exponent("gamma", g, ' or "dimension"'))
        for g in (-0.5, np.nan, "columns", True)
    ),
    *(({"scale": s}, messages.positive("scale", s)) for s in (0, np.inf, None)),
    *(
        ({"sigma": s}, messages.positive("sigma", s, " or infinity"))
        for s in (0.0, -np.inf, np.nan, "wide")
    ),
    *(
        ({"contamination": c}, messages.contamination(c))
        for c in (0, 0.6, True, "some", None, np.nan)
    ),
    ({"algorithm": "ball_tree"}, messages.algorithm("ball_tree")),
    ({"kernel": "cosine"}, messages.PROFILE),
    ({"kernel": lambda u: u - 5}, messages.PROFILE_VALUES),
]
BAD_BASELINES = [
    (LocalDensityFactor(bandwidth=0), messages.positive("bandwidth", 0)),
    (LocalDensityFactor(bandwidth=np.inf), messages.positive("bandwidth", np.inf)),
    (LocalDensityFactor(c=-0.1), messages.positive("c", -0.1)),
    (LocalDensityFactor(n_neighbors=0), messages.neighbors(0)),
    (LocalPeculiarityFactor(alpha=-1), messages.exponent("alpha", -1)),
    (LocalPeculiarityFactor(contamination=0.7), messages.contamination(0.7)),
    (LocalPeculiarityFactor(algorithm="tree"), messages.algorithm("tree")),
]
BAD_DEPTHS = [
    ({"kernel": "cosine"}, messages.DEPTH_KERNEL),
    ({"kernel": object()}, messages.KERNEL_OBJECT),
    ({"kernel": Polynomial(1e-100, degree=3)}, messages.KERNEL_VALUES),
    ({"bandwidth": "mean"}, messages.BANDWIDTH_RULE),
    ({"bandwidth": -1.0}, messages.BANDWIDTH),
    ({"engine": "fast"}, messages.ENGINE),
    ({"tolerance": 0}, messages.TOLERANCE),
    ({"contamination": 0.7}, messages.contamination(0.7)),
]


def message_of(attempt, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        attempt(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(("parameters", "message"), BAD_FACTORS)
def test_bad_parameters_of_the_outlier_factor(parameters, message):
    detector = RobustKernelOutlierFactor(**{"n_neighbors": 1, **parameters})
    assert message_of(detector.fit, COLUMN) == message
    if "contamination" not in parameters:
        path = {"n_neighbors": [1], **parameters}
        assert message_of(outlier_factor_path, COLUMN, **path) == message


@pytest.mark.parametrize(("detector", "message"), BAD_BASELINES)
def test_bad_parameters_of_the_baselines(detector, message):
    assert message_of(detector.fit, ROWS) == message


@pytest.mark.parametrize(("parameters", "message"), BAD_DEPTHS)
def test_bad_parameters_of_the_depth(parameters, message):
    assert message_of(KernelSpatialDepth(**parameters).fit, ROWS) == message


@pytest.mark.parametrize("detector", FACTORS)
def test_each_mode_has_its_own_methods(detector):
    model, name = detector(5).fit(ROWS), detector.__name__
    for method in ("score_samples", "decision_function", "predict"):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError) as caught:
            getattr(model, method)
        assert str(caught.value.__cause__) == messages.new_rows(name)
    model = detector(5, novelty=True)
    assert not hasattr(model, "fit_predict")
    with pytest.raises(AttributeError) as caught:
        _ = model.fit_predict
    assert str(caught.value.__cause__) == messages.own_rows(name)


@pytest.mark.parametrize("detector", FACTORS)
def test_scores_need_a_fitted_detector(detector):
    model = detector(5, novelty=True)
    for score in (model.score_samples, model.predict, lambda X: model.score_replaced(X, [0])):
        with pytest.raises(NotFittedError):
            score(ROWS[:1])


def test_sparse_and_precomputed_input_raises():
    with pytest.raises(TypeError) as caught:
        RobustKernelOutlierFactor().fit(scipy.sparse.csr_array(ROWS))
    assert str(caught.value).startswith(
        "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert"
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'metric'"):
        RobustKernelOutlierFactor(metric="precomputed")
