"""Tables of pictures, and tables with embeddings, for commands that take tables.

A folder or ZIP archive of pictures is described as in :mod:`kernova.media.picture_folders`, and a
file of embeddings takes the place of a table's columns. Both leave their components in the
``reader`` of the table, by which other files are read alike. The packages for media are imported
only when there are any.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from kernova.audio.columns import SoundColumns
from kernova.errors import InputError, quoted
from kernova.files import is_folder
from kernova.images.columns import PictureColumns
from kernova.kernels.components import WideRows
from kernova.shapes import groups_from_pattern
from kernova.tables.columns import decoded
from kernova.tables.embeddings import EmbeddingColumns, finite_rows, read_embeddings
from kernova.tables.formats import read_raw
from kernova.tables.table import Table
from kernova.text import listed
from kernova.workflows.settings import missing_when_reading

if TYPE_CHECKING:
    from kernova.media.row_media import DiscoveryData

NOTHING: Final[Mapping[str, object]] = {}
MediaColumns: Final = (PictureColumns, EmbeddingColumns)


@dataclass(frozen=True)
class HowCompared:
    """What the user says about rows that are not compared by columns of their own."""

    embeddings: str | os.PathLike[str] | None = None  # a file of vectors for the rows
    rotation_invariant: bool = False  # of pictures: it does not matter how they are turned


BY_COLUMNS: Final = HowCompared()


@dataclass(frozen=True)
class MediaRoles:
    """What the user says about the rows of a file, and the columns of other files about them."""

    id_column: str | None = None
    label_column: str | None = None
    group_column: str | None = None
    drop: Sequence[str] = ()
    labels: str | os.PathLike[str] | None = None  # a table of labels by id or file
    id_pattern: str | None = None
    missing: str = "auto"
    may_lack_labels: bool = False  # whether the label column need not be there

    @property
    def has_labels_beside(self) -> bool:
        """Whether labels do not come from the file itself."""
        return self.labels is not None or self.id_pattern is not None


def is_media(path: object, how: HowCompared = BY_COLUMNS) -> bool:
    """Return whether a file is read here: a folder or archive, or any file with embeddings.

    Raise if something is said about pictures and the file holds none.

    Examples
    --------
    >>> from kernova.workflows.media.reading import HowCompared, is_media
    >>> is_media("fish.csv"), is_media("fish.zip"), is_media("fish.csv", HowCompared("clip.npy"))
    (False, True, True)
    """
    if not isinstance(path, str | os.PathLike):
        return False
    is_archive = os.fspath(path).lower().endswith(".zip")
    found = how.embeddings is not None or is_archive or is_folder(Path(path))
    if how.rotation_invariant and not found:
        raise InputError(
            "rotation_invariant=True is for a folder or ZIP archive of pictures without a table. "
            f"Leave it out for {os.fspath(path)}."
        )
    return found


def read_media(
    path: str | os.PathLike[str],
    how: HowCompared,
    roles: MediaRoles,
    reader: object | None = None,
    others: Mapping[str, object] = NOTHING,
    *,
    cache: Path | None = None,
    learn_with: WideRows | None = None,
) -> Table:
    """Read pictures, recordings, or a table with embeddings, as a table of features.

    Parameters
    ----------
    path : str or path
        A folder or ZIP archive of pictures, a folder of recordings, or a table with embeddings.
    how : HowCompared
        What rows are compared by.
    roles : MediaRoles
        Ids, labels and groups.
    reader : PictureColumns or EmbeddingColumns, optional
        The components of a known table.
    cache, learn_with
        As for :func:`~kernova.media.opening.open_discovery_data`.
    others : mapping of str to object
        Parameters that have a meaning for other files only; an error is raised if one is given.
    """
    source = os.fspath(path)
    useless = [name for name, value in others.items() if value]
    if useless:
        raise InputError(
            f"`{useless[0]}` has no meaning for {source}, whose rows are compared by "
            f"{'embeddings' if how.embeddings is not None else 'what they look or sound like'}. "
            "Leave it out."
        )
    opened = _opened(source, how, roles, reader=reader, cache=cache, learn_with=learn_with)
    try:
        table = replace(opened.table, notes=(*opened.table.notes, *opened.notes))
        if roles.has_labels_beside:
            table = replace(table, labels=_labels_beside(table, opened, roles))
        if roles.group_column is not None:
            table = replace(table, groups=_column(opened, roles.group_column, table))
    finally:
        opened.media.close()
    return table


class MediaPair(NamedTuple):
    """Known and new rows by the same components."""

    known: Table
    new: Table


def read_media_pair(
    known: str | os.PathLike[str],
    new: str | os.PathLike[str],
    how: HowCompared,
    new_embeddings: str | os.PathLike[str] | None,
    roles: tuple[MediaRoles, MediaRoles],
    others: Mapping[str, object] = NOTHING,
) -> MediaPair:
    """Read known and new rows by components that are learnt from both together.

    Components of known rows alone would leave out the directions in which new ones differ. Neither
    known nor new rows have an advantage by having been learnt from, since all have.

    Parameters
    ----------
    known, new : str or path
        Folders or archives of pictures or recordings, or tables with embeddings.
    how : HowCompared
        What rows are compared by.
    new_embeddings : str or path, optional
        The embeddings of the new rows, if they are in another file.
    roles : pair of MediaRoles
        Of the known and the new rows.
    others : mapping of str to object
        Parameters that have a meaning for other files only.
    """
    new_how = replace(how, embeddings=new_embeddings or how.embeddings, rotation_invariant=False)
    if how.embeddings is None and not (is_media(known) and is_media(new)):
        raise InputError(
            f"{os.fspath(known)} and {os.fspath(new)} must both be folders or ZIP archives of "
            "pictures, or both tables. Name two such."
        )
    with TemporaryDirectory() as folder:
        cache = Path(folder) / "new.descriptors"
        more = _to_learn_with(os.fspath(known), os.fspath(new), how, new_how, cache)
        known_table = read_media(known, how, roles[0], None, others, learn_with=more)
        reader = known_table.reader
        return MediaPair(known_table, read_media(new, new_how, roles[1], reader, cache=cache))


def _to_learn_with(
    known: str, new: str, how: HowCompared, new_how: HowCompared, cache: Path
) -> WideRows | None:
    """Return the descriptors or vectors of the new rows; None for recordings."""
    if new_how.embeddings is not None:
        return finite_rows(read_embeddings(new_how.embeddings).vectors)
    from kernova.media.picture_folders import descriptors_like, pictures_in

    pictures = pictures_in(known)
    if pictures is not None and pictures.names:
        found = descriptors_like(new, known, cache, rotation_invariant=how.rotation_invariant)
        return np.asarray(found.rows[~np.isnan(found.rows[:, 0])], dtype=np.float64)
    return None


def read_new_media(
    path: str | os.PathLike[str],
    how: HowCompared,
    roles: MediaRoles,
    reader: object | None,
    others: Mapping[str, object] = NOTHING,
) -> Table | None:
    """Read new rows for a model of pictures or embeddings; None for a model of anything else.

    Parameters
    ----------
    path, how, roles
        As for :func:`read_media`.
    reader : object or None
        The reader of the model.
    others : mapping of str to object
        Parameters that have a meaning for other models only.

    Raises
    ------
    InputError
        If the rows are not of the kind that the model was learnt from.
    """
    source = os.fspath(path)
    is_folder_like = is_media(path)
    if isinstance(reader, EmbeddingColumns):
        if how.embeddings is None:
            raise InputError(
                f"The model was learnt from embeddings of {reader.n_numbers:,} numbers; name those "
                f"of the rows of {source} with `embeddings`."
            )
        return read_media(path, how, roles, reader, others)
    if how.embeddings is not None:
        raise InputError(
            "The model was not learnt from embeddings, so that it cannot judge by them. Leave out "
            "`embeddings`, or learn the model again with them."
        )
    if isinstance(reader, PictureColumns):
        if not is_folder_like:
            raise InputError(
                f"The model was learnt from pictures, but {source} is not a folder or ZIP archive "
                "of them. Name one."
            )
        return read_media(path, how, roles, reader, others)
    if is_folder_like and not isinstance(reader, SoundColumns):
        raise InputError(
            f"{source} is a folder or an archive, but the model was learnt from a table. Name a "
            "table like it."
        )
    return None


def _opened(source: str, how: HowCompared, roles: MediaRoles, **options: Any) -> "DiscoveryData":
    try:
        from kernova.media.opening import open_discovery_data
    except ModuleNotFoundError as error:
        raise InputError(
            f"Pictures need {error.name}, which is not installed: pip install 'kernova[web]'."
        ) from error
    label = None if roles.has_labels_beside else roles.label_column
    if label is not None and roles.may_lack_labels and not _has_column(source, label):
        label = None
    # With labels beside, the id column is one of that file.
    own_id = None if roles.labels is not None else roles.id_column
    return open_discovery_data(
        source,
        id_column=own_id,
        label_column=label,
        drop=roles.drop,
        missing=missing_when_reading(roles.missing),
        reading="auto",
        embeddings=how.embeddings,
        rotation_invariant=how.rotation_invariant,
        **options,
    )


def _has_column(source: str, name: str) -> bool:
    return is_media(source) or name in read_raw(source).columns.column_names


def _column(opened: "DiscoveryData", name: str, table: Table) -> "pd.Series[Any] | None":
    names = opened.context.names
    if name not in names:
        if name in table.columns and table.labels is not None and table.labels.name == name:
            return table.labels
        raise InputError(
            f"{table.source} has no column {quoted(name)} to use as group column. Its other "
            f"columns are {listed(names)}."
        )
    values = opened.context.column(name).to_pylist()
    return pd.Series(values, index=table.ids.index, name=name, dtype=object)


# --- labels from other files ---------------------------------------------------------------------


def _labels_beside(table: Table, opened: "DiscoveryData", roles: MediaRoles) -> "pd.Series[Any]":
    """Return labels from a table by id or file, or from a part of the ids."""
    ids = table.ids.tolist()
    if roles.id_pattern is not None:
        if roles.labels is not None or roles.label_column is not None:
            raise InputError(
                "Labels come either from a column or from a pattern in the ids. Use `id_pattern` "
                "without `labels` and `label_column`, or leave it out."
            )
        found: Sequence[Any] = groups_from_pattern(roles.id_pattern, ids)
        return pd.Series(found, index=table.ids.index, name="label", dtype=object)
    values = _looked_up(opened, ids, table.source, roles)
    return pd.Series(values, index=table.ids.index, name=roles.label_column, dtype=object)


def _looked_up(
    opened: "DiscoveryData", ids: list[str], source: str, roles: MediaRoles
) -> list[Any]:
    """Look up the label of each row in a table by id or file; None where there is none."""
    from kernova.media.keys import NO_ENTRY, best_match, no_match

    assert roles.labels is not None
    path, name = os.fspath(roles.labels), roles.label_column
    columns = read_raw(path, roles.id_column, codes=True).columns
    if name is None:
        raise InputError(
            f"The column of labels in {path} is not named; set label_column. Its columns are "
            f"{listed(columns.column_names)}."
        )
    for wanted, role in ((name, "label"), (roles.id_column, "id")):
        if wanted is not None and wanted not in columns.column_names:
            raise InputError(
                f"{path} has no column {quoted(wanted)} to use as {role} column. Its columns are "
                f"{listed(columns.column_names)}."
            )
    of_keys = [one for one in columns.column_names if one != name]
    of_keys = of_keys if roles.id_column is None else [roles.id_column]
    keys = {one: _texts(columns, one) for one in of_keys}
    rows: list[Sequence[str | None]] = [ids]
    if "file" in opened.context.names:
        rows.append(opened.context.column("file").to_pylist())
    match = best_match(keys, rows, path)
    if match is None:
        raise no_match(keys, ids, "entry", path, source)
    labels = columns[name].to_pylist()
    return [None if place == NO_ENTRY else labels[place] for place in match.places.tolist()]


def _texts(columns: pa.Table, name: str) -> list[str]:
    values = decoded(columns[name]).to_pylist()
    return ["" if value is None else str(value).strip() for value in values]
