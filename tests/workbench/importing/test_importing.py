"""Import of labels: matches, conflicts and experts, and files that are no labels."""

import io
import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.errors import InputError
from kernova.workbench.importing.lines import LARGEST_FILE
from kernova.workbench.importing.part import Imports
from kernova.workbench.importing.reading import read_label_file
from kernova.workbench.shared import WorkbenchError
from tests.workbench.labelled import opinions_in, state_of, workbench_over

ROWS = {f"row {place}": place for place in range(2, 24)} | {"007": 0, "=1+2": 1}


@pytest.fixture
def bench(tmp_path):
    """Open a project with two labels by Anna, and one accepted from a model."""
    with workbench_over(tmp_path, "table") as opened:
        session = opened.discovery.session
        session.label_rows(["row 2", "row 3"], "carp", expert="Anna")
        session.review.accept(["row 4"], ["carp"], [0.9], expert="Anna")
        yield opened


def csv(*lines, header="id,category,expert"):
    return ("\n".join([header, *lines]) + "\n").encode()


def imported(bench, content, on_conflict="keep", as_expert=None, name="labels.csv", key=None):
    imports = bench.part(Imports)
    preview = imports.preview(name, content)
    request = imports.request("Carla", preview.upload, on_conflict, as_expert, key)
    return preview, bench.questions.save(request)


THEIRS = csv("row 2,carp,Bob", "row 3,pike,Bob", "row 4,pike,", "row 5,pike,", "row 99,pike,")


def labels_now(bench):
    labels = bench.discovery.session.labels_
    return [labels[row] for row in (2, 3, 4, 5)]


def test_a_preview_counts_and_changes_nothing(bench):
    before = state_of(bench)
    preview = bench.part(Imports).preview("labels.csv", THEIRS)
    assert (preview.labelled, preview.new_labels, preview.same, preview.n_conflicts) == (4, 1, 1, 2)
    assert [(one.id, one.mine, one.theirs) for one in preview.conflicts] == [
        ("row 3", "carp", "pike"), ("row 4", "carp", "pike"),
    ]  # fmt: skip
    assert (preview.n_unknown, preview.unknown) == (1, ["row 99"])
    assert [(one.name, one.rows, one.is_new) for one in preview.categories] == [
        ("pike", 3, True), ("carp", 1, False),
    ]  # fmt: skip
    assert preview.experts == ["Bob"]
    assert (preview.id_column, preview.category_column) == ("id", "category")
    assert state_of(bench) == before


def test_mine_are_kept(bench):
    _, reply = imported(bench, THEIRS)
    assert labels_now(bench) == ["carp", "carp", "carp", "pike"]
    assert reply.saved.words == "Labels of 1 row imported from labels.csv."
    assert opinions_in(bench)[5] == {"Carla": "pike"}
    assert bench.discovery.session.n_disagreements_ == 0


def test_theirs_are_taken_without_a_disagreement(bench):
    imported(bench, THEIRS, "take", as_expert="Dora")
    assert labels_now(bench) == ["carp", "pike", "pike", "pike"]
    assert bench.discovery.session.n_disagreements_ == 0
    assert opinions_in(bench)[3] == {"Anna": "carp", "Bob": "pike"}
    assert opinions_in(bench)[5] == {"Dora": "pike"}


def test_theirs_are_recorded_as_opinions(bench):
    imported(bench, THEIRS, "opinion")
    session = bench.discovery.session
    assert [one.row for one in session.disagreements_] == [3]
    assert opinions_in(bench)[2] == {"Anna": "carp", "Bob": "carp"}
    # The latest label counts until a disagreement is settled, as everywhere.
    assert labels_now(bench) == ["carp", "pike", "pike", "pike"]
    assert not session.results_.is_accepted[4]


def test_several_experts_of_a_row_and_the_last_that_counts(bench):
    lines = ("row 7,eel,Eve", "row 7,pike,Bob", "row 8,pike,Bob", "row 8,eel,Eve")
    imported(bench, csv(*lines), "opinion")
    labels = bench.discovery.session.labels_
    assert (labels[7], labels[8]) == ("pike", "eel")
    assert {row: opinions_in(bench)[row] for row in (7, 8)} == {
        7: {"Eve": "eel", "Bob": "pike"}, 8: {"Bob": "pike", "Eve": "eel"},
    }  # fmt: skip


def test_a_repeated_request_is_recorded_once_even_without_its_file(bench):
    preview, first = imported(bench, THEIRS, key="once")
    bench.part(Imports)._uploads.clear()  # as after a restart
    again = bench.part(Imports).request("Carla", preview.upload, "keep", None, "once")
    reply = bench.questions.save(again)
    assert (reply.repeated, reply.saved.number) == (True, first.saved.number)
    with pytest.raises(WorkbenchError) as caught:
        bench.questions.save(
            bench.part(Imports).request("Carla", preview.upload, "keep", None, "b")
        )
    assert str(caught.value) == (
        "This file is not here any more: the server was started again, or others were chosen "
        "since. Choose the file again."
    )


def test_imported_rows_are_no_cluster_for_cross_validation(bench):
    from kernova.workbench.learning import labelling_groups

    imported(bench, csv("row 7,eel,", "row 8,eel,", "row 9,pike,"))
    groups = labelling_groups(bench.discovery.session.entries_, 24)
    assert len(set(groups[[7, 8, 9]])) == 3


