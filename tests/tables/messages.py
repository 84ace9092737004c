"""Messages of this package, and files that cause them: name, content, arguments, message."""
# ruff: noqa: E501 -- one case, one line

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse


def encoded(write, *arguments, **keywords):
    stream = io.BytesIO()
    write(stream, *arguments, **keywords)
    return stream.getvalue()


def parquet(**columns):
    return encoded(
        lambda stream: pa.parquet.write_table(pa.table(columns), stream, compression="none")
    )


def arrow_codes(values):
    """Return an Arrow file with codes ``a`` of the given values, and numbers ``b``."""
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), values)
    rows = pa.table({"a": codes, "b": [1.0, 2.0, 3.0]})

    def write(stream):
        with pa.ipc.new_file(stream, rows.schema) as writer:
            writer.write_table(rows)

    return encoded(write)


def units(number, unit, other):
    """Return text with a column of numbers of this unit, in which the third is another text."""
    cells = [f"{number + i} {unit}".strip() for i in range(6)]
    cells[2] = other
    return ("a,b\n" + "\n".join(f"{cell},{i}" for i, cell in enumerate(cells)) + "\n").encode()


NOT_KNOWN = "which is not a known table format; save the table as one of .csv, .csv.gz, .tsv, .tsv.gz, .txt, .parquet, .arrow, .feather, .npy, .npz."
CODES_OF_LISTS = arrow_codes(pa.array([[1.0], [2.0, 3.0]]))
CODES_OF_VIEWS = arrow_codes(pa.array(["f", "m"], pa.string_view()))
CODED_LISTS = "Column 'a' of v.arrow holds dictionary<values=list<item: double>, indices=int64, ordered=0> values"
CODED_VIEWS = CODED_LISTS.replace("list<item: double>", "string_view")
LONG_STRUCT = [{f"field_{j}": 1.0 for j in range(60)}]
SHORT_STRUCT = "struct<field_0: double, field_1: double, field_2: double, field_3: double, field_4: double, field_5:…: double, field_55: double, field_56: double, field_57: double, field_58: double, field_59: double>"
ROWS = "\n".join(f"n{i},{i}" for i in range(60))
DAMAGED = "it is damaged, cut short, or another kind of file."
RUBBISH = bytes(range(200, 100, -1)) * 4
MISSING_VALUES = (
    "holes.csv has missing values, counted by column: 'a' 2, 'b' 2, 'c' 1. Fill them in, drop such "
    "rows with missing='drop', or keep them with missing='keep'."
)
NO_TEXT = "odd.npz has {} that are not text; save them as UTF-8."
NO_FILE = "There is no file {}; check its name and folder."
FOLDER = "parts.parquet is a folder; name a file in it."
UNREADABLE = "{} cannot be read: Permission denied. Make it readable, or name another file."
WRONG_ORDER = (
    "The feature names should match those that were passed during fit.\n"
    "Feature names must be in the same order as they were in fit.\n"
    "align_columns(table, encoder.feature_names_in_) sorts columns and names those that are missing "
    "or extra."
)
OTHER_COLUMNS = (
    "The columns of the new table are not those of the known one: {}. Give both tables the same "
    "columns."
)
# A strict reading takes such values as categories, or rejects them by another sentence.
AUTO = {"reading": "auto"}
# fmt: off
BAD_FILES = [
    # the file itself
    ("sheet.xlsx", b"PK", {}, "sheet.xlsx ends in .xlsx, which is not a known table format; save the table as one of .csv, .csv.gz, .tsv, .tsv.gz, .txt, .parquet, .arrow, .feather, .npy, .npz."),
    ("table", b"a\n1\n", {}, "table has no extension, which is not a known table format; save the table as one of .csv, .csv.gz, .tsv, .tsv.gz, .txt, .parquet, .arrow, .feather, .npy, .npz."),
    *[
        (f"e.{ending}", b"", {}, f"e.{ending} is empty; a table needs column names and at least one row.")
        for ending in ("csv", "tsv.gz", "parquet", "arrow", "npy", "npz")
    ],
    ("e.csv", b"\xef\xbb\xbf\n \n", {}, "e.csv is empty; a table needs column names and at least one row."),
    ("e.csv.gz", gzip.compress(b"", mtime=0), {}, "e.csv.gz is empty; a table needs column names and at least one row."),
    ("h.csv", b"a,b\n", {}, "h.csv has column names but no rows; add at least one row."),
    ("h.csv", b"a,b", {}, "h.csv has column names but no rows; add at least one row."),
    ("h.parquet", parquet(a=pa.array([], "f8")), {}, "h.parquet has column names but no rows; add at least one row."),
    ("h.npy", encoded(np.save, np.empty((0, 2))), {}, "h.npy has column names but no rows; add at least one row."),
    ("c.npy", encoded(np.save, np.empty((2, 0))), {}, "c.npy has no columns; a table needs at least one feature."),
    ("r.csv.gz", b"a,b\n1,2\n", {}, f"r.csv.gz cannot be read as gzip; {DAMAGED}"),
    ("r.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], {}, f"r.csv.gz cannot be read as gzip; {DAMAGED}"),
    *[
        (f"r.{ending}", content, {}, f"r.{ending} cannot be read as {kind}; {DAMAGED}")
        for ending, kind in [("parquet", "Parquet"), ("arrow", "Arrow"), ("feather", "Arrow"), ("npy", "NPY"), ("npz", "NPZ")]
        for content in (RUBBISH, b"a,b\n1,2\n")
    ],
    ("r.parquet", parquet(a=["female", "male"]).replace(b"female", b"f\xffmale"), {}, f"r.parquet cannot be read as Parquet; {DAMAGED}"),
    ("r.npy", encoded(np.savez, np.ones((2, 2))), {}, f"r.npy cannot be read as NPY; {DAMAGED}"),
    ("r.npz", encoded(np.save, np.ones((2, 2))), {}, f"r.npz cannot be read as NPZ; {DAMAGED}"),
    # text
    ("r.csv", RUBBISH, {}, "r.csv is not UTF-8 text: line 1 holds the byte 0xc8; save it as UTF-8."),
    ("r.csv", parquet(a=[1.0]), {}, "r.csv holds binary data, not text; save the table as text, or give the file the extension of its format."),
    ("g.csv", b"a,b\n1,2\n\n3,4,5\n", {}, "Row 2 of g.csv has 3 fields where the header has 2; correct it."),
    ("g.csv", b"a,b\n1,2\n3\n", {}, "Row 2 of g.csv has 1 fields where the header has 2; correct it."),
    ("q.csv", b'a,b\n1,x\n2,"y\n3,z\n', {}, "Row 2 of q.csv opens a quotation mark that is never closed; close it or remove it."),
    ("q.csv", b'a,"b\n1,x\n', {}, "q.csv cannot be read as separated text; a line is too long, or a quotation mark is never closed."),
    ("n.csv", b"5.1,3.5,1.4\n4.9,3.0,1.4\n", {}, "n.csv has numbers where column names are expected; add a header line above its first row."),
    # arrays
    ("o.npy", encoded(np.save, np.array([[{}]]), allow_pickle=True), {}, "o.npy holds Python objects, which are not read because they can run code; save numbers or plain text."),
    ("o.npz", encoded(np.savez, X=np.ones((1, 1)), ids=np.array(["a"], dtype=object)), {}, "o.npz holds Python objects, which are not read because they can run code; save numbers or plain text."),
    ("d.npy", encoded(np.save, np.ones(3)), {}, "d.npy holds an array of shape (3,); a table needs two dimensions, rows and columns."),
    ("s.npy", encoded(np.save, np.array([["a"]])), {}, "s.npy holds values of type <U1; save numbers."),
    ("c.npy", encoded(np.save, np.ones((1, 1), complex)), {}, "c.npy holds values of type complex128; save numbers."),
    ("m.npz", encoded(np.savez, a=np.ones((1, 1)), b=np.ones((1, 1))), {}, "m.npz holds the arrays a, b; save the table of features under the name X."),
    ("m.npz", encoded(np.savez, y=np.ones(1)), {}, "m.npz holds no array of features; save the table of features under the name X."),
    ("m.npz", encoded(np.savez, X=np.ones((2, 3)), feature_names=["a"]), {}, "m.npz has 1 feature names for 3 columns; give one name per column."),
    ("m.npz", encoded(np.savez, X=np.ones((2, 3)), y=np.ones(3)), {}, "m.npz has y of shape (3,) and type float64 for 2 rows; save one number or text per row."),
    # columns
    ("k.csv", b"species,b\nx,2\n", {"label_column": "speces"}, "k.csv has no column 'speces' to use as label column. Did you mean 'species'? Its columns are 'species', 'b'."),
    ("k.csv", b"species,b\nx,2\n", {"id_column": "fish"}, "k.csv has no column 'fish' to use as id column. Its columns are 'species', 'b'."),
    ("k.csv", (",".join(f"c{i}" for i in range(22)) + "\n" + "1," * 21 + "1\n").encode(), {"drop": ["zzz"]}, "k.csv has no column 'zzz' to drop. Its columns are " + ", ".join(f"'c{i}'" for i in range(20)) + ", and 2 more."),
    ("k.csv", b"a,b\n1,2\n", {"id_column": "a", "label_column": "a"}, "Column 'a' of k.csv cannot be both id and label; choose one."),
    ("k.csv", b"a,b\n1,2\n", {"label_column": "a", "drop": ["a"]}, "Column 'a' of k.csv cannot be both label and dropped; choose one."),
    ("k.csv", b"a,b\n1,2\n", {"id_column": "a", "drop": ["b"]}, "k.csv has no feature columns left: all of 'a', 'b' are ids, labels or dropped."),
    ("k.csv", b"a,b\n1,2\n", {"missing": "fill"}, "missing is 'fill'; it must be 'refuse', 'drop', 'keep' or 'auto'."),
    # ids
    ("i.csv", b"id,b\n07,2\n7,3\n07,4\n", {"id_column": "id"}, "Rows 1 and 3 of i.csv have the same id '07' in column 'id'; ids must differ."),
    ("i.csv", b"id,b\nx,2\n ,3\n", {"id_column": "id"}, "Row 2 of i.csv has no id in column 'id'; give it one."),
    ("i.parquet", parquet(id=[1, None], b=[1, 2]), {"id_column": "id"}, "Row 2 of i.parquet has no id in column 'id'; give it one."),
    ("i.parquet", parquet(id=[[1], [2]], b=[1, 2]), {"id_column": "id"}, "Column 'id' of i.parquet holds list<element: int64> values, which cannot be ids."),
    # values
    ("v.csv", b"a,b\n1,2\n3,inf\n", {}, "Column 'b' of v.csv holds an infinite number in row 2; correct it or drop the column."),
    ("v.csv", b"a,b\n1,2\n3,-Infinity\n", {"missing": "keep"}, "Column 'b' of v.csv holds an infinite number in row 2; correct it or drop the column."),
    ("v.npy", encoded(np.save, np.array([[1.0, np.inf]])), {}, "Column 'x1' of v.npy holds an infinite number in row 1; correct it or drop the column."),
    ("v.csv", b"a\n1\n2\noops\nNA\n4\n", {}, "Column 'a' of v.csv is a column of numbers, but row 3 holds 'oops'; correct it or drop the column."),
    ("v.csv", b"a,b\n1,x\n2,3\n", {}, "Column 'b' of v.csv is a column of numbers, but row 1 holds 'x'; correct it or drop the column."),
    ("v.parquet", parquet(a=["1", None, "inf"]), {}, "Column 'a' of v.parquet is a column of numbers, but row 3 holds 'inf'; correct it or drop the column."),
    ("v.parquet", parquet(a=["2024-02-29", "soon"]), AUTO, "Column 'a' of v.parquet is a column of dates or times, but row 2 holds 'soon'; correct it or drop the column."),
    ("v.parquet", parquet(a=[[1.0, 2.0]]), {}, "Column 'a' of v.parquet holds list<element: double> values; features are numbers or text. Drop it or turn it into numbers."),
    ("v.arrow", CODES_OF_LISTS, {}, f"{CODED_LISTS}; features are numbers or text. Drop it or turn it into numbers."),
    ("v.arrow", CODES_OF_VIEWS, {}, f"{CODED_VIEWS}; features are numbers or text. Drop it or turn it into numbers."),
    ("v.arrow", CODES_OF_VIEWS, {"id_column": "a"}, f"{CODED_VIEWS}, which cannot be ids."),
    ("v.arrow", CODES_OF_VIEWS, {"label_column": "a"}, f"{CODED_VIEWS}, which cannot be labels."),
    ("v.parquet", parquet(a=LONG_STRUCT), {}, f"Column 'a' of v.parquet holds {SHORT_STRUCT} values; features are numbers or text. Drop it or turn it into numbers."),
    ("v.csv", b"a,b\n1,2\n", {"reading": "loose"}, "reading is 'loose'; it must be 'auto' or 'strict'."),
    ("v.csv", b"a,b\n1,2\n", {"keep": "c"}, "v.csv has no column 'c' to keep. Its columns are 'a', 'b'."),
    ("v.csv", f"name\n{ROWS}\n".replace(",", "").encode(), AUTO, "v.csv has no column that can be a feature: 'name' (60 different texts in 60 rows). To use one all the same, pass keep='name'."),
    # tables as people keep them
    ("j.jsonl", b'{"a": 1}\n', {}, f"j.jsonl ends in .jsonl, {NOT_KNOWN}"),
    ("j.csv", b'[{"a": 1}, {"a": 2}]\n', {}, "j.csv holds JSON, not separated text; save the table as CSV."),
    ("j.csv", b'{"a": 1}\n{"a": 2}\n', {}, "j.csv holds JSON, not separated text; save the table as CSV."),
    ("w.csv", b"<html><table><tr><td>1</td></tr></table>\n", {}, "w.csv holds HTML or XML, not separated text; save the table as CSV."),
    ("z.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), {}, "z.csv holds binary data, not text; save the table as text, or give the file the extension of its format."),
    ("v.csv", units(70.1, "kg", "heavy"), AUTO, "Column 'a' of v.csv is a column of numbers, but row 3 holds 'heavy'; correct it or drop the column."),
    ("v.csv", units(7, "%", "high"), AUTO, "Column 'a' of v.csv is a column of numbers, but row 3 holds 'high'; correct it or drop the column."),
    ("v.csv", units(7, "", "<0.05"), {}, "Column 'a' of v.csv is a column of numbers, but row 3 holds '<0.05'; correct it or drop the column."),
    ("v.csv", b"a,b\n" + b"1,2\n2,3\n" * 150 + b"see note,4\n", {}, "Column 'a' of v.csv is a column of numbers, but row 301 holds 'see note'; correct it or drop the column."),
    ("v.csv", b"a,b\n31.12.2024,1\n30.12.2024,1\n2024-12-29,2\n", AUTO, "Column 'a' of v.csv writes dates or times in different forms: '31.12.2024' in row 1, '2024-12-29' in row 3; use one form, such as 2024-12-31, or drop the column."),
    ("v.csv", b"a,b\n2024-02-29,1\n2024-02-30,1\n2024-02-28,2\n", AUTO, "Column 'a' of v.csv is a column of dates or times, but row 2 holds '2024-02-30'; correct it or drop the column."),
    ("v.csv", b"a,b\n1 kg,u1\n2 lb,u2\n3 kg,u3\n".replace(b",u", b",w") + b"".join(b"4 lb,w%d\n" % i for i in range(9, 30)), AUTO, "v.csv has no column that can be a feature: 'a' (mixes the units lb, kg), 'b' (24 different texts in 24 rows). To use one all the same, pass keep='a'."),
    ("v.parquet", parquet(a=[b"x", b"y"]), {}, "Column 'a' of v.parquet holds binary values; features are numbers or text. Drop it or turn it into numbers."),
    ("v.parquet", parquet(a=pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))), {}, "Column 'a' of v.parquet holds map<string, int64 ('a')> values; features are numbers or text. Drop it or turn it into numbers."),
    ("r.npy", encoded(np.save, np.zeros(3, [("a", "f8"), ("b", "i4")])), {}, "r.npy holds records with the fields a, b; save them as one array of numbers, or the table as Parquet."),
    ("t.npy", encoded(np.save, np.zeros((3, 2), "M8[D]")), {}, "t.npy holds values of type datetime64[D]; save numbers."),
    *[
        ("s.npz", encoded(scipy.sparse.save_npz, scipy.sparse.eye(6, format=kind)), {}, f"s.npz holds a sparse matrix in the format {kind}; convert it to one of csr, csc, coo with asformat.")
        for kind in ("bsr", "dia")
    ],
    # what a strict reading rejects
    ("d.csv", b"a,b,a\n1,2,3\n", {"reading": "strict"}, "d.csv has two columns named 'a'; rename one."),
    ("u.csv", b",b\nx,2\ny,3\n", {"reading": "strict"}, "u.csv has no name for column 1; name it in the header line."),
    ("v.csv", b"a;b\n1,5;2\n2,5;3\n", {"reading": "strict"}, "Column 'a' of v.csv is a column of numbers, but row 1 holds '1,5'; correct it or drop the column."),
    *[
        ("v.csv", f"a,b\n{day},2\n{day},3\n".encode(), {"reading": "strict"}, "Column 'a' of v.csv holds dates or times; drop it or turn it into numbers.")
        for day in ("2024-02-29", "2024-02-29T10:30:00Z", "29/02/2024", "02/29/2024", "29.02.2024", "10:30")
    ],
    ("v.parquet", parquet(a=pa.array([0], pa.timestamp("s"))), {"reading": "strict"}, "Column 'a' of v.parquet holds dates or times; drop it or turn it into numbers."),
    ("v.csv", f"name,b\n{ROWS}\n".encode(), {"reading": "strict"}, "Column 'name' of v.csv looks like an id: 60 different texts in 60 rows. Name it as id_column or drop it."),
    ("v.csv", b"a,b\n1,\n,2\n", {"missing": "drop"}, "Every row of v.csv has a missing value, so none is left once they are dropped; missing values, counted by column: 'a' 1, 'b' 1."),
]
# fmt: on

