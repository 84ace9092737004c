"""Label Studio's JSON: tasks with annotations, its own exports and ours."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from kernova.workbench.exports.label_studio import FLAG, FLAGGED, FURTHER
from kernova.workbench.importing.lines import LabelLine, checked_line

_MOST_NAMES: Final = 20


def is_label_studio(content: Any) -> bool:
    """Return whether parsed JSON is a list of tasks.

    Examples
    --------
    >>> from kernova.workbench.importing.label_studio import is_label_studio
    >>> is_label_studio([{"data": {"id": "a"}}]), is_label_studio({"images": []})
    (True, False)
    """
    return isinstance(content, list) and all(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in content
    )


def read_tasks(tasks: list[dict[str, Any]]) -> Iterator[LabelLine]:
    """Yield the annotations of tasks; cancelled ones and predictions are left out.

    The row is found by ``id`` in the data of a task or, in projects from elsewhere, by the name of
    its file.
    """
    for task in tasks:
        ids = _names(task["data"])
        meta = _fields(task.get("meta"))
        annotations = [
            one
            for one in _items(task.get("annotations"))
            if not one.get("was_cancelled") and _items(one.get("result"))
        ]
        for place, one in enumerate(annotations, start=1):
            values = _values(one)
            values["is_standing"] = place == len(annotations)
            values["heading"] = meta.get("heading") if values["is_standing"] else None
            yield checked_line(ids, values)
        if meta.get("status") == "unsure":
            yield checked_line(ids, {"status": "unsure"})


def _names(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what may be the id of a task's row: its id, or the name of its file."""
    found = [] if data.get("id") is None else [str(data["id"])]
    for value in list(data.values())[:_MOST_NAMES]:
        if isinstance(value, str) and len(value) <= 1000:
            path = PurePosixPath(value.partition("?d=")[2] or value.partition("?")[0])
            found += [str(path), path.name, path.stem]
    return tuple(dict.fromkeys(found))


def _values(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the results of an annotation say of the row as a whole."""
    values: dict[str, Any] = {"tags": [], "expert": _expert(annotation.get("completed_by"))}
    for result in _items(annotation.get("result")):
        value, name = _fields(result.get("value")), result.get("from_name")
        choices = [one for one in _texts(value.get("choices"))]
        if name == FLAG:
            values["flagged"] = "yes" if FLAGGED in choices else None
        elif name == FURTHER:
            values["tags"] += choices
        elif choices:
            first, *others = choices
            values.setdefault("category", first)
            values["tags"] += others if values["category"] == first else choices
            values |= _origin(_fields(result.get("meta")))
        elif _texts(value.get("text")):
            values["note"] = "\n".join(_texts(value.get("text")))
    return values


def _origin(meta: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        name: meta[name]
        for name in ("expert", "status", "probability", "confidence")
        if name in meta
    }
    return {**kept, "is_settled": meta.get("settled") is True}


def _expert(completed_by: Any) -> str | None:
    """Return the name of an annotator as Label Studio writes it: a number, or a user."""
    if isinstance(completed_by, dict):
        named = completed_by.get("email") or completed_by.get("username") or completed_by.get("id")
        return _expert(named)
    if isinstance(completed_by, int):
        return f"annotator {completed_by}"
    return completed_by if isinstance(completed_by, str) and completed_by.strip() else None


def _items(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    several = value if isinstance(value, list) else [value]
    return [one for one in several if isinstance(one, str) and one.strip()]