def test_columns_are_found_or_chosen(bench):
    content = csv("a,row 7,eel", "b,row 8,pike", header="kind,galaxy,morphology")
    preview = bench.part(Imports).preview("theirs.csv", content)
    assert (preview.id_column, preview.category_column) == ("galaxy", "kind")
    chosen = bench.part(Imports).preview("theirs.csv", content, category_column="morphology")
    assert [one.name for one in chosen.categories] == ["eel", "pike"]
    unclear = csv("a,row 7,eel", header="first,galaxy,morphology")
    preview = bench.part(Imports).preview("theirs.csv", unclear)
    assert preview.category_column is None
    assert preview.notes[0] == "No column of theirs.csv is known to hold categories. Choose it."


def test_names_that_differ_in_case_only_are_noted(bench):
    preview = bench.part(Imports).preview("labels.csv", csv("row 7,Carp,", "row 7,Carp,"))
    assert (
        "The category 'Carp' would be new, and differs from 'carp' in case only." in preview.notes
    )
    assert "1 line repeated; the last one of a row counts." in preview.notes


def test_tasks_from_elsewhere_are_matched_by_their_files(bench):
    result = {
        "from_name": "kind",
        "to_name": "img",
        "type": "choices",
        "value": {"choices": ["eel"]},
    }
    tasks = [
        {"id": 1, "data": {"image": "s3://bucket/photos/row 7.jpg?x=1"},
         "annotations": [{"result": [result], "completed_by": {"email": "eve@example.org"}}]},
        {"id": 2, "data": {"image": "/data/local-files/?d=photos/row 8.jpg"},
         "annotations": [{"result": [], "was_cancelled": True}, {"result": [result]}]},
    ]  # fmt: skip
    preview, _ = imported(bench, json.dumps(tasks).encode(), name="tasks.json")
    assert preview.labelled == 2
    assert opinions_in(bench)[7] == {"eve@example.org": "eel"}
    assert opinions_in(bench)[8] == {"Carla": "eel"}


# --- files that cannot be imported -----------------------------------------------------------

REJECTED = {
    "empty.csv": (b"", "empty.csv is empty. Choose another file."),
    "labels.xlsx": (
        b"PK\x03\x04",
        "The ending of labels.xlsx is not that of a file of labels; use .csv, .tsv, .txt, .csv.gz, "
        ".tsv.gz, .parquet, .arrow, .json or .tps.",
    ),
    "broken.json": (
        b'[{"data": ',
        "broken.json is not JSON; it is damaged, or another kind of file.",
    ),
    "other.json": (
        b'{"a": 1}',
        "other.json holds neither tasks of Label Studio nor COCO annotations. Export it in one of "
        "these formats, or as a table.",
    ),
    "coco.json": (
        b'{"images": [], "annotations": [{"image_id": 1}], "categories": []}',
        "The file has images, annotations and categories as COCO has, but they do not belong "
        "together: an id is missing. Export it again.",
    ),
    "broken.parquet": (
        b"PAR1 and then nothing",
        "broken.parquet cannot be read as Parquet; it is damaged, cut short, or another kind of "
        "file.",
    ),
    "strangers.csv": (
        b"name,kind\nx,eel\n",
        "No column of strangers.csv holds ids of this project, such as 'row 2', 'row 3', 'row 4'; "
        "its columns are 'name', 'kind'. Add the column of ids, or name it with id_column.",
    ),
    "large.csv": (
        b"x" * (LARGEST_FILE + 600_000),
        "large.csv has 17 MB; the limit is 16 MB. Leave out columns that are no labels, or save it "
        "as Parquet.",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_files_that_are_no_labels_are_explained(name):
    content, expected = REJECTED[name]
    with pytest.raises(InputError) as caught:
        read_label_file(name, content, ROWS)
    assert str(caught.value) == expected


def rejection(name, content):
    """Return the sentence with which a file is rejected; empty for one that is read."""
    try:
        read_label_file(name, content, ROWS)
    except InputError as error:
        return str(error)
    return ""


@settings(max_examples=150, deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=300),
        st.text(max_size=200).map(str.encode),
        st.lists(st.text(st.sampled_from('ab,"\n\x00 7='), max_size=12), max_size=8).map(
            lambda lines: "\n".join(["id,category", *lines]).encode()
        ),
    ),
    name=st.sampled_from(["a.csv", "a.tsv", "a.txt", "a.csv.gz", "a.parquet", "a.arrow", "a.json",
                          "a.tps"]),
)  # fmt: skip
def test_noise_is_rejected_in_one_sentence(content, name):
    said = rejection(name, content)
    assert "Traceback" not in said
    assert "/tmp" not in said


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["data", "annotations", "result", "value", "choices", "from_name", "id",
                             "images", "categories", "completed_by", "meta", "text"]),
            inner,
            max_size=5,
        ),
        max_leaves=25,
    )
)  # fmt: skip
def test_any_json_is_read_or_rejected(parsed):
    tasks = [
        {"data": {"id": "row 7"}, "annotations": [{"result": [parsed], "completed_by": parsed}]}
    ]
    for content in (parsed, tasks, [{"data": parsed}]):
        # A rejection is a sentence; any other error would be raised.
        sentence = rejection("a.json", json.dumps(content).encode())
        assert sentence == "" or sentence.endswith(".")


def test_a_table_of_many_rows_is_read_quickly(tmp_path):
    rows = {f"g{number:06d}": number for number in range(100_000)}
    table = pd.DataFrame({"id": list(rows), "category": ["a", "b"] * 50_000})
    file = io.BytesIO()
    table.to_parquet(file)
    found = read_label_file("labels.parquet", file.getvalue(), rows)
    assert len(found.lines) == 100_000
