"""Everything that a loaded model answers about stored inputs; public names only."""

import numpy as np
import pandas as pd

import kernova

from .outputs_media import note_answers, song_of_inputs

_METHODS = (
    "score_samples", "decision_function", "predict", "p_values", "novelty", "transform",
    "membership", "log_membership", "uncertainty", "soft_scores", "recognize", "ambiguous",
    "nearest_ids",
)  # fmt: skip
_MAX_ATTRIBUTE = 150
_FRAME = "frame:"


def stored_input(value):
    """Turn the input of a model into arrays for an archive; recordings begin the drawn song."""
    if isinstance(value, kernova.Audio):
        assert np.array_equal(value.samples, song_of_inputs().samples[: len(value.samples)])
        return {"n_samples": np.array(len(value.samples))}
    if isinstance(value, pd.DataFrame):
        columns = {f"{_FRAME}{name}": _plain_column(column) for name, column in value.items()}
        return {**columns, "columns": np.array([str(name) for name in value.columns])}
    return {"X": np.asarray(value)}


def _plain_column(column):
    values = column.to_numpy()
    return values if values.dtype.kind in "biuf" else values.astype(np.str_)


def restored_input(arrays):
    """Undo :func:`stored_input`."""
    if "n_samples" in arrays:
        song = song_of_inputs()
        return kernova.Audio(song.samples[: int(arrays["n_samples"])], song.sample_rate)
    if "columns" in arrays:
        names = arrays["columns"].tolist()
        columns = {name: arrays[f"{_FRAME}{name}"] for name in names}
        return pd.DataFrame(
            {name: a.astype(object) if a.dtype.kind == "U" else a for name, a in columns.items()}
        )
    return arrays["X"]


def answers(model, value):
    """Give all answers of a model about an input, and its fitted attributes."""
    if isinstance(value, kernova.Audio):
        return note_answers(model, value)
    found = {}
    for name in _METHODS:
        method = getattr(model, name, None)
        if callable(method):
            found[name] = method(value)
    return {**found, "attributes": _attributes(model)}


def _attributes(model):
    """Give the public fitted attributes that are numbers, texts or small arrays of them."""
    found = {}
    parts = [part for _, part in model.steps] if hasattr(model, "steps") else []
    for place, part in enumerate(parts):
        found |= {f"{place}.{name}": value for name, value in _attributes(part).items()}
    for name, value in sorted(vars(model).items()):
        is_public = name.endswith("_") and not name.startswith("_")
        is_plain = isinstance(value, int | float | str | np.ndarray | np.generic)
        if is_public and is_plain and np.size(value) <= _MAX_ATTRIBUTE:
            found[name] = value
    for name in ("estimator_", "description_", "encoder_"):
        if hasattr(model, name):
            inside = _attributes(getattr(model, name))
            found |= {f"{name}.{key}": value for key, value in inside.items()}
    return found
