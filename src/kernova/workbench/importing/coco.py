"""COCO-like JSON: pictures, categories under supercategories, and annotations."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from kernova.errors import InputError
from kernova.workbench.importing.lines import LabelLine, checked_line


def is_coco(content: Any) -> bool:
    """Return whether parsed JSON has the parts of a COCO file.

    Examples
    --------
    >>> from kernova.workbench.importing.coco import is_coco
    >>> is_coco({"images": [], "annotations": [], "categories": []}), is_coco([])
    (True, False)
    """
    parts = ("images", "annotations", "categories")
    return isinstance(content, dict) and all(isinstance(content.get(one), list) for one in parts)


def read_coco(content: dict[str, Any]) -> Iterator[LabelLine]:
    """Yield the annotations of pictures, which are found by their row's id or their file name."""
    try:
        images = {image["id"]: image for image in content["images"]}
        categories = {one["id"]: one for one in content["categories"]}
        for image in images.values():
            facts = image.get("attributes") or {}
            if facts:
                yield checked_line(_names(image), _values(facts))
        for annotation in content["annotations"]:
            category = categories[annotation["category_id"]]
            values = _values(annotation.get("attributes") or {})
            values |= {"category": category["name"], "heading": category.get("supercategory")}
            yield checked_line(_names(images[annotation["image_id"]]), values)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "The file has images, annotations and categories as COCO has, but they do not belong "
            "together: an id is missing. Export it again."
        ) from error


def _names(image: dict[str, Any]) -> tuple[str, ...]:
    path = PurePosixPath(str(image["file_name"]))
    own = [str(image["row_id"])] if "row_id" in image else []
    return (*own, str(path), path.name, path.stem)


def _values(facts: dict[str, Any]) -> dict[str, Any]:
    return {**facts, "tags": facts.get("further_labels") or ()}
