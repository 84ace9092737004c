"""Batches added to a project: what is read how, what is left out, what is judged and remembered."""

import shutil

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.workbench.growing import add_batch, add_to, open_growing
from tests.workbench.growing.tables import OPTIONS, write_batch, write_first

PROJECT = "rows.kernova-project"


@pytest.fixture
def folder(tmp_path, monkeypatch, few_trees):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def first(folder):
    """A project of 150 rows with 60 labels."""
    table = write_first(folder)
    with open_growing(PROJECT, "first.csv", options=OPTIONS) as project:
        for row in range(60):
            project.discovery.session.label_row(f"a{row}", table["group"][row])
    return table


def rejected(*arguments, **words):
    with pytest.raises(InputError) as caught:
        add_batch(PROJECT, *arguments, **words)
    return str(caught.value)


def test_new_rows_are_judged_and_those_that_look_new_asked_first(folder, first):
    write_batch(folder, 1, n_new=5, again=first.head(7))
    with open_growing(PROJECT) as project:
        result = add_to(project, "batch-1.csv")
        asked = project.discovery.session.next_question()
    assert result.sentences[0] == (
        "45 rows of batch-1.csv were added; the project has 195 rows now."
    )
    assert result.notes[0] == (
        "7 rows of batch-1.csv are in the project already, and were left out."
    )
    rows = result.judged.rows.set_index("id")
    new = [f"b1-{row}" for row in range(40, 45)]
    assert (rows.loc[new, "verdict"] == "new").all()
    assert (rows.loc[new, "group"] == 1).all()
    assert (rows["verdict"] == "new").sum() <= 5 + result.batch.by_chance
    assert "= " in rows.loc["b1-40", "because"]
    known = rows[rows["verdict"] == "known"]
    truth = pd.read_csv("batch-1.csv", index_col="id")["group"]
    assert (known["category"] == truth[known.index]).mean() > 0.9
    assert asked.id in new
    assert asked.members.tolist() == [190, 191, 192, 193, 194]


def test_the_same_file_again_adds_nothing(folder, first):
    write_batch(folder, 1)
    (one,) = add_batch(PROJECT, "batch-1.csv")
    (again,) = add_batch(PROJECT, "batch-1.csv")
    assert (one.n_added, again.n_added) == (40, 0)
    assert again.sentences == [
        "Nothing was added: no row of batch-1.csv is new to the project (40 rows)."
    ]
    with open_growing(PROJECT) as project:
        assert len(project.discovery.session.batches_) == 1


def test_a_file_that_has_grown_opens_and_gives_its_new_rows(folder, first):
    more = pd.read_csv(write_batch(folder, 1))
    pd.concat([first, more]).to_csv("first.csv", index=False)
    with open_growing(PROJECT) as project:
        assert project.discovery.notes == [
            "40 rows of first.csv are not in the project; they are left out until first.csv is "
            "added."
        ]
        assert add_to(project, "first.csv").n_added == 40
    with open_growing(PROJECT) as project:
        assert len(project.discovery.session.ids_) == 190


def test_everything_is_as_it_was_when_opened_again(folder, first):
    write_batch(folder, 1, n_new=4)
    write_batch(folder, 2, again=first.tail(3))
    with open_growing(PROJECT) as project:
        results = [add_to(project, f"batch-{number}.csv") for number in (1, 2)]
        session, encoded = project.discovery.session, project.discovery.encoded
        before = (session.ids_, session.categories_, session.log_, session.next_question().id)
    assert [one.n_added for one in results] == [44, 40]
    with open_growing(PROJECT) as project:
        session = project.discovery.session
        assert before == (
            session.ids_, session.categories_, session.log_, session.next_question().id,
        )  # fmt: skip
        np.testing.assert_array_equal(project.discovery.encoded, encoded)
        project.discovery.prepare()


def test_columns_may_come_in_another_order_and_further_ones_are_no_features(folder, first):
    table = pd.read_csv(write_batch(folder, 1))
    table["seen"] = np.arange(40.0)
    table[["seen", "depth", "group", "length", "id", "width"]].to_parquet("more.parquet")
    (result,) = add_batch(PROJECT, "more.parquet")
    assert result.notes[0] == "Column 'seen' of more.parquet is not in the project, and no feature."
    with open_growing(PROJECT) as project:
        features = project.discovery.table.features
    assert list(features.columns) == ["length", "width", "depth"]
    assert features.iloc[-1].tolist() == table[["length", "width", "depth"]].iloc[-1].tolist()


