"""Outputs of public names on tables of numbers; each case gives a nested result of arrays."""

import numpy as np
import pandas as pd

import kernova

from .storage import inputs, numbers_in, vectors

CASES = {}


def case(function):
    """Register a function without arguments as a case under its own name."""
    CASES[function.__name__] = function
    return function


def detector_answers(model, rows):
    """Ask a detector everything that detectors answer about new rows."""
    asked = ("score_samples", "decision_function", "predict")
    return {name: getattr(model, name)(rows) for name in asked}


# Depth


@case
def spatial_depth():
    v = vectors("ksd")
    model = kernova.SpatialDepth(contamination=0.1).fit(v["X"])
    return {
        **detector_answers(model, v["Q"]),
        "fit_predict": model.fit_predict(v["X"]),
        "offset": model.offset_,
    }


@case
def kernel_depth_by_bandwidth():
    v, found = vectors("ksd"), {}
    for bandwidth in ("nearest", "reach", "median", 0.2, 1.0, 5.0):
        model = kernova.KernelSpatialDepth(
            bandwidth=bandwidth, engine="exact", far_rows="literal"
        ).fit(v["X"])
        answers = detector_answers(model, v["Q"])
        found[str(bandwidth)] = {**answers, "used": model.bandwidth_, "offset": model.offset_}
    return found


@case
def kernel_depth_by_kernel():
    v, found = vectors("ksd"), {}
    for kernel in ("gaussian", "laplacian", "matern", "polynomial", "linear"):
        bandwidth = 1.5 if kernel != "linear" else "nearest"
        model = kernova.KernelSpatialDepth(
            kernel=kernel, bandwidth=bandwidth, far_rows="literal"
        ).fit(v["X"])
        found[kernel] = detector_answers(model, v["Q"])
    return found


@case
def kernel_depth_by_engine():
    i, found = inputs(), {}
    for engine, bandwidth, n in (
        ("exact", 1.0, 600), ("low-rank", 1.5, 600), ("sparse", 0.05, 600), ("auto", 0.1, 2400),
    ):  # fmt: skip
        model = kernova.KernelSpatialDepth(
            bandwidth=bandwidth, engine=engine, random_state=0, far_rows="literal"
        )
        model.fit(i["ring"][:n])
        found[engine] = {**detector_answers(model, i["ring_new"]), "offset": model.offset_}
    return found


# Local factors


@case
def outlier_factor_on_vectors():
    v, found = vectors("rkof"), {}
    settings = {
        "volcano": {}, "gaussian": {"kernel": "gaussian"},
        "epanechnikov": {"kernel": "epanechnikov"},
        "s01": {"sigma": 0.1}, "g1_a05": {"gamma": 1.0, "alpha": 0.5},
        "dimension": {"gamma": "dimension"}, "scale": {"scale": 0.5, "sigma": np.inf},
    }  # fmt: skip
    for name, parameters in settings.items():
        for k in (5, 15, [5, 15, 40]):
            model = kernova.RobustKernelOutlierFactor(k, **parameters)
            labels = model.fit_predict(v["X"])
            key = f"{name}_{k}"
            found[key] = {"labels": labels, "offset": model.offset_}
            found[key]["factor"] = model.negative_outlier_factor_
    for k in (4, 8):
        grid = kernova.RobustKernelOutlierFactor(k).fit(v["G"])
        found[f"grid_{k}"] = grid.negative_outlier_factor_
    return found


@case
def local_factors_of_new_rows():
    v, i, found = vectors("rkof"), inputs(), {}
    for name in (
        "RobustKernelOutlierFactor", "LocalDensityFactor", "LocalPeculiarityFactor",
    ):  # fmt: skip
        for algorithm in ("kd_tree", "brute"):
            kind = getattr(kernova, name)
            model = kind([5, 12], algorithm=algorithm, novelty=True, contamination=0.1)
            answers = detector_answers(model.fit(v["X"]), i["new"])
            answers["factor"] = model.negative_outlier_factor_
            found[f"{name}_{algorithm}"] = {**answers, "offset": model.offset_}
    return found


