"""Invalid inputs of the readers and estimators of shapes, each with its whole message."""
# ruff: noqa: E501 -- one case, one line

import re

import numpy as np
import pytest

from kernova import InputError
from tests.shapes.drawn_shapes import fish

# A specimen whose features can be read off: a right triangle and a square.
POINTS = np.array([[0, 0], [4, 0], [0, 3], [0, 4], [4, 4], [4, 0], [8, 8]], dtype=float)
SHAPELESS = (
    "Row 2 (counted from 0) has no shape: it shows fewer than 2 landmarks, or all of them "
    "coincide. Leave it out."
)


def spoilt(index, value):
    specimens = fish(4)
    specimens[index] = value
    return specimens


A = "LM=1\n1 2\nID=a\n"
# fmt: off
BAD_TPS = [
    (b"", {}, "bad.tps is empty; a TPS file has a line LM= per specimen."),
    (b"\xef\xbb\xbf \r\n\x1a", {}, "bad.tps is empty; a TPS file has a line LM= per specimen."),
    ("LM=1".encode("utf-16"), {}, "bad.tps is text in UTF-16; save it as UTF-8."),
    (b"LM=1\n1 2\0\n", {}, "bad.tps holds binary data, not text; name a text file."),
    *[(content.encode(), options, message) for content, options, message in [
        ("\nID=a\nLM=1\n1 2\n", {}, "Line 2 of bad.tps: ID= stands before the first LM=; a specimen starts with LM=."),
        ("species,x1,y1\na,1,2\n", {}, "Line 1 of bad.tps: expected a keyword such as LM= or ID=, got 'species,x1,y1'; check how many landmarks or points are announced above."),
        (A + "LM=x\n", {}, "Line 4 of bad.tps (specimen 2): LM= must be followed by a whole number, got 'x'; correct it."),
        ("LM=\n1 2\n", {}, "Line 1 of bad.tps (specimen 1): LM= must be followed by a whole number, got nothing; correct it."),
        ("LM=-1\n", {}, "Line 1 of bad.tps (specimen 1): LM= must be followed by a whole number, got '-1'; correct it."),
        ("LM=2\n1 2\n", {}, "Line 1 of bad.tps (specimen 1): LM=2 announces 2 points, but the file ends after 1; it is cut short."),
        (A + "LM=2\n1 2\nID=b\n", {}, "Line 6 of bad.tps (specimen 2): expected the 2 numbers of point 2 of 2 under LM=, got 'ID=b'; correct it or the number of points."),
        ("LM=1\n1 2\n3 4\nID=a\n", {}, "Line 3 of bad.tps (specimen 1): expected a keyword such as LM= or ID=, got '3 4'; check how many landmarks or points are announced above."),
        ("LM=1\n1\n", {}, "Line 2 of bad.tps (specimen 1): expected the 2 numbers of point 1 of 1 under LM=, got '1'; correct it or the number of points."),
        ("LM=1\n1 2 3\n", {}, "Line 2 of bad.tps (specimen 1): expected the 2 numbers of point 1 of 1 under LM=, got '1 2 3'; correct it or the number of points."),
        ("LM3=1\n1 2\n", {}, "Line 2 of bad.tps (specimen 1): expected the 3 numbers of point 1 of 1 under LM3=, got '1 2'; correct it or the number of points."),
        *[
            (f"LM=1\n{point}\n", {}, f"Line 2 of bad.tps (specimen 1): expected the 2 numbers of point 1 of 1 under LM=, got {point!r}; correct it or the number of points.")
            for point in ("1 2x", "1.5,2.5", "1,234.5 2", "inf 1", "1 1e999", "1_0 2", "٣ 4", "- 1", ". 1", "1.2.3 4")
        ],
        ("LM=1\n" + "9" * 80 + "\n", {}, f"Line 2 of bad.tps (specimen 1): expected the 2 numbers of point 1 of 1 under LM=, got '{'9' * 39}…{'9' * 38}'; correct it or the number of points."),
        ("LM=1\nNA 2\n", {}, "Line 2 of bad.tps (specimen 1): point 1 is half missing: 'NA 2'; write NA for all its coordinates or for none."),
        (A + "ID=b\n", {}, "Line 4 of bad.tps (specimen 1): the specimen has a second ID=; remove it, or add the LM= that is missing above it."),
        (A + "SCLE=3\n1 2\n", {}, "Line 4 of bad.tps (specimen 1): SCLE= is not a keyword of TPS files; use one of LM, LM3, CURVES, OUTLINES, POINTS, IMAGE, ID, SCALE, VARIABLES, COMMENT, or remove it."),
        *[
            (A + f"SCALE={scale}\n", {}, f"Line 4 of bad.tps (specimen 1): SCALE= must be a number above 0 or nothing, got {scale!r}; correct it.")
            for scale in ("0", "-1", "x", "1 2")
        ],
        (A + "POINTS=1\n1 2\n", {}, "Line 4 of bad.tps (specimen 1): POINTS= without CURVES= or OUTLINES= above it; add how many there are."),
        (A + "CURVES=2\nPOINTS=1\n1 2\n", {}, "Line 4 of bad.tps (specimen 1): the file ends before the 2 POINTS= that CURVES= announces; it is cut short."),
        (A + "CURVES=1\nID=b\n", {}, "Line 5 of bad.tps (specimen 1): expected one of the 1 POINTS= that CURVES= announces in line 4, got ID=; correct one of them."),
        (A + "LM=2\n1 2\n3 4\nID=b\n" + A.replace("a", "c"), {}, "Specimen 'b' of bad.tps (line 4) has 2 landmarks, but 'a' (line 1) has 1 landmarks; give all the same landmarks, NA NA for a missing one, or leave the specimen out."),
        (A + "LM=0\nID=b\nCURVES=1\nPOINTS=1\n1 2\n" + A.replace("a", "c"), {}, "Specimen 'b' of bad.tps (line 4) has 0 landmarks, but 'a' (line 1) has 1 landmarks; give all the same landmarks, NA NA for a missing one, or leave the specimen out."),
        ("LM=0\n" + A + A, {}, "Specimens 2 and 3 of bad.tps (lines 2 and 5) have the same ID=a; ids must differ. Rename one, or set ids_from."),
        (A + "LM3=1\n1 2 3\nID=b\n", {}, "Specimen 'b' of bad.tps (line 4) has 1 landmarks in space, but 'a' (line 1) has 1 landmarks; give all the same landmarks, NA NA for a missing one, or leave the specimen out."),
        (A + A, {}, "Specimens 1 and 2 of bad.tps (lines 1 and 4) have the same ID=a; ids must differ. Rename one, or set ids_from."),
        (A + "LM=1\n1 2\n", {}, "Specimen 2 of bad.tps (line 4) has no ID=; give it one, or set ids_from."),
        (A, {"ids_from": "image"}, "Specimen 1 of bad.tps (line 1) has no IMAGE=; give it one, or set ids_from."),
        (A + "SCALE=\n", {"scaled": True}, "1 of 1 specimens of bad.tps have no scale: 'a'; add SCALE= to each, or leave the scales unused."),
        (A, {"negative": "NA"}, "negative is 'NA'; it must be 'values' or 'missing'."),
        (A, {"ids_from": "name"}, "ids_from is 'name'; it must be 'auto', 'id', 'image' or 'number'."),
    ]],
]

