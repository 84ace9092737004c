"""Rows like a given one, from one table to ranked rows, reasons and a page; bad input."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import InputError
from kernova.cli.app import app
from kernova.workflows.find_like.page import find_like_page
from kernova.workflows.find_like.reasons import AlikeColumns
from kernova.workflows.find_like.search import MEASURED, find_like
from kernova.workflows.outliers import read_rows
from kernova.workflows.settings import FindLikeSettings
from tests.tables.messages import BAD_FILES
from tests.workflows.messages import (
    ALL_ALIKE,
    BOTH_GIVEN_AND_RULED_OUT,
    CUT_AT_DROP,
    NO_CHAIN,
    NO_ROW_TO_RANK,
    UNKNOWN_ROW,
    UNKNOWN_ROW_BUT,
)


def fish(n_bulk=200, n_group=8, seed=0):
    """Rows of a bulk, and last some that are longer and flatter than nearly all others."""
    rng = np.random.default_rng(seed)
    bulk = rng.normal(50, 5, (n_bulk, 3))
    group = rng.normal([90, 10, 50], 1, (n_group, 3))
    rows = pd.DataFrame(np.vstack([bulk, group]), columns=["length", "depth", "weight"])
    rows["sex"] = ["f", "m"] * (len(rows) // 2)
    rows.insert(0, "fish", [f"f{number:03d}" for number in range(len(rows))])
    return rows


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fish().to_csv("fish.csv", index=False)
    return tmp_path


def table(rows=None, **roles):
    if rows is not None:
        rows.to_csv("fish.csv", index=False)
    return read_rows("fish.csv", id_column="fish", **roles)


def failure(*arguments, **roles):
    with pytest.raises(InputError) as caught:
        find_like(table(**roles), *arguments)
    return str(caught.value)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["find-like", "fish.csv", *arguments])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def test_the_group_is_found_with_reasons(folder):
    result = find_like(table(), ["f203"])
    assert result.alike.cut == 7
    assert set(result.ids.iloc[:7]) == {f"f{n}" for n in range(200, 208)} - {"f203"}
    assert result.rows["verdict"].tolist() == ["alike"] * 7 + ["other"] * 200
    assert result.rows["rank"].tolist() == list(range(1, 208))
    for row in result.rows.index[:7]:
        assert {one.name for one in result.reasons[row]} == {"length", "depth"}
        assert "usually" in result.rows.loc[row, "because"]
        assert result.nearest_given[row] == 203
    assert (result.rows["because"].iloc[20:] == "").all()
    ratio = result.alike.arrivals[result.alike.ranking[6:8]]
    quotient = f"{ratio[0] / ratio[1]:.3g}"
    assert result.summary == CUT_AT_DROP.format(cut=7, n_rows=207, ratio=quotient)
    assert result.worth == MEASURED


def test_rows_that_do_not_belong_are_left_out(folder):
    result = find_like(table(), ["f203", "f204"], ["f000", "f001"])
    assert len(result.rows) == 204
    assert not {"f203", "f204", "f000", "f001"} & set(result.ids)


def test_a_row_given_twice_counts_once(folder):
    once, twice = find_like(table(), ["f200"]), find_like(table(), ["f200", "f200"])
    pd.testing.assert_frame_equal(once.rows, twice.rows)


def test_the_page_shows_cards_and_pictures(folder):
    page = find_like_page(find_like(table(), ["f203"], settings=FindLikeSettings(top=3)))
    assert "What is like f203 in fish.csv?" in page
    assert page.count("Compared with f203") == 3
    assert page.count("<img") == 2
    without = find_like_page(find_like(table(), ["f203"], settings=FindLikeSettings(top=0)))
    assert "No row was explained." in without


def test_json_has_everything(folder):
    answer = find_like(table(), ["f203"], ["f001"], FindLikeSettings(top=2)).to_json_dict()
    json.dumps(answer, allow_nan=False)
    assert (answer["given"], answer["ruled_out"]) == (["f203"], ["f001"])
    assert len(answer["rows"]) == 206
    assert [one["id"] for one in answer["explanations"]] == [
        row["fish"] for row in answer["rows"][:2]
    ]


def test_missing_values_are_filled_or_named(folder):
    rows = fish()
    rows.loc[[3, 205], "length"] = np.nan
    result = find_like(table(rows), ["f203"])
    assert any("missing values" in note for note in result.notes)
    assert all(one.name != "length" for one in result.reasons.get(205, []))
    dropped = find_like(table(rows, missing="drop"), ["f203"])
    assert len(dropped.rows) == 205
    assert failure(["f205"], missing="drop") == UNKNOWN_ROW_BUT.format(id="f205", close="f207")


def test_rows_that_are_all_alike(folder):
    rows = pd.DataFrame({"fish": list("abcd"), "length": [1.0] * 4, "sex": ["f"] * 4})
    result = find_like(table(rows, keep=["length", "sex"]), ["b"])
    assert result.summary == ALL_ALIKE.format(n_rows=3)
    assert set(result.rows["because"]) == {""}
    assert "What is like b" in find_like_page(result)


def test_rows_that_no_chain_leads_to(folder):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(0, 1, 100), rng.normal(1e4, 1, 15)])
    rows = pd.DataFrame({"fish": [f"f{n}" for n in range(115)], "length": values})
    result = find_like(table(rows), ["f101"])
    assert result.summary == NO_CHAIN.format(cut=14, n_rows=114)
    assert "What is like f101" in find_like_page(result)


def test_one_row_cannot_be_ranked(folder):
    rows = pd.DataFrame({"fish": ["a"], "length": [1.0], "sex": ["f"]})
    with pytest.raises(InputError) as caught:
        find_like(table(rows, keep=["length", "sex"]), ["a"])
    assert str(caught.value) == NO_ROW_TO_RANK


def test_unknown_ids_are_named(folder):
    assert failure(["f2O3"]) == UNKNOWN_ROW_BUT.format(id="f2O3", close="f203")
    assert failure(["f203"], ["whale"]) == UNKNOWN_ROW.format(id="whale")
    assert failure(["f203"], ["f203"]) == BOTH_GIVEN_AND_RULED_OUT.format(id="f203")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [(name, content, message) for name, content, roles, message in BAD_FILES if roles == {}],
)
def test_bad_files_are_named(folder, name, content, message):
    (folder / name).write_bytes(content)
    result = CliRunner().invoke(app, ["find-like", name, "--row", "1", "-o", "out.csv"])
    assert (result.exit_code, result.stderr) == (2, f"kernova: {message}\n")
    assert not (folder / "out.csv").exists()


def test_reasons_are_columns_where_both_are_unusual():
    features = pd.DataFrame(
        {
            "high": [*range(38), 90.0, 99.0],
            "middle": [*range(38), 20.0, 20.5],
            "apart": [*range(38), -50.0, 50.0],
            "rare": ["a"] * 38 + ["b"] * 2,
            "frequent": ["a"] * 40,
            "missing": [*range(38), 99.0, np.nan],
        }
    )
    columns = AlikeColumns(features)
    found = [(one.name, one.fraction) for one in columns.of(39, 38)]
    assert found == [("high", 0.05), ("rare", 0.05)]
    text = "high = 99 (given 90, usually 19.5); rare = b (given b, usually a)"
    assert columns.text(39, 38) == text
    assert columns.text(0, 39) == ""


# --- the command -------------------------------------------------------------------------------

WORDS = ["--id-column", "fish", "--row", "f203"]


def test_text_for_people(folder):
    lines = run(*WORDS, "--top", "2").splitlines()
    assert lines[0].startswith("7 of 207 other rows are alike: walks from the given row ")
    assert lines[1] == MEASURED
    assert len([line for line in lines if "│ f20" in line]) == 2
    assert lines[-1] == "Write them all with -o alike.csv; see them with --report report.html."


def test_files_and_json(folder):
    answer = json.loads(
        run(*WORDS, "--not", "f000", "--json", "-o", "out.csv", "--report", "page.html")
    )
    assert answer["files"] == {"output": "out.csv", "report": "page.html"}
    written = pd.read_csv("out.csv")
    assert list(written.columns) == ["fish", "rank", "likeness", "verdict", "because"]
    assert len(written) == 206
    assert (folder / "page.html").read_text().startswith("<!doctype html>")


def test_a_row_is_its_number_without_an_id_column(folder):
    fish().drop(columns="fish").to_csv("fish.csv", index=False)
    answer = json.loads(run("--row", "204", "--row", "205", "--json"))
    assert answer["given"] == ["204", "205"]
    assert {row["row"] for row in answer["rows"][:6]} == {
        "201", "202", "203", "206", "207", "208"
    }  # fmt: skip


def test_errors_of_the_command(folder):
    close = UNKNOWN_ROW_BUT.format(id="f2O3", close="f203")
    assert run("--id-column", "fish", "--row", "f2O3", code=2) == f"kernova: {close}\n"
    assert "--row" in run(code=2)


def test_landmarks_are_aligned(folder):
    rng = np.random.default_rng(0)
    shape = rng.normal(size=(6, 2))
    lines = []
    for number in range(30):
        moved = shape + rng.normal(0, 0.01, shape.shape)
        if number >= 25:
            moved[0] += 0.5
        points = "\n".join(f"{x} {y}" for x, y in moved * rng.uniform(1, 5) + rng.normal(size=2))
        lines.append(f"LP=6\n{points}\nID=s{number}".replace("LP", "LM"))
    (folder / "fish.csv").unlink()
    (folder / "fish.tps").write_text("\n".join(lines) + "\n")
    result = CliRunner().invoke(app, ["find-like", "fish.tps", "--row", "s27", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    first = {row[next(iter(row))] for row in answer["rows"][:4]}
    assert first == {"s25", "s26", "s28", "s29"}
