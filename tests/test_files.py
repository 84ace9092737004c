"""Files are whole or not there."""

import pytest

from kernova.errors import InputError
from kernova.files import ensure_writable, replacing


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def interrupted_write():
        with replacing(target) as scratch:
            scratch.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_write()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_written_file_is_as_readable_as_any_other(tmp_path):
    plain, replaced = tmp_path / "plain", tmp_path / "replaced"
    plain.write_text("")
    with replacing(replaced) as scratch:
        assert scratch.parent == tmp_path
        scratch.write_text("")
    assert plain.stat().st_mode == replaced.stat().st_mode


@pytest.mark.parametrize("reach", [ensure_writable, lambda path: replacing(path).__enter__()])
def test_paths_that_cannot_be_written(tmp_path, reach):
    (tmp_path / "file").write_text("")
    for path, reason in [
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "where.csv", f"there is no folder {tmp_path / 'no'}"),
        (tmp_path / "file" / "x.csv", f"there is no folder {tmp_path / 'file'}"),
    ]:
        with pytest.raises(InputError) as caught:
            reach(path)
        assert (
            str(caught.value) == f"Cannot write {path}: {reason}. Name a file that can be written."
        )


def test_ensuring_leaves_nothing_behind(tmp_path):
    ensure_writable(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