BAD_TABLES = [
    ("id,a\nx,1\n", {}, "bad.csv has no columns of coordinates; name them x1, y1, x2, y2 and so on. Its columns are 'id', 'a'."),
    ("id,x1,y1\n", {}, "bad.csv has column names but no rows; add at least one row."),
    ("id,x1,y1,x2\na,1,2,3\n", {}, "bad.csv has no column y2, but landmarks up to 2 with x, y; add it, or rename the columns."),
    ("id,x1,y1,x3,y3\na,1,2,3,4\n", {}, "bad.csv has no column x2, but landmarks up to 3 with x, y; add it, or rename the columns."),
    ("id,x1,y1,z1,x2,y2\na,1,2,3,4,5\n", {}, "bad.csv has no column z2, but landmarks up to 2 with x, y, z; add it, or rename the columns."),
    ("id,x0,y0,x2,y2\na,1,2,3,4\n", {}, "bad.csv has no column x1, but landmarks up to 2 with x, y; add it, or rename the columns."),
    ("id,x1,X_1,y1\na,1,2,3\n", {}, "Columns 'x1' and 'X_1' of bad.csv are both the x of landmark 1; rename one."),
    ("id,x1,y1,id\na,1,2,3\n", {}, "bad.csv has two columns named 'id'; rename one."),
    ("id,x1,y1\na,1,2\nb,1,oops\n", {}, "Row 2 of bad.csv (specimen 'b') has 'oops' in column 'y1', which is not a coordinate; correct it."),
    ("id,x1,y1\na,1,2\nb,1,inf\n", {}, "Row 2 of bad.csv (specimen 'b') has 'inf' in column 'y1', which is not a coordinate; correct it."),
    ("id,x1,y1\na,1,2\nb,1,\n", {}, "Row 2 of bad.csv (specimen 'b') has only some of the columns 'x1', 'y1' of landmark 1; fill in all of them or none."),
    ("id,x1,y1\na,1,2\na,1,3\n", {}, "Rows 1 and 2 of bad.csv have the same id 'a' in column 'id'; ids must differ."),
    ("id,x1,y1\na,1,2\n ,1,3\n", {}, "Row 2 of bad.csv has no id in column 'id'; give it one."),
    ("id,x1,y1\na,1,2\n", {"id_column": "fish"}, "bad.csv has no column 'fish' to use as id column. Its columns are 'id', 'x1', 'y1'."),
    ("id,x1,y1\na,1,2\n", {"negative": "NA"}, "negative is 'NA'; it must be 'values' or 'missing'."),
]