# Tables in memory, and why they cannot be used.
BAD_OBJECTS = {
    "rows of different lengths": (
        [[1, 2], [3]],
        "the table has rows of different lengths; give each row as many values.",
    ),
    "a series": (
        pd.Series([1, 2]),
        "A table is a file, a data frame of pandas, Arrow or polars, or a matrix; got a Series.",
    ),
    "a dictionary": (
        {"a": [1]},
        "A table is a file, a data frame of pandas, Arrow or polars, or a matrix; got a dict.",
    ),
    "one dimension": (
        np.zeros(5),
        "the table holds an array of shape (5,); a table needs two dimensions, rows and columns.",
    ),
    "one sparse dimension": (
        scipy.sparse.coo_array(np.ones(5)),
        "the table holds an array of shape (5,); a table needs two dimensions, rows and columns.",
    ),
    "complex sparse numbers": (
        scipy.sparse.csr_matrix(np.eye(5) * 1j),
        "the table holds values of type complex128; save numbers.",
    ),
    "lists": (
        pd.DataFrame({"a": [[1, 2], [3, 4]]}),
        "Column 'a' of the table holds list<item: int64> values; features are numbers or text. Drop it or turn it into numbers.",
    ),
    "no rows": (
        pd.DataFrame({"a": []}),
        "the table has column names but no rows; add at least one row.",
    ),
    "infinity": (
        pd.DataFrame({"a": [1.0, np.inf]}),
        "Column 'a' of the table holds an infinite number in row 2; correct it or drop the column.",
    ),
}

