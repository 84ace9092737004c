"""Messages of model files, in one place: a change of wording is a change here."""

import sklearn
import skops

import kernova

NAME_OURS = "Pass a model file written by kernova."
DAMAGED = "is damaged or cut short. Copy it again from an undamaged file, or save the model again."
PICKLE = (
    "is not a kernova model but a pickle, which may run any program when it is read. Load it "
    "where you trust it, and save the model with kernova.save_model."
)
NOT_OURS = f"is not a kernova model. {NAME_OURS}"
UNCLEAR = (
    f"is not a kernova model: its kernova.json does not say which format it is in. {NAME_OURS}"
)
NO_FILE = f"There is no model file {{}}. {NAME_OURS}"
FOLDER = f"{{}} is not a kernova model: it is a folder. {NAME_OURS}"
UNREADABLE = f"Cannot read {{}}: {{}}. {NAME_OURS}"
NEWER = (
    f"was written by kernova 1.4.0 (format 9); this is kernova {kernova.__version__} and reads "
    "formats up to 1: upgrade kernova."
)
OTHER_SKLEARN = (
    f"{{}} was saved with scikit-learn 1.5.2; this is scikit-learn {sklearn.__version__}, which "
    "may give other results. Fit and save the model again to be sure."
)
OTHER_VERSIONS = [
    (
        {"scikit-learn": "1.5.2", "skops": "99.0"},
        "It was written with scikit-learn 1.5.2, skops 99.0; this is scikit-learn "
        f"{sklearn.__version__}, skops {skops.__version__}.",
    ),
    ({"scikit-learn": "\x1b[2J", "numpy": 2}, "Save the model again where it was fitted."),
]
SHARED_NUMBER = "two objects have one number"
SHARED_ARRAY = "two objects claim one array"
BAD_DECISION_TREE = "a decision tree has invalid nodes"
MISPLACED_DECISION_TREE = "a decision tree is not the tree_ of an estimator"
MISPLACED_SEARCH_TREE = "a search tree is not an attribute of an estimator"
BAD_SPARSE_INDICES = "a sparse array has invalid indices"
BAD_SPARSE_FORMAT = "a sparse array has the format dia"
A_CLASS = "save_model takes a fitted estimator; got the class StandardScaler."
NO_ESTIMATOR = "save_model takes a fitted estimator; got an object of type dict."
NOT_FITTED = "Cannot save this Pipeline: it is not fitted. Call fit first."
CANNOT_WRITE = "Cannot write {}: there is no folder {}. Name a file that can be written."
DIFFERS = "it differs after loading"
GRADIENT_BOOSTING = "gradient boosting cannot be checked for invalid memory offsets"
RECURSION = "RecursionError: maximum recursion depth exceeded"
TRUSTED_BY_NAME = "trusts only by name"


def zip_without(name):
    return f"is not a kernova model: it is a zip without {name}. {NAME_OURS}"


def too_large(path, needed_mb, allowed_mb):
    size_mb = f"{path.stat().st_size / 1e6:.2g}"
    return (
        f"{path} ({size_mb} MB) needs at least {needed_mb} MB of memory, more than the "
        f"{allowed_mb} MB allowed for a file of its size. If you trust it, allow more with "
        "memory_mb=... or the environment variable KERNOVA_MEMORY_MB."
    )


def not_an_estimator(kind):
    return f"it holds a {kind}, not an estimator"


def name_to_trust(path, names):
    return f"{path} holds types that load_model {TRUSTED_BY_NAME}: load it with trusted={names}."


def not_trusted(path, names, more=""):
    return (
        f"{path} holds types that kernova does not trust: {', '.join(names)}{more}. Only if you "
        "know them and trust the file's author, pass their names as trusted=[...]."
    )


def cannot_rebuild(path, reason, advice="Save the model again where it was fitted."):
    return f"{path} holds a model that cannot be rebuilt here ({reason}). {advice}"


def cannot_save(model, what, reason):
    return (
        f"Cannot save this {model}: {what} cannot be restored from a file ({reason}). A model may "
        "hold plain values, arrays, and classes and functions that can be imported."
    )