BAD_GROUPS = [
    ("id,g\na,1\nc,2\n", {"group_column": "g"}, "1 of 2 specimens are not in column 'id' of bad.csv: 'b'. Its first id is 'a'; ids must be the same text."),
    ("fish,g\n1,1\n2,2\n", {"group_column": "g"}, "2 of 2 specimens are not in column 'fish' of bad.csv: 'a', 'b'. Its first id is '1'; ids must be the same text."),
    ("id,g\na,1\nb,\n", {"group_column": "g"}, "1 of 2 specimens have no entry in column 'g' of bad.csv: 'b'; give them a group, or leave them out."),
    ("id,g\na,1\nb,2\na,3\n", {"group_column": "g"}, "bad.csv puts specimen 'a' into both '1' and '3'; keep one of the rows."),
    ("id,g\na,1\nb,2\n", {"group_column": "h"}, "bad.csv has no column 'h' to use as group column. Its columns are 'id', 'g'."),
    ("id,g\na,1\nb,2\n", {"group_column": "g", "id_column": "h"}, "bad.csv has no column 'h' to use as id column. Its columns are 'id', 'g'."),
    ("id,g\n,\n,\n", {"group_column": "g"}, "2 of 2 specimens are not in column 'id' of bad.csv: 'a', 'b'. It has no ids; ids must be the same text."),
]

ENDLESS_PATTERN = "The pattern '(a+)+$' takes more than 5 s, since its repeats can share a text in too many ways; keep a repeat from giving letters back, as in 'a++', or give a table of groups."

BAD_PATTERNS = [
    ("(", "The pattern '(' is not a regular expression: missing ), unterminated subpattern at position 0; correct it."),
    ("a", "The pattern 'a' has 0 parts in parentheses; put the group in parentheses, as in '_(.+)_', and mark any others by (?:...)."),
    ("(a)(b)", "The pattern '(a)(b)' has 2 parts in parentheses; put the group in parentheses, as in '_(.+)_', and mark any others by (?:...)."),
    (r"_(\d*)", r"The pattern '_(\\d*)' finds no group in 2 of 3 texts: 'b', 'c_'; widen it, or leave these specimens out."),
]