# Sentences of notes: a column of texts "a", and what is said about it.
IDS = "Columns of the table that are not used as features: {}. To use one all the same, pass keep='a'."
NUMBERS = "Texts of the table were read as numbers: 'a' {}."
WRITTEN = "Texts of the table that begin with numbers are used as categories, which are equal or different: 'a' ({}). To compare them as numbers, write these alone."
CODES = "Digits of the table with zeros before them are codes, used as categories: 'a' ({})."
CAPITALS = "Categories of the table that differ in capitals only count as different: 'a' ({})."
RISING = "Whole numbers of the table that rise from row to row are used as features: 'a'. If they number the rows, drop them."
DATES = "Column 'a' of the table holds {}; used as 'a ({})'."
MISSING_WORDS = "Texts of the table were read as missing values: 'a' ({})."
NO_BETTER = "the table has no better features, so these columns are used: {}."

# New rows that are not like known ones in column "a".
OTHER_UNIT = (
    "Column 'a' of new.csv has the unit {}, but the known rows have {}; convert one of them."
)
NO_UNIT = "Column 'a' of new.csv has no unit; its numbers were taken to be in kg, the unit of the known rows."
CONVERTED = "Column 'a' of new.csv was converted from g to kg, the unit of the known rows."
OTHER_MARK = "Column 'a' of new.csv was read with decimal commas, unlike the known rows."
OTHER_KIND = "Column 'a' of new.csv holds dates or times of another kind than the known rows; correct it or drop the column."
OTHER_ORDER = "Column 'a' of new.csv has dates of the form %m/%d/%Y, but those of the known rows were read as %d/%m/%Y; write all as year-month-day, such as 2024-12-31."
NO_DATES = "Column 'a' of new.csv holds numbers, but the known rows have dates or times there; correct it or drop the column."
NOT_SUCH = (
    "Column 'a' of new.csv is a column of {}, but row 2 holds {}; correct it or drop the column."
)