def test_missing_columns_are_an_error_or_filled(folder, first):
    write_batch(folder, 1)
    table = pd.read_csv("batch-1.csv").drop(columns=["width", "group"])
    table.to_csv("batch-1.csv", index=False)
    assert rejected("batch-1.csv") == (
        "batch-1.csv lacks 1 column that the project's rows have: 'width'. Add it, or pass "
        "missing_columns='fill' to count these values as missing."
    )
    (result,) = add_batch(PROJECT, "batch-1.csv", options={"missing_columns": "fill"})
    assert result.n_added == 40
    assert result.notes[0] == (
        "batch-1.csv lacks 'width'; its values count as missing, and are filled with the usual "
        "ones."
    )
    with open_growing(PROJECT) as project:
        assert project.discovery.table.features["width"].tail(40).isna().all()
        assert np.isfinite(project.discovery.encoded).all()


def test_the_same_id_with_other_values_is_a_choice(folder, first):
    changed = first.head(2).assign(length=[77.0, 78.0])
    write_batch(folder, 1, again=changed)
    assert rejected("batch-1.csv") == (
        "2 rows of batch-1.csv have the id of a row of the project, but other values: 'a0', "
        "'a1'. Correct the ids; or pass same_id='skip' to leave such rows out, or "
        "same_id='rename' to add them under other ids."
    )
    shutil.copyfile(PROJECT, "copy.kernova-project")
    (skipped,) = add_batch("copy.kernova-project", "batch-1.csv", same_id="skip")
    assert (skipped.n_added, skipped.comparison.n_skipped) == (40, 2)
    (renamed,) = add_batch(PROJECT, "batch-1.csv", same_id="rename")
    assert renamed.notes[0] == (
        "2 rows of batch-1.csv have the id of another row of the project, and got new ones: a0 is "
        "now a0 (2), a1 is now a1 (2)."
    )
    with open_growing(PROJECT) as project:
        ids, features = project.discovery.session.ids_, project.discovery.table.features
    assert features["length"][ids.index("a0 (2)")] == 77
    assert features["length"][ids.index("a0")] == first["length"][0]


def test_copies_under_other_ids_are_reported(folder, first):
    write_batch(folder, 1, again=first.head(1).assign(id="z1"))
    (result,) = add_batch(PROJECT, "batch-1.csv")
    assert result.n_added == 41
    assert result.notes[0] == (
        "1 row of batch-1.csv has exactly the values of another under another id: z1 (as a0)."
    )


def test_texts_where_numbers_were_are_rejected(folder, first):
    table = pd.read_csv(write_batch(folder, 1))
    table["width"] = ["wide", "narrow"] * 20
    table.to_csv("batch-1.csv", index=False)
    assert rejected("batch-1.csv") == (
        "Column 'width' of batch-1.csv holds texts such as 'wide', but numbers in the project. "
        "Correct the column."
    )


def test_rows_without_ids_of_their_own_are_named_by_their_file(folder):
    first = write_first(folder).drop(columns=["id", "group"])
    first.to_csv("first.csv", index=False)
    with open_growing(PROJECT, "first.csv") as project:
        assert project.discovery.session.ids_[:2] == ["1", "2"]
    pd.read_csv(write_batch(folder, 1)).drop(columns=["id", "group"]).to_csv(
        "may-3.csv", index=False
    )
    assert [one.n_added for one in add_batch(PROJECT, "may-3.csv", "may-3.csv")] == [40, 0]
    with open_growing(PROJECT) as project:
        assert project.discovery.session.ids_[-1] == "may-3 40"


