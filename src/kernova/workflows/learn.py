"""Learning of classes: a labelled table in, a fitted recogniser and its accuracy out."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.open_set.classifier import OpenSetClassifier
from kernova.description.recognizer import TableRecognizer, duplicates_across_classes
from kernova.errors import InputError, quoted
from kernova.tables.columns import category_columns
from kernova.tables.fill_values import FarCells, far_cell_notes, far_cells, with_moved_cells
from kernova.tables.interpretation import day_features
from kernova.tables.records import (
    dropped_rows_notes,
    json_rows,
    left_out_note,
    warnings_as_notes,
)
from kernova.tables.table import Reading, Table, columns_of, read_table
from kernova.text import first_few, is_missing, listed, plural, quantity
from kernova.typing import Indices, Mask
from kernova.workflows.class_tests import (
    ClassTests,
    membership_tests,
    open_set_tests,
    unjudged_classes,
    unrecognized_classes,
)
from kernova.workflows.detectors import table_encoder
from kernova.workflows.landmarks.alignment import LandmarkColumns
from kernova.workflows.landmarks.reading import (
    AS_WRITTEN,
    HowDigitised,
    Roles,
    read_specimens,
    table_unless_landmarks,
)
from kernova.workflows.landmarks.tables import aligned_specimens
from kernova.workflows.media.reading import (
    BY_COLUMNS,
    HowCompared,
    MediaColumns,
    MediaRoles,
    is_media,
    read_media,
)
from kernova.workflows.settings import LearnSettings, Missing, missing_when_reading
from kernova.workflows.verdicts import UNKNOWN

__all__ = ["LearnResult", "LearnSettings", "label_texts", "learn_classes", "read_labelled"]

# With more classes than this, and than half of the rows, a label column is taken for ids.
_MAX_CLASSES = 50
# Rows of a class that describe it in the published method, by default.
_INFORMATIVE_ROWS = 1000
# More rows without a label do not make scales any better, but models larger.
_MOST_UNLABELLED = 5000
_NEAREST_OTHERS = "Classes are learnt as if such rows had the nearest of the other values."
_LEFT_OUT = "A robust fit leaves out rows that are far from all others of their class."


@dataclass(frozen=True)
class LearnResult:
    """The classes learnt, and the verdicts on their own rows by models without them."""

    model: TableRecognizer  # the fitted model; it takes tables with the same columns
    # One line for each class: ``class``, ``rows``, ``outliers`` (left out by a robust fit),
    # ``recognized`` (fraction of its rows recognised as this class), ``unknown`` (fraction called
    # unknown), ``confused_with`` (classes that others are taken for, and how many), and
    # ``found_if_unknown`` (fraction that would be called unknown if the class were left out).
    # The published method has ``threshold`` and ``accepted`` (fraction of its own rows that a
    # class claims when they are left out), and nothing on classes left out.
    classes: pd.DataFrame
    table: Table  # the training rows
    settings: LearnSettings  # parameters of the classifier
    notes: list[str]  # remarks for readers of the result
    tests: ClassTests  # figures and sentences on accuracy

    @property
    def sentences(self) -> list[str]:
        """What was learnt, and how well rows are recognised by models without them."""
        n_classes, n_rows = len(self.classes), int(self.classes["rows"].sum())
        learnt = (
            f"{quantity(n_classes, 'class was', 'classes were')} learnt from "
            f"{quantity(n_rows, 'row')} of {self.table.source}."
        )
        return [learnt, *self.tests.sentences]

    @property
    def summary(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        return {
            "command": "learn",
            "labelled": {"source": self.table.source, "rows": int(self.classes["rows"].sum())},
            "settings": asdict(self.settings),
            **self.tests.figures,
            "summary": self.summary,
            "notes": self.notes,
            "classes": json_rows(self.classes),
        }


# --- reading -----------------------------------------------------------------------------------


def read_labelled(
    path: str | os.PathLike[str],
    label_column: str | None,
    *,
    id_column: str | None = None,
    group_column: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    missing: Missing = LearnSettings.missing,
    reading: Reading = "auto",
    labels: str | os.PathLike[str] | None = None,
    id_pattern: str | None = None,
    raw_coordinates: bool = False,
    size: bool = False,
    digitised: HowDigitised = AS_WRITTEN,
    compared: HowCompared = BY_COLUMNS,
) -> Table:
    """Read the training table; it must have labels.

    The days of dates are no features, unless a column is named in ``keep``: new rows come later,
    and would all be unknown. Specimens of a file of landmarks are aligned, unless
    ``raw_coordinates`` asks for their columns as they are; ``size`` adds the logarithm of centroid
    size. Their labels may come from a table by id (``labels``, with ``id_column`` and
    ``label_column`` of that table), or from a part of their ids (``id_pattern``); ``digitised``
    says what the file does not. Pictures are described; their labels may come from elsewhere, too,
    or be ``"folder"``, the name of the folder of each. ``compared`` may name embeddings that stand
    for the columns.
    """
    if is_media(path, compared):
        media_roles = MediaRoles(
            id_column, label_column, group_column, drop, labels, id_pattern, missing
        )
        others = {"keep": keep, "raw_coordinates": raw_coordinates, "size": size}
        table = read_media(path, compared, media_roles, others={**others, **digitised.given})
        _check_has_labels(table)
        return table
    beside = (id_column, label_column)  # with `labels`, they are columns of that table
    found = table_unless_landmarks(
        path,
        lambda: read_table(
            path,
            id_column=id_column,
            label_column=label_column,
            group_column=group_column,
            drop=drop,
            keep=keep,
            missing=missing_when_reading(missing),
            optional=() if labels is None else [name for name in beside if name is not None],
            reading=reading,
        ),
        raw_coordinates=raw_coordinates or reading == "strict",
        digitised=digitised,
        size=size,
        labels=labels,
        id_pattern=id_pattern,
    )
    if found is None:
        roles = Roles(
            id_column, label_column, group_column, drop, keep, labels, id_pattern,
            digitised=digitised,
        )  # fmt: skip
        found = aligned_specimens(read_specimens(path, roles), missing=missing, size=size)
    _check_has_labels(found)
    return _without_days(found, keep)


def _check_has_labels(table: Table) -> None:
    if table.labels is None:
        others = "; or give `labels`, a table by id, or id_pattern"
        has_others = isinstance(table.reader, (LandmarkColumns, *MediaColumns))
        raise InputError(
            f"{table.source} has no labels, so there are no classes to learn. Name the column that "
            "holds them with label_column"
            f"{others if has_others else ''}."
        )


def _without_days(table: Table, keep: Sequence[str]) -> Table:
    """Leave out the days of dates that are not named in ``keep``."""
    days = [name for name in day_features(table.readings, keep) if name in table.features]
    if not days or len(days) == table.features.shape[1]:
        return table
    note = (
        f"Days are not used, since those of new rows would all be later: {listed(days)}. Name a "
        "column of dates with keep to use them."
    )
    features = table.features.drop(columns=days)
    return replace(table, features=features, notes=(*table.notes, note))


def label_texts(labels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return labels as texts, so that 3, 3.0 and "3" are one class; None if missing or blank.

    Examples
    --------
    >>> import pandas as pd
    >>> label_texts(pd.Series([3.0, None, 2.5])).tolist()
    ['3', None, '2.5']
    """
    texts = [_label_text(label) for label in labels.astype(object)]
    return pd.Series(texts, index=labels.index, name=labels.name, dtype=object)


