"""Folders and JSON files that commands leave behind."""

import json
from pathlib import Path
from typing import Any


def made_folder(path: Path) -> Path:
    """Give the folder, made if need be; if that cannot be, say why."""
    from kernova.errors import InputError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"Cannot make the folder {path}: {reason}. Name another.") from error
    return path


def save_json(answer: dict[str, Any], path: Path) -> None:
    """Write an answer for programs; the file is either whole or not there."""
    from kernova.files import replacing

    with replacing(path) as scratch:
        scratch.write_text(json.dumps(answer, indent=2, allow_nan=False) + "\n")