def test_labels_in_a_batch_are_known_in_advance(folder):
    table = write_first(folder)
    table["label"] = [*table["group"].head(20), *[None] * 130]
    table.to_csv("first.csv", index=False)
    options = {"id_column": "id", "label_column": "label", "drop": ["group"]}
    open_growing(PROJECT, "first.csv", options=options).close()
    batch = pd.read_csv(write_batch(folder, 1))
    batch["label"] = ["group 9", *[None] * 39]
    batch.to_csv("batch-1.csv", index=False)
    write_batch(folder, 2)  # without the column
    add_batch(PROJECT, "batch-1.csv", "batch-2.csv")
    with open_growing(PROJECT) as project:
        session = project.discovery.session
        assert session.category_sizes_["group 9"] == 1
        assert session.n_labelled_ == 21


# --- remembered sources ----------------------------------------------------------------------


def test_a_project_opens_alone_from_any_folder_and_after_a_move(folder, first, monkeypatch):
    write_batch(folder, 1)
    add_batch(PROJECT, "batch-1.csv")
    inside = folder / "moved"
    inside.mkdir()
    for name in ("first.csv", "batch-1.csv", PROJECT):
        shutil.move(folder / name, inside / name)
    with open_growing(inside / PROJECT) as project:
        assert len(project.discovery.session.ids_) == 190
        assert project.discovery.session.n_labelled_ == 60
    monkeypatch.chdir(inside)
    shutil.move(PROJECT, folder / PROJECT)  # the project alone: the files are where they were
    open_growing(folder / PROJECT).close()


def test_a_file_that_is_gone_is_named_and_found_again(folder, first):
    write_batch(folder, 1)
    add_batch(PROJECT, "batch-1.csv")
    archive = folder / "archive"
    archive.mkdir()
    shutil.move("batch-1.csv", archive / "batch-1.csv")
    with pytest.raises(InputError) as caught:
        open_growing(PROJECT)
    assert str(caught.value) == (
        f"The batch 1 of the project {PROJECT} is no longer at {folder / 'batch-1.csv'}. Move it "
        "back, or pass its place now: moved='FOLDER/batch-1.csv'."
    )
    open_growing(PROJECT, moved=[archive]).close()
    open_growing(PROJECT).close()  # its place is remembered
    shutil.move("first.csv", archive / "start.csv")
    open_growing(PROJECT, moved=["archive/start.csv"]).close()
    with open_growing(PROJECT) as project:
        assert project.discovery.table.source == "archive/start.csv"


def test_a_batch_that_has_changed_is_described(folder, first):
    path = write_batch(folder, 1)
    add_batch(PROJECT, path)
    table = pd.read_csv(path)
    table.loc[3, "depth"] = 99.0
    table.to_csv(path, index=False)
    with pytest.raises(InputError) as caught:
        open_growing(PROJECT)
    assert str(caught.value) == (
        f"The rows that batch 1 added to the project {PROJECT} have changed. The row 'b1-3' has "
        "other values in 'depth'. Give them as they were when they were added."
    )
    table.drop(index=5).to_csv(path, index=False)
    with pytest.raises(InputError) as caught:
        open_growing(PROJECT)
    assert str(caught.value) == (
        f"batch-1.csv lacks 1 row of batch 1 of the project {PROJECT}: 'b1-5'. Give the file as it "
        "was when it was added."
    )


def test_a_project_of_an_earlier_version_is_told_its_table_once(folder):
    table = write_first(folder)
    from kernova.discover.store import open_table_project

    features = table[["length", "width", "depth"]]
    open_table_project(PROJECT, features, table["id"].tolist()).close()
    with pytest.raises(InputError) as caught:
        open_growing(PROJECT)
    assert str(caught.value) == (
        f"The project {PROJECT} does not remember the table it was started with, since an earlier "
        "version of kernova started it. Name the table once, with the options that it was read "
        f"with: kernova discover DATA --project '{PROJECT}'."
    )
    open_growing(PROJECT, "first.csv", options=OPTIONS).close()
    open_growing(PROJECT).close()


def test_with_few_rows_nothing_is_judged(folder):
    write_first(folder, 20)
    open_growing(PROJECT, "first.csv", options=OPTIONS).close()
    write_batch(folder, 1, 3)
    (result,) = add_batch(PROJECT, "batch-1.csv")
    assert result.sentences == [
        "3 rows of batch-1.csv were added; the project has 23 rows now.",
        "Nothing was found out about these 3 new rows: there were too few rows to compare them "
        "with.",
    ]
    assert result.counts == {"new": 0, "known": 0, "uncertain": 3}