@case
def other_local_factors():
    v = vectors("rkof")
    ldf = kernova.LocalDensityFactor(10, bandwidth=0.7, c=0.2)
    lpf = kernova.LocalPeculiarityFactor(10, alpha=0.8)
    return {
        "ldf": [ldf.fit_predict(v["X"]), ldf.negative_outlier_factor_],
        "lpf": [lpf.fit_predict(v["X"]), lpf.negative_outlier_factor_],
        "path": kernova.outlier_factor_path(v["X"], [5, 10, 20, 40]),
    }


# Descriptions of classes


@case
def data_description():
    v, found = vectors("mddkm"), {}
    settings = {
        "default": {}, "median": {"length_scale": "median"},
        "fixed": {"length_scale": 1.3, "ridge": 1e-2}, "common": {"scale": "common"},
        "none": {"scale": "none", "reject": 0.2}, "robust": {"robust": True},
        "centered": {"centered": True}, "few": {"max_rows_per_class": 12, "random_state": 0},
    }  # fmt: skip
    for name, parameters in settings.items():
        model = kernova.MulticlassDataDescription(**parameters).fit(v["X"], v["labels"])
        found[name] = _description_answers(model, v["Xtest"])
    model = kernova.MulticlassDataDescription().fit(v["X"][:60], v["labels"][:60])
    model.add(v["X"][60:], v["labels"][60:])
    found["added"] = _description_answers(model, v["Xtest"])
    return found


@case
def data_description_literal():
    """Keep few digits: the search for this length-scale depends on rounding, so on the memory."""
    v = vectors("mddkm")
    model = kernova.MulticlassDataDescription(length_scale="literal").fit(v["X"], v["labels"])
    return {
        "length_scale": model.length_scale_,
        "ridge": model.ridge_,
        "predict": model.predict(v["Xtest"]),
    }


def _description_answers(model, rows):
    asked = (
        "membership", "log_membership", "uncertainty", "soft_scores", "score_samples", "predict",
        "recognize", "ambiguous",
    )  # fmt: skip
    fitted = ("classes_", "length_scale_", "signal_variance_", "ridge_", "thresholds_")
    answers = {name: getattr(model, name)(rows) for name in asked}
    return {**answers, **{name: getattr(model, name) for name in (*fitted, "n_outliers_")}}


@case
def one_class_gaussian_process():
    v, found = vectors("mddkm"), {}
    for name, parameters in {
        "default": {}, "robust": {"robust": True, "contamination": 0.1},
        "few": {"max_rows": 20, "length_scale": "median", "random_state": 0},
    }.items():  # fmt: skip
        model = kernova.OneClassGaussianProcess(**parameters).fit(v["X"])
        answers = detector_answers(model, v["Xtest"])
        answers |= {
            name: getattr(model, name)(v["Xtest"]) for name in ("membership", "uncertainty")
        }
        found[name] = answers
    return found


@case
def possibilistic_neighbors():
    v, found = vectors("mddkm"), {}
    for name, parameters in {
        "default": {}, "small": {"n_prototypes": (3, 4), "n_neighbors": 3, "reject": 0.1},
    }.items():  # fmt: skip
        model = kernova.PossibilisticNeighbors(**parameters).fit(v["X"], v["labels"])
        asked = ("membership", "score_samples", "predict", "recognize", "ambiguous")
        found[name] = {name: getattr(model, name)(v["Xtest"]) for name in asked}
    return found


# Hierarchies and clusters


@case
def hierarchical_mean_shift():
    found = {}
    for name, parameters in {
        "blobs_data": {}, "blobs_weighted": {"reference": "weighted"},
        "digits300z_data": {"standardize": "zscore"},
    }.items():  # fmt: skip
        model = kernova.HierarchicalMeanShift(**parameters).fit(vectors(name)["X"])
        found[name] = _hierarchy_answers(model)
    X = vectors("blobs_data")["X"]
    for name, parameters in {
        "half": {"standardize": "half-sphere", "growth": 1.3}, "plain": {"standardize": "none"},
        "double": {"precision": "double", "growth": 1.2}, "centres": {"reference": "centres"},
        "coreset": {"coreset": 60}, "components": {"n_components": 2},
    }.items():  # fmt: skip
        found[name] = _hierarchy_answers(kernova.HierarchicalMeanShift(**parameters).fit(X))
    return found


