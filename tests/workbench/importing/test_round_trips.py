"""What one project exports, another imports without loss; one undo takes everything back."""

import pytest

from kernova.workbench.importing.part import Imports
from tests.workbench.labelled import (
    label_in_every_way,
    opinions_in,
    state_of,
    workbench_over,
)

TRIPS = [
    ("table", "csv"),
    ("table", "parquet"),
    ("table", "label-studio"),
    ("pictures", "coco"),
    ("pictures", "label-studio"),
    ("sounds", "raven"),
    ("sounds", "label-studio"),
    ("specimens", "tps"),
    ("specimens", "csv"),
]
FILES = {"csv": "labels.csv", "parquet": "labels.parquet", "label-studio": "tasks.json",
         "coco": "coco.json", "raven": "raven.txt", "tps": "labelled.tps"}  # fmt: skip


def imported(bench, name, content, on_conflict="keep", expert="Carla", as_expert=None):
    imports = bench.part(Imports)
    preview = imports.preview(name, content)
    request = imports.request(expert, preview.upload, on_conflict, as_expert, None)
    bench.questions.save(request)
    return preview


@pytest.mark.parametrize(("media", "name"), TRIPS)
def test_nothing_is_lost(tmp_path, media, name):
    if media == "sounds":
        pytest.importorskip("soundfile", reason="the extra `audio` is not installed")
    with workbench_over(tmp_path, media, "one") as one:
        label_in_every_way(one)
        content, before, opinions = one.exports.file(name), state_of(one), opinions_in(one)
    with workbench_over(tmp_path, media, "other") as other:
        empty = state_of(other)
        preview = imported(other, FILES[name], content)
        assert preview.n_unknown == preview.n_conflicts == preview.same == 0
        after = state_of(other)
        if name == "coco":  # it lists pictures, and the sixth row has none
            for key in ("labels", "status", "probability"):
                before[key][5] = after[key][5] = None
            before["tags"].pop(5)
        if name in ("raven", "tps"):  # a line has no room for the end of a line
            before["notes"][0] = " ".join(before["notes"][0].split())
        assert after == before
        if name == "label-studio":  # the only one with all opinions
            assert opinions_in(other) == opinions
            disputed = [one.row for one in other.discovery.session.disagreements_]
            assert disputed == [2]
        other.discovery.session.undo(expert="Carla")
        assert state_of(other) == empty
    # On disk, everything is as it was in memory.
    with workbench_over(tmp_path, media, "other") as again:
        assert state_of(again) == empty


@pytest.mark.parametrize("name", ["csv", "label-studio"])
def test_the_same_file_again_changes_nothing(tmp_path, name):
    with workbench_over(tmp_path, "table", "one") as one:
        label_in_every_way(one)
        content, before = one.exports.file(name), state_of(one)
        for on_conflict in ("keep", "take", "opinion"):
            with pytest.raises(ValueError, match="changes nothing"):
                imported(one, FILES[name], content, on_conflict)
        assert state_of(one) == before
