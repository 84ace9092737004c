"""TPS file of specimens with their categories: coordinates as they were read, groups added.

The category is a variable of the specimen (``VARIABLES=category=…``), as programs for shapes and
``kernova species`` read groups; what does not fit there stands in comments.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from kernova.errors import InputError
from kernova.files import scratch_folder
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.tps import read_tps, write_tps
from kernova.workbench.exports.labels import joined
from kernova.workbench.exports.snapshot import Snapshot

_IN_VARIABLES: Final = ("category", "heading", "status", "expert", "confidence", "flagged")
_IN_COMMENTS: Final = ("time", "probability", "further_labels", "note")
# At these, a reader of TPS files would begin another variable.
_SEPARATING: Final = re.compile(r"(?<!\s)\s*[,;=]\s*")


def tps_reason_against(snapshot: Snapshot) -> str | None:
    """Return why there is no TPS file of a project; None if there is one."""
    is_there = snapshot.media.landmarks is not None or _is_tps(snapshot.source)
    return None if is_there else "TPS needs specimens with landmarks."


def tps_text(snapshot: Snapshot) -> bytes:
    """Return all specimens, with their labels and remarks."""
    landmarks = snapshot.media.landmarks or read_tps(snapshot.source)
    rows = _rows_of(snapshot, landmarks)
    facts = [_facts(snapshot, row) for row in rows]
    with_groups = replace(
        landmarks,
        variables=tuple(map(_variables, landmarks.variables, facts)),
        comments=tuple(map(_comments, landmarks.comments, facts)),
    )
    with scratch_folder() as folder:
        path = folder / "specimens.tps"
        write_tps(with_groups, path)
        return path.read_bytes()


def _is_tps(source: str) -> bool:
    return source.lower().endswith(".tps") and os.path.exists(source)  # noqa: PTH110


def _rows_of(snapshot: Snapshot, landmarks: Landmarks) -> list[int]:
    """Return the row of each specimen."""
    places = {str(one): row for row, one in enumerate(snapshot.ids)}
    missing = [one for one in landmarks.ids if one not in places]
    if missing:
        raise InputError(
            f"{snapshot.source} has a specimen {missing[0]!r} now that the project does not have. "
            "Restore the file that the project was started with."
        )
    return [places[one] for one in landmarks.ids]


def _facts(snapshot: Snapshot, row: int) -> dict[str, Any]:
    label = snapshot.labels[row]
    named = {} if label is None else {"category": label}
    heading = snapshot.headings.get(label or "")
    under = {} if heading is None else {"heading": heading}
    return {**named, **under, **snapshot.facts_of(row)}


def _variables(before: str, facts: dict[str, Any]) -> str:
    added = [f"{name}={_plain(facts[name])}" for name in _IN_VARIABLES if name in facts]
    return ", ".join([before, *added] if before else added)


def _comments(before: Iterable[str], facts: dict[str, Any]) -> tuple[str, ...]:
    # A name that is changed among the variables stands here as it is.
    changed = [name for name in _IN_VARIABLES if name in facts and _is_changed(facts[name])]
    names = [*changed, *(name for name in _IN_COMMENTS if name in facts)]
    return (*before, *(f"{name}: {_line(facts[name])}" for name in names))


def _is_changed(value: Any) -> bool:
    return isinstance(value, str) and _plain(value) != value


def _plain(value: Any) -> str:
    return "yes" if value is True else _SEPARATING.sub(" ", str(value)).strip()


def _line(value: Any) -> str:
    text = joined(value) if isinstance(value, list) else str(value)
    return " ".join(text.split())