def _hierarchy_answers(model):
    level = int(model.level_)
    return {
        "bandwidths": model.bandwidths_,
        "n_clusters": model.n_clusters_,
        "labels": model.labels_,
        "level": level,
        "nodes": model.nodes_,
        "modes": model.modes_,
        "outlierness": model.outlierness_,
        "compactness_isolation": model.compactness_isolation_,
        "standardized": model.standardized_,
        "path_lengths": model.path_lengths_,
        "labels_at": [model.labels_at(at) for at in (0, level // 2, level)],
        "nodes_at": model.nodes_at(level),
        "last_members": model.members_of(len(model.nodes_) - 1),
    }


@case
def gaussian_mean_shift():
    X, found = vectors("blobs_data")["X"], {}
    for bandwidth in ("silverman", "likelihood-cv", 1.0):
        model = kernova.GaussianMeanShift(bandwidth).fit(X)
        found[str(bandwidth)] = {
            "bandwidth": model.bandwidth_,
            "centers": model.cluster_centers_,
            "labels": model.labels_,
            "predict": model.predict(X[::5] + 0.1),
        }
    return found


# Decisions


@case
def decisions():
    i, found = inputs(), {}
    known, unknown = i["holdout_scores"], i["unknown_scores"]
    for bound in ("hoeffding", "binomial"):
        found[bound] = kernova.false_alarm_threshold(known, 0.15, 0.9, bound)
    p_values = kernova.conformal_p_values(known, unknown)
    return {
        **found,
        "critical": kernova.critical_false_alarm(known, unknown),
        "equal": kernova.equal_error_rate(known, unknown),
        "p_values": p_values,
        "discoveries": kernova.select_discoveries(p_values, 0.2),
    }


@case
def calibrated_detector():
    i, found = inputs(), {}
    for bound in ("binomial", "hoeffding"):
        model = kernova.CalibratedDetector(
            kernova.KernelSpatialDepth(bandwidth=1.0, far_rows="literal"),
            0.25,
            0.9,
            bound,
            0.5,
            random_state=0,
        ).fit(i["rows"])
        found[bound] = _calibrated_answers(model, i["new"])
    fitted = kernova.SpatialDepth().fit(i["rows"][:60])
    model = kernova.CalibratedDetector(fitted, max_false_alarm=0.2).calibrate(i["rows"][60:])
    return {**found, "fitted": _calibrated_answers(model, i["new"])}


def _calibrated_answers(model, rows):
    answers = detector_answers(model, rows)
    answers |= {name: getattr(model, name)(rows) for name in ("novelty", "p_values", "judge")}
    answers["discoveries"] = model.discoveries(rows, 0.3)
    fitted = ("threshold_", "false_alarm_bound_", "observed_false_alarm_", "holdout_scores_")
    return {**answers, **{name: getattr(model, name) for name in fitted}}


# Reasons


def mixed_table():
    """Give a table of numbers, truth values and texts."""
    i = inputs()
    return pd.DataFrame({name: i[name] for name in ("length", "is_adult", "place", "count")})


@case
def explanations():
    i, found = inputs(), {}
    models = {
        "depth": kernova.KernelSpatialDepth(bandwidth=1.0, far_rows="literal").fit(i["rows"]),
        "factor": kernova.RobustKernelOutlierFactor(10, novelty=True).fit(i["rows"]),
        "classes": kernova.MulticlassDataDescription().fit(i["rows"], i["classes"]),
    }
    for name, model in models.items():
        lines = kernova.explain(model, i["new"], rows=[0, 3, 11], known=i["rows"], n_nearest=4)
        top = [numbers_in(text) for text in kernova.top_features(lines, 2)]
        nearest = np.array([list(one) for one in lines.pop("nearest")])
        found[name] = {**{str(key): lines[key] for key in lines}, "nearest": nearest, "top": top}
    return found


@case
def table_encoder():
    table, found = mixed_table(), {}
    for scaling in ("standard", "minmax", "none"):
        model = kernova.TableEncoder(scaling, category_weight=0.7).fit(table)
        found[scaling] = [model.transform(table), model.get_feature_names_out()]
    table.loc[3, "length"] = np.nan
    table.loc[5, "place"] = None
    found["filled"] = kernova.TableEncoder(missing="fill", category_weight=1.0).fit_transform(table)
    return found
