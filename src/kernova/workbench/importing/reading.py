"""Reading of a file of labels in any known format."""

import json
from collections.abc import Mapping
from itertools import islice

from kernova.errors import InputError
from kernova.workbench.importing.coco import is_coco, read_coco
from kernova.workbench.importing.label_studio import is_label_studio, read_tasks
from kernova.workbench.importing.lines import LabelFile, check_size
from kernova.workbench.importing.specimens import read_specimen_labels
from kernova.workbench.importing.tables import TABLE_ENDINGS, read_label_table

_MOST_LINES = 1_000_000


def read_label_file(
    name: str,
    content: bytes,
    rows: Mapping[str, int],
    id_column: str | None = None,
    category_column: str | None = None,
) -> LabelFile:
    """Read a file of labels; its ending determines the format.

    Parameters
    ----------
    name : str
        Name of the file: a table (``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.arrow``), tasks of
        Label Studio or COCO (``.json``), or specimens (``.tps``).
    content : bytes
        The file.
    rows : mapping of str to int
        The row of each id of the project.
    id_column, category_column : str, optional
        Columns of a table; by default they are found.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, or holds no labels.

    Examples
    --------
    >>> from kernova.workbench.importing.reading import read_label_file
    >>> task = b'[{"data": {"image": "photos/carp7.jpg"}, "annotations": [{"result": '
    >>> task += b'[{"from_name": "kind", "value": {"choices": ["carp"]}}], "completed_by": 5}]}]'
    >>> line = read_label_file("tasks.json", task, {"carp7": 0}).lines[0]
    >>> line.category, line.expert, "carp7" in line.ids
    ('carp', 'annotator 5', True)
    """
    check_size(content, name)
    lower = name.lower()
    if lower.endswith(".json"):
        return _read_json(name, content)
    if lower.endswith(".tps"):
        return LabelFile(name, list(read_specimen_labels(name, content)))
    if lower.endswith(TABLE_ENDINGS):
        return read_label_table(name, content, rows, id_column, category_column)
    raise InputError(
        f"The ending of {name} is not that of a file of labels; use "
        f"{', '.join((*TABLE_ENDINGS, '.json'))} or .tps."
    )


def _read_json(name: str, content: bytes) -> LabelFile:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON; it is damaged, or another kind of file.") from error
    if is_label_studio(parsed):
        return LabelFile(name, list(islice(read_tasks(parsed), _MOST_LINES)))
    if is_coco(parsed):
        return LabelFile(name, list(islice(read_coco(parsed), _MOST_LINES)))
    raise InputError(
        f"{name} holds neither tasks of Label Studio nor COCO annotations. Export it in one of "
        "these formats, or as a table."
    )
