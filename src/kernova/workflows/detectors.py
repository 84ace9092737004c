"""The detectors that studies know by a short name, behind an encoder of mixed columns."""

from collections.abc import Collection
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline

from kernova.errors import InputError
from kernova.tables.encoding import TableEncoder


def check_method(method: str, known: Collection[str]) -> None:
    """Refuse a name that stands for no detector."""
    if method not in known:
        raise InputError(f"There is no method named {method!r}. Take one of {', '.join(known)}.")


def table_encoder(scaling: str, missing: str) -> TableEncoder:
    """Give an encoder; rows with missing values are gone by now unless they are to be filled."""
    return TableEncoder(
        scaling=scaling,  # type: ignore[arg-type]
        missing="fill" if missing == "fill" else "refuse",
    )


def behind_encoder(detector: BaseEstimator, scaling: str, missing: str) -> Pipeline:
    """Give the whole chain from a table of features to scores, not yet fitted."""
    return make_pipeline(table_encoder(scaling, missing), detector)


def kernel_depth(
    bandwidth: "str | float", seed: int, contamination: "str | float" = "auto"
) -> BaseEstimator:
    """Kernelized spatial depth."""
    from kernova.anomaly.spatial_depth import KernelSpatialDepth

    return KernelSpatialDepth(bandwidth=bandwidth, contamination=contamination, random_state=seed)


def local_outlier_factor(**parameters: Any) -> BaseEstimator:
    """scikit-learn's local outlier factor, fit to judge new rows as well as its own."""
    from sklearn.neighbors import LocalOutlierFactor

    return LocalOutlierFactor(novelty=True, **parameters)
