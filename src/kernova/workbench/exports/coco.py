"""COCO-like JSON: pictures with their sizes, categories under their headings, and labels.

Labels are of whole pictures, so that every annotation has the whole picture as its bounding box:
programs that train classifiers or detectors read it without special treatment.
"""

import json
from typing import Any

from kernova._version import __version__
from kernova.workbench.exports.snapshot import Snapshot


def coco_reason_against(snapshot: Snapshot) -> str | None:
    """Return why there is no COCO file of a project; None if there is one."""
    if snapshot.media.kind != "picture":
        return "COCO needs pictures of the rows."
    if not any(snapshot.media.file_name(row) for row in range(snapshot.n_rows)):
        return "COCO needs picture files; these pictures are drawn from the table."
    return None


def coco_json(snapshot: Snapshot) -> bytes:
    """Return all pictures, the categories, and one annotation for each labelled picture."""
    names = snapshot.categories
    codes = {name: code for code, name in enumerate(names, start=1)}
    images = _images(snapshot)
    labelled = [(image, row) for image, row in images if snapshot.labels[row] is not None]
    content = {
        "info": {
            "description": f"Labels of {snapshot.source or 'a table'}; each is of a whole picture.",
            "version": "1.0",
            "year": int(snapshot.made_at[:4]),
            "contributor": f"kernova {__version__}",
            "date_created": snapshot.made_at,
        },
        "licenses": [],
        "images": [image for image, _ in images],
        "categories": [
            {"id": code, "name": name, "supercategory": snapshot.headings.get(name, "")}
            for name, code in codes.items()
        ],
        "annotations": [
            _annotation(number, image, codes[snapshot.labels[row]], snapshot.facts_of(row))
            for number, (image, row) in enumerate(labelled, start=1)
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


def _images(snapshot: Snapshot) -> list[tuple[dict[str, Any], int]]:
    """Return every picture file that can be read, with its row."""
    found = []
    for row in range(snapshot.n_rows):
        name, size = snapshot.media.file_name(row), snapshot.media.picture_size(row)
        if name is not None and size is not None:
            width, height = size
            image: dict[str, Any] = {
                "id": row + 1, "file_name": name, "width": width, "height": height,
                "row_id": str(snapshot.ids[row]),
            }  # fmt: skip
            if snapshot.labels[row] is None and (facts := snapshot.facts_of(row)):
                image["attributes"] = facts
            found.append((image, row))
    return found


def _annotation(
    number: int, image: dict[str, Any], category: int, facts: dict[str, Any]
) -> dict[str, Any]:
    width, height = image["width"], image["height"]
    score = {"score": facts["probability"]} if "probability" in facts else {}
    return {
        "id": number,
        "image_id": image["id"],
        "category_id": category,
        "bbox": [0, 0, width, height],
        "area": width * height,
        "segmentation": [],
        "iscrowd": 0,
        **score,
        "attributes": facts,
    }
