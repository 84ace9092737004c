"""Models of every kind that the landed version can save; used by ``make_frozen.py`` only.

Unlike the tests beside it, this module imports from submodules, as they were called then.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import kernova

from .drawn_inputs import RATE
from .outputs_media import ENGINES, clips_of_inputs, song_of_inputs
from .outputs_tables import mixed_table
from .storage import inputs


def recipes():
    """Give models by name, each with an input that it is asked about."""
    return {
        **_depths(), **_local_factors(), **_descriptions(), **_hierarchies(), **_encoders(),
        **_calibrated(), **_shapes_and_frames(), **_note_finders(), **_recognizers(),
    }  # fmt: skip


def _rows():
    i = inputs()
    return i["rows"][:48], i["classes"][:48], i["new"][:15]


def _depths():
    from kernova.kernels.functions import Gaussian, Laplacian, Linear, Matern, Polynomial

    X, _, new = _rows()
    depth = kernova.KernelSpatialDepth
    found = {"spatial-depth": kernova.SpatialDepth(contamination=0.1)}
    for rule in ("nearest", "reach", "median", 1.5):
        found[f"depth-bandwidth-{rule}"] = depth(bandwidth=rule)
    for name in ("laplacian", "matern", "polynomial"):
        found[f"depth-named-{name}"] = depth(kernel=name, bandwidth=2.0)
    found["depth-named-linear"] = depth(kernel="linear")
    for name, kernel in {
        "gaussian": Gaussian(0.8), "laplacian": Laplacian(1.2), "matern": Matern(2.0),
        "matern-five-halves": Matern(2.0, 2.5), "linear": Linear(),
        "polynomial": Polynomial(1.5, 2, 0.5),
        "sum": Gaussian(2.0) + Linear(), "scaled": 0.5 * Laplacian(1.0),
        "product": Gaussian(2.0) * Polynomial(1.5, 2),
        "composed": Gaussian(2.0) * Polynomial(1.5, 2) + 0.5 * Linear(),
    }.items():  # fmt: skip
        found[f"depth-kernel-{name}"] = depth(kernel=kernel)
    for engine, bandwidth in (("exact", 1.0), ("low-rank", 2.0), ("sparse", 0.1)):
        found[f"depth-engine-{engine}"] = depth(
            bandwidth=bandwidth, engine=engine, random_state=np.random.RandomState(0)
        )
    return {name: (model.fit(X), new) for name, model in found.items()}


def _local_factors():
    X, _, new = _rows()
    found = {}
    for name, kind in (
        ("rkof", kernova.RobustKernelOutlierFactor), ("ldf", kernova.LocalDensityFactor),
        ("lpf", kernova.LocalPeculiarityFactor),
    ):  # fmt: skip
        found[f"{name}-own-rows"] = kind(8)
        for algorithm in ("kd_tree", "brute", "approximate"):
            found[f"{name}-{algorithm}"] = kind([5, 9], algorithm=algorithm, novelty=True)
    for kernel in ("gaussian", "epanechnikov"):
        found[f"rkof-{kernel}"] = kernova.RobustKernelOutlierFactor(8, kernel=kernel, novelty=True)
    found["rkof-dimension"] = kernova.RobustKernelOutlierFactor(
        8, gamma="dimension", sigma=np.inf, novelty=True
    )
    # A kernel of one's own is a function that can be imported; numpy has one that will do.
    found["rkof-function"] = kernova.RobustKernelOutlierFactor(8, kernel=np.exp2, novelty=True)
    models = {name: (model.fit(X), new) for name, model in found.items()}
    # Above 5,000 distinct rows neighbours are searched approximately; a lattice is small on disk.
    lattice = np.stack(np.meshgrid(np.arange(72.0), np.arange(72.0)), axis=-1).reshape(-1, 2)
    many = kernova.LocalPeculiarityFactor(6, algorithm="approximate", novelty=True).fit(lattice)
    return {**models, "lpf-approximate-many": (many, 30 + 20 * new[:, :2])}


def _descriptions():
    X, y, new = _rows()
    classes, one = kernova.MulticlassDataDescription, kernova.OneClassGaussianProcess
    found = {
        "description": classes(),
        "description-literal": classes(length_scale="literal"),
        "description-median": classes(length_scale="median", scale="common"),
        "description-fixed": classes(length_scale=1.5, scale="none", ridge=0.01),
        "description-robust": classes(robust=True),
        "description-centered": classes(centered=True),
        "description-few-rows": classes(max_rows_per_class=8, random_state=0),
        "one-class": one(),
        "one-class-robust": one(robust=True, max_rows=30, random_state=0),
        "possibilistic": kernova.PossibilisticNeighbors(),
        "possibilistic-common": kernova.PossibilisticNeighbors((3, 3), 3, 5, scale="common"),
    }
    models = {name: (model.fit(X, y), new) for name, model in found.items()}
    grown = classes().fit(X[:32], y[:32]).add(X[32:], y[32:])
    numbered = classes().fit(X, np.arange(48) % 3)  # labels that are numbers
    return {**models, "description-grown": (grown, new), "description-numbers": (numbered, new)}


def _hierarchies():
    X, _, new = _rows()
    found = {"hierarchy": kernova.HierarchicalMeanShift()}
    for standardize in ("half-sphere", "zscore", "none"):
        found[f"hierarchy-{standardize}"] = kernova.HierarchicalMeanShift(
            1.3, standardize=standardize
        )
    for reference in ("weighted", "centres"):
        found[f"hierarchy-{reference}"] = kernova.HierarchicalMeanShift(1.3, reference)
    found["hierarchy-coreset"] = kernova.HierarchicalMeanShift(1.3, coreset=20, n_components=2)
    for rule in ("silverman", "likelihood-cv", 0.9):
        found[f"mean-shift-{rule}"] = kernova.GaussianMeanShift(rule)
    return {name: (model.fit(X), new) for name, model in found.items()}


def _encoders():
    table = mixed_table()
    known, new = table[:90], table[90:105].reset_index(drop=True)
    found = {f"encoder-{s}": kernova.TableEncoder(s) for s in ("standard", "minmax", "none")}
    found["encoder-fill"] = kernova.TableEncoder(missing="fill", category_weight=0.5)
    found["pipeline-encoder-depth"] = make_pipeline(
        kernova.TableEncoder(), kernova.KernelSpatialDepth(bandwidth="nearest", far_rows="literal")
    )
    found["pipeline-encoder-factor"] = make_pipeline(
        kernova.TableEncoder("minmax"), kernova.RobustKernelOutlierFactor(8, novelty=True)
    )
    models = {name: (model.fit(known), new) for name, model in found.items()}
    X, y, rows = _rows()
    scaled = make_pipeline(StandardScaler(), kernova.MulticlassDataDescription()).fit(X, y)
    return {**models, "pipeline-scaler-description": (scaled, rows)}


def _calibrated():
    X, _, new = _rows()
    calibrated = kernova.CalibratedDetector
    share = {"max_false_alarm": 0.3, "confidence": 0.9, "random_state": 0}
    found = {
        "calibrated-default": calibrated(**share),
        "calibrated-hoeffding": calibrated(kernova.SpatialDepth(), bound="hoeffding", **share),
        "calibrated-factor": calibrated(
            kernova.RobustKernelOutlierFactor(8, novelty=True), **share
        ),
        "calibrated-one-class": calibrated(kernova.OneClassGaussianProcess(), **share),
        "calibrated-forest": calibrated(IsolationForest(n_estimators=4, random_state=0), **share),
        "calibrated-svm": calibrated(OneClassSVM(nu=0.2), **share),
        "calibrated-lof": calibrated(LocalOutlierFactor(novelty=True), **share),
    }
    models = {name: (model.fit(X), new) for name, model in found.items()}
    fitted = kernova.SpatialDepth().fit(X[:24])
    models["calibrated-apart"] = (calibrated(fitted, 0.3, 0.9).calibrate(X[24:]), new)
    table = mixed_table()
    road = make_pipeline(
        kernova.TableEncoder(), kernova.KernelSpatialDepth(bandwidth="nearest", far_rows="literal")
    )
    whole = calibrated(road, max_false_alarm=0.2, random_state=np.random.RandomState(0))
    models["calibrated-pipeline"] = (whole.fit(table[:90]), table[90:105].reset_index(drop=True))
    return models


def _shapes_and_frames():
    i = inputs()
    flat, solid = i["landmarks"].reshape(56, -1), i["solid"].reshape(12, -1)
    frames = np.cumsum(i["ring"][:320].reshape(80, 8), axis=0) / 10
    procrustes, dynamics = kernova.GeneralizedProcrustes, kernova.HierarchicalLinearDynamics
    return {
        "procrustes": (procrustes().fit(flat[:30]), flat[30:40]),
        "procrustes-reflection": (
            procrustes(scaling=False, reflection=True).fit(flat[:30]), flat[30:40],
        ),
        "procrustes-space": (procrustes(dimensions=3).fit(solid), solid),
        "dynamics": (dynamics().fit(frames), frames),
        "dynamics-all": (dynamics((8, 4, 2), "all", 10.0).fit(frames), frames),
        "dynamics-level": (dynamics((8, 2), "level", state_noise=[1.0, 2.0]).fit(frames), frames),
    }  # fmt: skip


def _note_finders():
    clips, labels = clips_of_inputs()
    some = [0, 1, 4, 5]
    song = song_of_inputs()
    short = kernova.Audio(song.samples[: int(1.3 * RATE)], RATE)
    found = {}
    for name, parameters in ENGINES.items():
        finder = kernova.NoteFinder(**parameters)
        found[f"notes-{name.replace('_', '-')}"] = (
            finder.fit([clips[k] for k in some], [labels[k] for k in some]), short,
        )  # fmt: skip
    found["notes-threshold"] = (
        kernova.NoteFinder(threshold=0.4, channel=1).fit(clips[:5], labels[:5]), short,
    )  # fmt: skip
    return found


def _recognizers():
    """Models of ``kernova learn`` and of what a page of ``kernova discover`` learns."""
    from kernova.load.tables import Table
    from kernova.studies.discovery_learning import learn_from_answers
    from kernova.studies.learn import LearnSettings, learn_classes

    i, table = inputs(), mixed_table()[:90]
    labels = pd.Series(i["classes"][:90].astype(object), name="kind")
    table = pd.DataFrame(i["rows"][:90], columns=["x", "y", "z"]).join(table[["length", "place"]])
    ids = pd.Series([f"f{k:02}" for k in range(90)], name="fish")
    whole = Table(table, ids, labels, "fish.csv")
    asked = table[75:].reset_index(drop=True)
    found = {}
    for name, settings in {
        "recognizer": LearnSettings(),
        "recognizer-robust": LearnSettings(robust=True, scale="common"),
        "recognizer-fill": LearnSettings(missing="fill", scale="none", max_rows_per_class=15),
    }.items():  # fmt: skip
        found[name] = (learn_classes(whole, settings).model, asked)
    said = [label if k % 3 == 0 else None for k, label in enumerate(labels)]
    answered = learn_from_answers(whole, said, groups=np.arange(90) // 6)
    return {**found, "recognizer-of-answers": (answered.model, asked)}


def learnt_from_files(folder):
    """Give models that a page learns from landmarks and from sounds, which keep a reader.

    ``folder`` holds ``fish.tps``, ``species.csv``, and recordings in ``sounds``.
    """
    from kernova.studies.discovery_data import open_discovery_data
    from kernova.studies.discovery_learning import learn_from_answers

    found = {}
    groups = pd.read_csv(Path(folder) / "species.csv")["species"].tolist()
    for name, source, labels in (
        ("recognizer-of-landmarks", Path(folder) / "fish.tps", groups),
        ("recognizer-of-sounds", Path(folder) / "sounds", None),
    ):
        opened = open_discovery_data(source)
        ids = opened.table.ids.tolist()
        named = [one.split("-")[0] for one in ids] if labels is None else labels
        n_named = 3 if labels is None else 1  # of four
        said = [one if k % 4 < n_named else None for k, one in enumerate(named)]
        learnt = learn_from_answers(opened.table, said)
        model = (
            learnt.model.read_by(opened.table.reader)
            if learnt.model.reader is None
            else learnt.model
        )
        found[name] = (model, opened.table.features[:15])
        opened.media.close()
    return found