BAD_LANDMARKS = [
    ({"ids": ("a", "a"), "coordinates": np.zeros((2, 1, 2))}, "Two specimens have the same id 'a'; ids must differ and not be empty."),
    ({"ids": ("",)}, "A specimen has no id; ids must differ and not be empty."),
    ({"coordinates": np.zeros((1, 4))}, "Landmarks have 1 ids and coordinates of shape (1, 4); the shape must be specimens × landmarks × 2 (or 3), one specimen per id."),
    ({"coordinates": [[[0, 1], [np.nan, 2]]]}, "Landmark 2 of specimen 'a' is infinite or half missing: [nan, 2.0]; correct it, or make all its coordinates NaN."),
    ({"coordinates": [[[0, np.inf]]]}, "Landmark 1 of specimen 'a' is infinite or half missing: [0.0, inf]; correct it, or make all its coordinates NaN."),
    ({"scales": [0.0]}, "Landmarks of 1 specimens have the scales [0.0]; give one number above 0 per specimen, NaN where it is not known."),
    ({"images": ("p", "q")}, "Landmarks have 1 ids, but 2 images; give one per specimen."),
    ({"curves": ([np.zeros((2, 3))],)}, "A curve of specimen 'a' has shape (2, 3) or a point that is infinite or half missing; give points × 2 numbers."),
]

BAD_SPECIMENS = [
    ({}, spoilt(2, 7.0), SHAPELESS),
    ({}, spoilt((2, slice(1, None)), np.nan), SHAPELESS),
    (
        {},
        spoilt((slice(None), 4), np.nan),
        "Landmark 5 is missing in every training specimen. Leave it out.",
    ),
    (
        {},
        np.ones((3, 5)),
        "Rows of 5 columns are not two or more landmarks of 2 coordinates each "
        "(n_features=5). Give rows [x1 y1 x2 y2 ...], or another number of dimensions.",
    ),
    ({"dimensions": 3}, fish(4), "The landmarks have 2 coordinates each; dimensions is 3."),
    (
        {"dimensions": 0},
        fish(4),
        "dimensions must be a whole number of at least 1; got 0.",
    ),
    ({"max_iter": 2.5}, fish(4), "max_iter must be a whole number of at least 1; got 2.5."),
    ({"tolerance": 0}, fish(4), "The tolerance must lie between 0 and 1; got 0."),
    ({"missing": "fill"}, fish(4), "missing is 'fill'; choose one of estimate, raise."),
]

BROKEN_FORMULAS = [  # a formula, where it breaks off, why
    ("|1-2", "at its end", "expected '|'"),
    ("|1 2|", "at '2|'", "expected '-'"),
    ("|1-|", "at '|'", "expected the number of a landmark, from 1"),
    ("|0-1|", "at '0-1|'", "expected the number of a landmark, from 1"),
    ("|1-1.5|", "at '1.5|'", "expected the number of a landmark, from 1"),
    ("|1-999999999|", "at '999999999|'", "expected the number of a landmark, from 1"),
    ("|3-3|", "at '3-3|'", "the two landmarks must differ"),
    ("|1-2| |3-4|", "at '|3-4|'", "expected one of + - * / or the end"),
    ("|1-2| / ", "at its end", "expected |1-2|, angle(...), area(...), a number or ("),
    ("(|1-2|", "at its end", "expected ')'"),
    ("-|1-2|", "at '-|1-2|'", "expected |1-2|, angle(...), area(...), a number or ("),
    ("angle 1-2", "at '1-2'", "expected '('"),
    ("angle(1-2)", "at ')'", "expected ','"),
    ("angle(1-2, upwards)", "at 'upwards)'", "expected a direction such as 1-2, vertical or horizontal"),
    ("angle(1, 2)", "at '1, 2)'", "expected exactly 3 landmarks"),
    ("angle(1, 2, 1)", "at '1, 2, 1)'", "the landmarks must differ"),
    ("angle(1, 2-3)", "at '-3)'", "expected ')'"),
    ("angle(vertical, horizontal)", "at 'angle(vertical, horizontal)'", "it needs no landmark, so it is the same for every specimen"),
    ("area(1, 2)", "at '1, 2)'", "expected at least 3 landmarks"),
    ("area(1, 2, 2)", "at '1, 2, 2)'", "the landmarks must differ"),
    ("|1-2| + area(1, 2, 3)", "at 'area(1, 2, 3)'", "a length and an area cannot be added"),
    ("|1-2| - 3", "at '3'", "a length and a number without unit cannot be subtracted"),
    ("1 / |1-2| + 3", "at '3'", "a length to the power -1 and a number without unit cannot be added"),
    ("|1-2| ** 2", "at '* 2'", "expected |1-2|, angle(...), area(...), a number or ("),
    ("|1-2| ^ 2", "at '^ 2'", "unexpected '^'"),
    ("__import__('os')", "at \"'os')\"", "unexpected \"'\""),
    ("sqrt(|1-2|)", "at 'sqrt(|1-2|)'", "expected |1-2|, angle(...), area(...), a number or ("),
    ("3", "at '3'", "it needs no landmark, so it is the same for every specimen"),
]

