"""Writing landmarks for other programs: TPS, NTS, NEXUS, and wide tables."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from kernova.errors import InputError, quoted
from kernova.files import check_ending, replacing
from kernova.shapes.formats.nts import write_nts
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.tps import write_tps
from kernova.tables.formats import save_table

WRITTEN = (".tps", ".nts", ".nex", ".csv", ".tsv")
_AXES = "xyz"


def write_landmarks(
    path: str | os.PathLike[str], landmarks: Landmarks, groups: Sequence[str] | None = None
) -> None:
    r"""Write landmarks in the format of the suffix: .tps, .nts, .nex, .csv or .tsv.

    Parameters
    ----------
    path : str or path
        The file to write, atomically.
    landmarks : Landmarks
        Specimens, as digitised or aligned.
    groups : sequence of str, optional
        One group per specimen: the variable ``group`` in a TPS file, a column ``group`` in a
        table, and sets of taxa in a NEXUS file. NTS files have no place for them.

    Notes
    -----
    A NEXUS file has a DATA block with one continuous character per coordinate, for specimens
    aligned before. A table can be read by :func:`~kernova.shapes.read_landmarks`, as can TPS and
    NTS files.

    Raises
    ------
    InputError
        If the suffix is another one, groups and specimens differ in number, or the file cannot be
        written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks, write_landmarks
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.csv"
    >>> fish = Landmarks(("a",), np.array([[[0.0, 0.0], [0.5, 2.0]]]))
    >>> write_landmarks(path, fish, groups=["carp"])
    >>> path.read_text()
    'id,group,x1,y1,x2,y2\na,carp,0.0,0.0,0.5,2.0\n'
    """
    check_ending(path, WRITTEN, "landmarks")
    if groups is not None and len(groups) != len(landmarks):
        raise InputError(
            f"There are {len(groups)} groups for {len(landmarks)} specimens; give one for each."
        )
    suffix = Path(path).suffix.lower()
    if suffix == ".tps":
        write_tps(landmarks if groups is None else _with_group(landmarks, groups), path)
    elif suffix == ".nts":
        write_nts(landmarks, path)
    elif suffix == ".nex":
        with replacing(path) as scratch:
            scratch.write_bytes(nexus_text(landmarks, groups).encode("utf-8"))
    else:
        save_table(wide_table(landmarks, groups), path)


def wide_table(landmarks: Landmarks, groups: Sequence[str] | None = None) -> pd.DataFrame:
    """Table with a row per specimen and columns id, group, x1, y1, x2, y2 and so on."""
    columns: dict[str, object] = {"id": list(landmarks.ids)}
    if groups is not None:
        columns["group"] = list(groups)
    rows = landmarks.coordinates.reshape(len(landmarks), -1)
    for position, name in enumerate(coordinate_names(landmarks)):
        columns[name] = rows[:, position]
    return pd.DataFrame(columns)


def coordinate_names(landmarks: Landmarks) -> list[str]:
    """Names x1, y1 (and z1), x2 and so on, in the order of the coordinates."""
    axes = _AXES[: landmarks.n_dimensions]
    return [f"{axis}{number}" for number in range(1, landmarks.n_landmarks + 1) for axis in axes]


def nexus_text(landmarks: Landmarks, groups: Sequence[str] | None = None) -> str:
    """Text of a NEXUS file with a matrix of continuous characters, and groups as sets of taxa.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks
    >>> from kernova.shapes.formats.writing import nexus_text
    >>> print(nexus_text(Landmarks(("a 1",), np.array([[[0.0, 0.5]]]))), end="")
    #NEXUS
    BEGIN DATA;
      DIMENSIONS NTAX=1 NCHAR=2;
      FORMAT DATATYPE=CONTINUOUS MISSING=?;
      CHARSTATELABELS 1 x1, 2 y1;
      MATRIX
        'a 1' 0.0 0.5
      ;
    END;
    """
    rows = landmarks.coordinates.reshape(len(landmarks), -1)
    labels = ", ".join(f"{k} {name}" for k, name in enumerate(coordinate_names(landmarks), 1))
    lines = [
        "#NEXUS",
        "BEGIN DATA;",
        f"  DIMENSIONS NTAX={len(rows)} NCHAR={rows.shape[1]};",
        "  FORMAT DATATYPE=CONTINUOUS MISSING=?;",
        f"  CHARSTATELABELS {labels};",
        "  MATRIX",
    ]
    for name, row in zip(landmarks.ids, rows.tolist(), strict=True):
        values = " ".join("?" if np.isnan(value) else repr(value) for value in row)
        lines.append(f"    {_nexus_word(name)} {values}")
    lines += ["  ;", "END;", *([] if groups is None else _taxon_sets(groups))]
    return "".join(f"{line}\n" for line in lines)


def _taxon_sets(groups: Sequence[str]) -> list[str]:
    lines = ["BEGIN SETS;"]
    for group in dict.fromkeys(groups):
        members = " ".join(str(k) for k, name in enumerate(groups, 1) if name == group)
        lines.append(f"  TAXSET {_nexus_word(group)} = {members};")
    return [*lines, "END;"]


def _nexus_word(name: str) -> str:
    """Return a name as one token; quotation marks protect all but letters and digits."""
    if re.search("[\0\r\n\ud800-\udfff]", name):
        raise InputError(
            f"The name {quoted(name)} cannot stand on one line of a NEXUS file; remove line ends "
            "and damaged characters."
        )
    # A number would be taken for the position of a taxon, an underscore for a blank.
    is_plain = re.fullmatch("[A-Za-z][A-Za-z0-9.]*", name) is not None
    escaped = name.replace("'", "''")
    return name if is_plain else f"'{escaped}'"


def _with_group(landmarks: Landmarks, groups: Sequence[str]) -> Landmarks:
    """Return landmarks whose variables name the group, and no other one."""
    variables = []
    for text, group in zip(landmarks.variables, groups, strict=True):
        kept = re.split(r"[,;](?=[^,;=]*=)", text)
        others = [part.strip() for part in kept if not re.match(r"\s*group\s*=", part)]
        variables.append(", ".join([*filter(None, others), f"group={group}"]))
    return replace(landmarks, variables=tuple(variables))