def _label_text(label: Any) -> str | None:
    if is_missing(label):
        return None
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    return str(label).strip() or None


# --- learning ----------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Rows to learn from, and rows without a label."""

    features: pd.DataFrame
    classes: NDArray[np.str_]
    ids: list[str]
    groups: Indices | None
    unlabelled: pd.DataFrame | None

    @property
    def all_features(self) -> pd.DataFrame:
        """The features of all rows."""
        if self.unlabelled is None:
            return self.features
        return pd.concat([self.features, self.unlabelled], ignore_index=True)


def learn_classes(
    table: Table,
    settings: LearnSettings | None = None,
    groups: NDArray[Any] | None = None,
    *,
    leaves_classes_out: bool = True,
) -> LearnResult:
    """Learn to recognise the classes of a labelled table.

    Parameters
    ----------
    table : Table
        Rows with labels. Those without one help to scale the columns, with a note; the published
        method leaves them out.
    settings : LearnSettings, optional
        Method and parameters of the classifier.
    groups : array of shape (n_rows,), optional
        Rows that belong together; by default those of the table's group column.
    leaves_classes_out : bool, default=True
        Whether to test how many rows of each class would be called unknown without it.
    """
    settings = _with_scale(settings or LearnSettings(), table)
    _check_settings(settings)
    assert table.labels is not None
    labels = label_texts(table.labels)
    _check_labels(labels, table)
    notes = dropped_rows_notes(table) + _unused_settings(settings)
    rows = _rows_of(table, labels, settings, groups, notes)
    model = _recognizer(rows.all_features, settings)
    unused = [name for name in day_features(table.readings, ()) if name not in table.features]
    reader = table.reader or (columns_of(table, unused) if table.readings else None)
    with warnings_as_notes(notes):
        model.fit(
            rows.features, rows.classes, ids=rows.ids, groups=rows.groups, reader=reader,
            unlabelled=rows.unlabelled,
        )  # fmt: skip
        tests = (
            membership_tests(model) if model.is_published_method
            else open_set_tests(model, rows.classes, leaves_classes_out=leaves_classes_out)
        )  # fmt: skip
    notes += _giveaway_notes(rows) + _notes_on(model, rows.classes)
    return LearnResult(model, tests.classes, table, settings, notes, tests)


