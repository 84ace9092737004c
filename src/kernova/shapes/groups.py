"""Groups of specimens, from a table by id or from a part of their ids."""

import os
import re
from collections.abc import Sequence

from kernova.errors import InputError
from kernova.shapes.wide_tables import check_column, id_column_in, ids_of
from kernova.tables.formats import read_raw
from kernova.text import listed


def groups_from_table(
    path: str | os.PathLike[str],
    ids: Sequence[str],
    *,
    group_column: str,
    id_column: str | None = None,
) -> tuple[str, ...]:
    r"""Look up the group of each specimen in a table.

    Ids and groups are text, exactly as written except for outer blanks: ``007`` is not ``7``. The
    table may have further rows and columns.

    Parameters
    ----------
    path : str or path
        The file, in any format of :func:`kernova.read_table`.
    ids : sequence of str
        The specimens.
    group_column : str
        The column of groups.
    id_column : str, optional
        The column of specimen ids. By default the one named ``id``, or else the first column.

    Returns
    -------
    tuple of str
        One group per specimen.

    Raises
    ------
    InputError
        If specimens are not in the table, have no group there, or have two.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes import groups_from_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "groups.csv"
    >>> _ = path.write_text("id,tribe\n007,Ectodini\n008,Tropheini\n")
    >>> groups_from_table(path, ["008", "007"], group_column="tribe")
    ('Tropheini', 'Ectodini')
    """
    source = os.fspath(path)
    id_column = id_column_in(source, id_column)
    check_column(group_column, read_raw(source).columns.column_names, "group", source)
    # Only the column that is asked for by name stays text as written, so the file is read twice.
    rows = ids_of(read_raw(source, id_column).columns, id_column)
    groups = ids_of(read_raw(source, group_column).columns, group_column)
    group_of = _one_group_each(rows, groups, source)
    absent = [name for name in ids if name not in group_of]
    if absent:
        first = f"Its first id is {next(iter(group_of))!r}" if group_of else "It has no ids"
        raise InputError(
            f"{len(absent)} of {len(ids)} specimens are not in column {id_column!r} of {source}: "
            f"{listed(absent)}. {first}; ids must be the same text."
        )
    without = [name for name in ids if not group_of[name]]
    if without:
        raise InputError(
            f"{len(without)} of {len(ids)} specimens have no entry in column {group_column!r} of "
            f"{source}: {listed(without)}; give them a group, or leave them out."
        )
    return tuple(group_of[name] for name in ids)


def groups_from_pattern(pattern: str, texts: Sequence[str]) -> tuple[str, ...]:
    r"""Return the group of each specimen, taken from its id or its image's name.

    Parameters
    ----------
    pattern : str
        A regular expression with one part in parentheses, the group; it may match anywhere in
        the text.
    texts : sequence of str
        The ids, or the images.

    Returns
    -------
    tuple of str
        One group per text.

    Raises
    ------
    InputError
        If the pattern is not such an expression or some texts do not match it.

    Examples
    --------
    >>> from kernova.shapes import groups_from_pattern
    >>> groups_from_pattern("_(sxt|ltr)_", ["035_EXP_sxt_M.JPG", "138_SHL_ltr_H.JPG"])
    ('sxt', 'ltr')
    """
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            f"The pattern {pattern!r} is not a regular expression: {error}; correct it."
        ) from error
    if expression.groups != 1:
        raise InputError(
            f"The pattern {pattern!r} has {expression.groups} parts in parentheses; put the group "
            "in parentheses, as in '_(.+)_', and mark any others by (?:...)."
        )
    found = [expression.search(text) for text in texts]
    groups = [match[1] if match and match[1] else "" for match in found]
    unmatched = [text for text, group in zip(texts, groups, strict=True) if not group]
    if unmatched:
        raise InputError(
            f"The pattern {pattern!r} finds no group in {len(unmatched)} of {len(texts)} texts: "
            f"{listed(unmatched)}; widen it, or leave these specimens out."
        )
    return tuple(groups)


def _one_group_each(rows: Sequence[str], groups: Sequence[str], source: str) -> dict[str, str]:
    group_of: dict[str, str] = {}
    for name, group in zip(rows, groups, strict=True):
        # Spreadsheets leave empty rows below the last one.
        if name and group_of.setdefault(name, group) != group:
            raise InputError(
                f"{source} puts specimen {name!r} into both {group_of[name]!r} and {group!r}; "
                "keep one of the rows."
            )
    return group_of
