"""Cells that a spreadsheet would run: marked in every written CSV, and restored exactly."""

import re
import time

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.tables.formats import save_table
from kernova.tables.spreadsheets import original_cells, original_text, safe_cells, safe_text
from tests.tables.formulas import cells_of, is_formula

# Texts of the pieces that rules are about, far more often than drawn characters would give them.
PIECES = st.sampled_from(
    ["=", "+", "-", "@", "\t", "\r", "\n", ";", ",", "'", '"', " ", "\xa0", "\u200b", "\ufeff",
     "＝", "1", "-3.5", "+1e5", "e", ".", "inf", "carp", "=1+2", "\0", "é"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=12))

MARKED = {
    '=HYPERLINK("http://x","y")': '\'=HYPERLINK("http://x","y")',
    "-2+3": "'-2+3",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t'=1",
    "\rcarp": "'\rcarp",
    "  =1": "'  =1",
    '"=1': "'\"=1",
    "\u200b=1": "'\u200b=1",
    "＝1": "'＝1",
    "'=1": "''=1",
    "carp;=1": "carp;'=1",
    "carp\n+x": "carp\n'+x",
    "-": "'-",
    "+1-1": "'+1-1",
    "-1 000": "'-1 000",
    "'-3.5": "''-3.5",
}
LEFT_ALONE = ["", "carp", "-3.5", "+1", "+1e5", " -2 ", "-.5", "-inf", "a-b", "a=b", "'tis",
              "a, -b", "3;-2", "007", "x@y.z"]  # fmt: skip


@pytest.mark.parametrize("text", MARKED)
def test_formulas_are_marked(text):
    assert safe_text(text) == MARKED[text]
    assert original_text(MARKED[text]) == text


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_other_texts_are_left_alone(text):
    assert (safe_text(text), original_text(text)) == (text, text)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_every_text_comes_back_exactly(text):
    marked = safe_text(text)
    assert original_text(marked) == text
    assert original_text(original_text(safe_text(marked))) == text


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_no_part_of_a_marked_text_is_a_formula(text):
    marked = safe_text(text)
    assert marked[:1] not in ("\t", "\r", "\n")
    for part in [marked, *re.split(r"[;\t\r\n]", marked)]:
        assert not is_formula(part)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), TEXTS)
@settings(max_examples=100, deadline=None)
def test_tables_come_back_exactly(rows, name):
    table = pd.DataFrame({name: [a for a, _ in rows], f"{name}2": [b for _, b in rows]})
    table["score"] = -1.5
    assert original_cells(safe_cells(table)).equals(table)


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_files_are_marked_unless_raw(ending, tmp_path):
    table = pd.DataFrame({"@id": list(MARKED), "category": pd.Categorical(list(MARKED))})
    table["missing"], table["number"] = None, -1.5
    table["mixed"] = [-2, *list(MARKED)[1:]]
    for raw in (False, True):
        path = tmp_path / f"table{ending}"
        save_table(table, path, raw=raw)
        cells = cells_of(path)
        assert cells[0][0] == ("@id" if raw else "'@id")
        assert [row[0] for row in cells[1:]] == list(MARKED if raw else MARKED.values())
        assert [row[1] for row in cells[1:]] == [row[0] for row in cells[1:]]
        assert {row[3] for row in cells[1:]} == {"-1.5"}
        assert any(is_formula(cell) for row in cells for cell in row) is raw


@pytest.mark.parametrize("ending", [".parquet", ".json", ".arrow"])
def test_formats_for_programs_are_never_marked(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    save_table(pd.DataFrame({"id": ["=1+2"]}), path)
    read = {".parquet": pd.read_parquet, ".json": pd.read_json, ".arrow": pd.read_feather}[ending]
    assert read(path)["id"].tolist() == ["=1+2"]


LONG = ["1" * 10**6 + "x", "-" + "1" * 10**6 + "x", " " * 10**6 + "x", "'" * 10**6,
        "-1." + "0" * 10**6 + "e", "; " * 10**6]  # fmt: skip


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_long_texts_take_no_longer_than_their_length(text):
    start = time.perf_counter()
    original_text(safe_text(text))
    assert time.perf_counter() - start < 2
