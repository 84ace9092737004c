"""TPS files with categories: variables and comments of the specimens."""

from collections.abc import Iterator
from typing import Final

from kernova.errors import InputError
from kernova.files import scratch_folder
from kernova.shapes.tps import read_tps, variables_of
from kernova.workbench.exports.labels import separated
from kernova.workbench.importing.lines import LabelLine, checked_line

_KNOWN: Final = (
    "category", "heading", "status", "expert", "confidence", "probability", "note",
    "further_labels",
)  # fmt: skip


def read_specimen_labels(name: str, content: bytes) -> Iterator[LabelLine]:
    """Yield the category of each specimen, as our exports write it."""
    with scratch_folder() as folder:
        path = folder / "labels.tps"
        path.write_bytes(content)
        try:
            landmarks = read_tps(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from error
    variables = variables_of(landmarks)
    if variables is None or "category" not in variables:
        raise InputError(
            f"{name} has no variable called category. Write VARIABLES=category=… for each specimen."
        )
    for place, one in enumerate(landmarks.ids):
        values = dict(variables.iloc[place])
        # What does not fit among the variables stands in a comment.
        for comment in landmarks.comments[place]:
            key, colon, text = comment.partition(": ")
            if colon and key in _KNOWN:
                values[key] = text
        values["tags"] = separated(values.get("further_labels") or "")
        yield checked_line((one,), values)