BAD_FEATURE_FILES = [
    ("f.txt", "", "f.txt holds no features; write one per line, as in slenderness = |4-11| / |13-7|."),
    ("f.toml", "# nothing\n", "f.toml holds no features; write one per line, as in slenderness = |4-11| / |13-7|."),
    ("f.txt", "a = |1-2|\n|1-2|\n", "Line 2 of f.txt is '|1-2|'; write a feature as slenderness = |4-11| / |13-7|."),
    ("f.txt", "a = # later\n", "Line 1 of f.txt is 'a ='; write a feature as slenderness = |4-11| / |13-7|."),
    ("f.txt", "a = |1-2|\nb = |1-2|\na = |1-3|\n", "Feature 'a' (line 3 of f.txt) has the name of another, in line 1; rename one."),
    ("f.toml", "a = '|1-2|'\nb = |1-2|\n", "f.toml cannot be read as TOML: Invalid value (at line 2, column 5); correct it."),
    ("f.toml", "a = '|1-2|'\na = '|1-3|'\n", "f.toml cannot be read as TOML: Cannot overwrite a value (at line 2, column 12); correct it."),
    ("f.toml", "a = '|1-2|'\nb = 3\n", "Feature 'b' (line 2 of f.toml) is 3; a formula is a text in quotation marks."),
    ("f.toml", "features = 3\n", "f.toml has features = 3; make it a table, [features]."),
    ("f.toml", "b = 1\n[features]\na = '|1-2|'\n", "f.toml has 'b' beside its table features; keep only that table."),
    ("f.toml", "\n\na = '|1-2'\n", "Feature 'a' (line 3 of f.toml) cannot be read at its end: expected '|'. Its formula is '|1-2'."),
]

UNMEASURABLE = [
    ({"a": "|1-8|"}, POINTS[None], "Feature 'a' (the features) needs landmark 8, but the specimens have 7; correct the formula, or digitise the landmark."),
    ({"fine": "|1-2|", "a": "|1-3|"}, np.where(np.arange(7)[:, None] == 2, np.nan, POINTS)[None], "Feature 'a' (the features) needs landmark 3, which specimen 'fish 1' lacks; estimate missing landmarks first, or leave the specimen out."),
    ({"a": "|1-3| / |2-6|"}, POINTS[None], "Feature 'a' (the features) cannot be measured on specimen 'fish 1': it divides by |2-6|, which is 0. Correct the specimen or the formula, or leave one of them out."),
    ({"a": "angle(2-6, vertical)"}, POINTS[None], "Feature 'a' (the features) cannot be measured on specimen 'fish 1': landmarks 2 and 6 coincide and have no direction. Correct the specimen or the formula, or leave one of them out."),
    ({"a": "area(1, 2, 3)"}, POINTS[None] * 1e200, "Feature 'a' (the features) cannot be measured on specimen 'fish 1': it is too large for a number. Correct the specimen or the formula, or leave one of them out."),
    ({"a": "|1-2|"}, POINTS, "Coordinates have the shape (7, 2); shape features are measured on specimens × landmarks × 2 (or 3)."),
    ({"a": "|1-2|"}, np.stack([POINTS, POINTS]), "There are 1 ids for 2 specimens."),
]
# fmt: on


def error(message):
    """Expect an InputError with exactly this message."""
    return pytest.raises(InputError, match=f"^{re.escape(message)}$")