def _with_scale(settings: LearnSettings, table: Table) -> LearnSettings:
    """Scale the components of pictures and embeddings together: weak ones hold less."""
    if isinstance(table.reader, MediaColumns) and settings.scale == "feature":
        return replace(settings, scale="common")
    return settings


def _rows_of(
    table: Table,
    labels: "pd.Series[Any]",
    settings: LearnSettings,
    groups: NDArray[Any] | None,
    notes: list[str],
) -> _Rows:
    """Divide a table into rows with and without a label, without cells far beyond all others."""
    has_label = labels.notna().to_numpy()
    features = table.features.reset_index(drop=True)
    takes_all = settings.method == "open-set"
    looked_at = np.flatnonzero(has_label | takes_all)
    features = features.iloc[looked_at].reset_index(drop=True)
    is_inside = has_label[looked_at]
    cells = far_cells(features)
    notes += _far_cell_notes(table, looked_at, cells, settings)
    if not settings.robust:
        features = with_moved_cells(features, cells)
    unlabelled = None
    if not has_label.all():
        n_others = int((~has_label).sum())
        notes.append(
            _unlabelled_note(n_others, table.source) if takes_all
            else left_out_note(n_others, table.source, "no label")
        )  # fmt: skip
        if takes_all:
            unlabelled = _sampled(features[~is_inside], settings.seed)
    return _Rows(
        features[is_inside].reset_index(drop=True),
        labels[has_label].to_numpy(dtype=str),
        table.ids[has_label].tolist(),
        _group_codes(table.groups if groups is None else groups, has_label),
        unlabelled,
    )


def _far_cell_notes(
    table: Table, rows: Indices, cells: list[FarCells], settings: LearnSettings
) -> list[str]:
    treatment = _LEFT_OUT if settings.robust else _NEAREST_OTHERS
    looked_at = replace(table, ids=table.ids.iloc[rows])
    return far_cell_notes(looked_at, cells, treatment, treatment)


