"""A TPS reader by another road: every line of numbers belongs to the keyword above it."""

import math
import re

import numpy as np


def literal_records(content):  # noqa: C901 -- one plain walk is easier to trust
    """Give one dictionary per specimen, or None if anything does not fit what is announced."""
    blocks = _blocks(_text(content))
    if not blocks or blocks[0][0] not in ("LM", "LM3"):
        return None
    records = []
    for keyword, value, points in blocks:
        if keyword in ("LM", "LM3"):
            records.append({"columns": 3 if keyword == "LM3" else 2, "COMMENT": []})
        record = records[-1]
        if keyword in ("LM", "LM3", "POINTS"):
            if not value.isdigit() or int(value) != len(points):
                return None
            if any(len(point) != record["columns"] for point in points):
                return None
        elif points:
            return None
        if keyword == "COMMENT":
            record["COMMENT"].append(value)
        elif keyword == "POINTS":
            if not record.get("owed"):
                return None
            record["owed"] -= 1
            record[record["line"]].append(points)
        else:
            if record.get("owed") or (keyword in record and keyword != "VARIABLES"):
                return None
            if keyword == "VARIABLES" and record.get(keyword):
                value = f"{record[keyword]}, {value}" if value else record[keyword]
            record[keyword] = points if keyword.startswith("LM") else value
            if keyword in ("CURVES", "OUTLINES"):
                if not value.isdigit():
                    return None
                record |= {"owed": int(value), "line": keyword, keyword: []}
    whole = not any(record.get("owed") for record in records)
    return records if whole else None


def digitised(records):
    """Leave out records without any point, unless there are no others."""
    kinds = ("LM", "LM3", "CURVES", "OUTLINES")
    whole = [record for record in records if any(record.get(kind) for kind in kinds)]
    return whole or records


def _text(content):
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            pass
    return content.decode("latin-1")


def _blocks(text):
    blocks = []
    for line in re.split("\r\n|\r|\n", text):
        if "=" in line:
            keyword, _, value = line.partition("=")
            blocks.append((keyword.strip().upper(), value.strip(), []))
        elif line.strip():
            if not blocks:
                return None
            blocks[-1][2].append([_number(word) for word in line.split()])
    return blocks


def _number(word):
    try:
        return math.nan if word.upper() == "NA" else float(word.replace(",", "."))
    except ValueError:
        return word


def compare_with_literal(landmarks, records):
    """Check that landmarks are what the records say."""
    assert records is not None
    numbers = {id(record): str(k) for k, record in enumerate(records, 1)}
    records = digitised(records)
    assert len(landmarks) == len(records)
    for k, record in enumerate(records):
        points = record.get("LM", record.get("LM3"))
        expected = np.array(points, dtype=float).reshape(len(points), record["columns"])
        assert landmarks.coordinates[k].shape == expected.shape
        assert np.array_equal(landmarks.coordinates[k], expected, equal_nan=True)
        scale = float(record.get("SCALE", "").replace(",", ".") or "nan")
        assert np.array_equal(landmarks.scales[k], scale, equal_nan=True)
        assert landmarks.images[k] == record.get("IMAGE", "")
        assert landmarks.variables[k] == record.get("VARIABLES", "")
        assert landmarks.comments[k] == tuple(record["COMMENT"])
        assert landmarks.ids[k] in (record.get("ID"), record.get("IMAGE"), numbers[id(record)])
        for name, lines in (("CURVES", landmarks.curves[k]), ("OUTLINES", landmarks.outlines[k])):
            assert [points.tolist() for points in lines] == record.get(name, [])
