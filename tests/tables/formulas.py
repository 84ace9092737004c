"""Texts that a spreadsheet would run as formulas, and a literal check of written files."""

import csv
import io
import re

NAMES = ['=HYPERLINK("http://x","y")', "+1", "-2+3", "@SUM(A1)", "\t=1", "carp;=1", "'=1", "eel"]
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")


def is_formula(cell):
    """Return whether a spreadsheet may run a cell: by a loop, not by the expression of the code."""
    kept = cell
    while kept and (kept[0].isspace() or kept[0] in '"\u200b\ufeff\0' or ord(kept[0]) < 32):
        kept = kept[1:]
    first = re.split(r"[;\t\r\n]", kept)[0].strip(" ")
    return kept[:1] in tuple("=+-@＝＋－＠") and not NUMBER.fullmatch(first)


def cells_of(path):
    """Return all cells of a CSV or TSV file, column names included."""
    separator = "\t" if path.suffix == ".tsv" else ","
    text = io.StringIO(path.read_bytes().decode(), newline="")
    return list(csv.reader(text, delimiter=separator, strict=True))