def _unlabelled_note(n_rows: int, source: str) -> str:
    have, help_ = plural(n_rows, "has", "have"), plural(n_rows, "It helps", "They help")
    return (
        f"{quantity(n_rows, 'row')} of {source} {have} no label. {help_} to scale the columns, but "
        "no class is learnt from such rows."
    )


def _sampled(features: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the rows, or a random sample of them, which is as good for scaling."""
    if len(features) <= _MOST_UNLABELLED:
        return features.reset_index(drop=True)
    random = np.random.default_rng(seed)
    chosen = np.sort(random.choice(len(features), _MOST_UNLABELLED, replace=False))
    return features.iloc[chosen].reset_index(drop=True)


def _group_codes(groups: Any, has_label: Mask) -> Indices | None:
    """Return the number of each row's group; a row without one is a group of its own."""
    if groups is None:
        return None
    texts = label_texts(pd.Series(groups, dtype=object).reset_index(drop=True)[has_label])
    codes, names = pd.factorize(texts)
    alone = codes < 0
    codes[alone] = len(names) + np.arange(int(alone.sum()))
    return np.asarray(codes, dtype=np.intp)


def _recognizer(features: pd.DataFrame, settings: LearnSettings) -> TableRecognizer:
    """Return encoder and classifier; beside indicators, the encoder scales the numbers.

    The classifier would scale an indicator by its own spread, and rare categories would count
    for more than anything else.
    """
    has_indicators = bool(category_columns(features).any()) or (
        settings.missing == "auto" and bool(features.isna().any(axis=None))
    )
    is_encoders = has_indicators and settings.scale == "feature"
    scaling = ("robust" if settings.robust else "standard") if is_encoders else "none"
    scale = "none" if is_encoders else settings.scale
    if settings.method == "mddkm":
        # As published models have it, rows that differ in a category are 1 apart.
        encoder = table_encoder(scaling, settings.missing)
        return TableRecognizer(encoder, _published(settings, scale))
    classifier = OpenSetClassifier(
        reject=settings.reject,
        per_class=settings.per_class,
        scale=scale,
        class_weight=settings.class_weight,
        max_rows_per_class=settings.max_rows_per_class,
        robust=settings.robust,
        random_state=settings.seed,
    )
    return TableRecognizer(table_encoder(scaling, settings.missing, "auto"), classifier)


def _published(settings: LearnSettings, scale: Any) -> MulticlassDataDescription:
    most = settings.max_rows_per_class
    return MulticlassDataDescription(
        scale=scale,
        reject=settings.reject,
        max_rows_per_class=_INFORMATIVE_ROWS if isinstance(most, str) else most,
        robust=settings.robust,
        random_state=settings.seed,
    )


# --- checks and notes --------------------------------------------------------------------------


def _check_settings(settings: LearnSettings) -> None:
    check_reject(settings.reject)
    if settings.method not in ("open-set", "mddkm"):
        raise InputError(
            f"There is no method named {quoted(settings.method)}. Use one of open-set, mddkm."
        )
    if settings.class_weight not in (None, "balanced"):
        raise InputError(
            f"class_weight is {quoted(settings.class_weight)}; it must be 'balanced' or None."
        )
    most = settings.max_rows_per_class
    is_number = isinstance(most, int) and not isinstance(most, bool) and most >= 1
    if not (most is None or most == "auto" or is_number):
        raise InputError(
            f"max_rows_per_class is {quoted(most)}; it must be 'auto' or a whole number of at "
            "least 1."
        )


def check_reject(reject: object) -> None:
    """Raise unless this is a fraction of rows to reject."""
    if isinstance(reject, Real) and not isinstance(reject, bool) and 0 <= float(reject) < 1:
        return
    got = f"{reject:g}" if isinstance(reject, float) else quoted(reject)
    raise InputError(
        f"reject is {got}; it must be a fraction of the rows of known classes, from 0 to below 1."
    )


def _check_labels(labels: "pd.Series[Any]", table: Table) -> None:
    has_label = labels.notna()
    if not has_label.any():
        raise InputError(
            f"No row of {table.source} has a label in column {quoted(str(labels.name))}. "
            "Fill in the classes of some rows."
        )
    classes = labels[has_label]
    if UNKNOWN in set(classes):
        raise InputError(
            f"A class of {table.source} is called {UNKNOWN!r}, which is the verdict on rows of no "
            "class. Rename it, or leave the labels of these rows empty."
        )
    n_classes = classes.nunique()
    if n_classes > max(_MAX_CLASSES, len(classes) / 2):
        raise InputError(
            f"Column {quoted(str(labels.name))} of {table.source} looks like an id: "
            f"{n_classes:,} different labels in {len(classes):,} rows. Name the column that holds "
            "the classes with label_column."
        )


def _unused_settings(settings: LearnSettings) -> list[str]:
    if settings.method == "open-set":
        return []
    given = {"per_class": settings.per_class, "class_weight": settings.class_weight is not None}
    return [
        f"{name} was given, but the method mddkm does not use it; open-set does."
        for name, is_given in given.items()
        if is_given
    ]


def _giveaway_notes(rows: _Rows) -> list[str]:
    """Return a note on each category that alone determines the class of every row."""
    features = rows.features
    names = [str(name) for name in features.columns[category_columns(features)]]
    return [
        f"Column {quoted(name)} alone determines the class of every row; drop it with "
        f"drop={name!r} if it is not measured on new rows."
        for name in names
        if _determines(features[name], rows.classes)
    ]


def _determines(column: "pd.Series[Any]", classes: NDArray[np.str_]) -> bool:
    """Return whether each value is in one class only, and not by being in few rows."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if not 2 <= len(values) < len(classes) / 2:
        return False
    n_classes = pd.Series(classes).groupby(codes).nunique()
    return len(np.unique(classes)) > 1 and bool((n_classes == 1).all())


def _notes_on(model: TableRecognizer, classes: NDArray[np.str_]) -> list[str]:
    notes = []
    if len(model.classes_) == 1:
        notes.append(
            f"There is only one class, {model.classes_[0]}: rows will be recognised as that or "
            f"called {UNKNOWN}."
        )
    encoded = model.encoded(model.known_table)
    n_duplicates = int(duplicates_across_classes(encoded, model.labels_).sum())
    if n_duplicates:
        notes.append(
            f"{quantity(n_duplicates, 'row')} {plural(n_duplicates, 'has', 'have')} duplicates "
            "with another label; rows like them are ambiguous."
        )
    return notes + (_published_notes(model) if model.is_published_method
                    else _open_set_notes(model, classes))  # fmt: skip


def _published_notes(model: TableRecognizer) -> list[str]:
    limit = model.description_.max_rows_per_class
    counts = pd.Series(model.labels_).value_counts().sort_index()
    if not isinstance(limit, int) or not (counts > limit).any():
        return []
    large = ", ".join(str(name) for name in counts.index[counts > limit])
    return [f"Classes described by only their {limit:,} most informative rows: {large}."]


def _open_set_notes(model: TableRecognizer, classes: NDArray[np.str_]) -> list[str]:
    classifier = model.description_
    assert isinstance(classifier, OpenSetClassifier)
    notes = []
    alone = unjudged_classes(classifier)
    if alone:
        has = "it has" if len(alone) == 1 else "each has"
        what = "one row" if classifier.training_rows.groups is None else "rows of one group"
        notes.append(f"{first_few(alone)} could not be tested, because {has} only {what}.")
    lost = unrecognized_classes(classifier)
    if lost and classifier.class_weight is None:
        notes.append(
            f"No row of {first_few(lost)} was recognised; class_weight='balanced' gives rare "
            "classes more weight."
        )
    n_kept, n_outliers = len(model.labels_), int(classifier.n_outliers_.sum())
    if n_kept + n_outliers < len(classes):
        notes.append(
            f"{n_kept:,} of {len(classes):,} rows were learnt from, spread over the classes; rows "
            "of larger classes are weighted accordingly."
        )
    return notes
