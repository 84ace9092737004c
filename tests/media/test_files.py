"""Access to media files: only within one folder or archive."""

import os
import struct
import threading
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.errors import MediaError
from kernova.media.files import FolderFiles, ZipFiles, name_within
from tests.media import messages

PNG = [".png"]


@pytest.fixture
def folder(tmp_path):
    within = tmp_path / "pictures"
    (within / "wild").mkdir(parents=True)
    (within / "a.png").write_bytes(b"a")
    (within / "wild" / "B.PNG").write_bytes(b"b")
    (within / "notes.txt").write_bytes(b"text")
    (tmp_path / "secret.png").write_bytes(b"secret")
    return within


def test_subfolders_are_listed_and_other_suffixes_skipped(folder):
    files = FolderFiles(folder, PNG)
    assert files.names == ("a.png", "wild/B.PNG")
    assert files.content("wild/B.PNG") == b"b"


def test_hidden_files_and_folders_are_skipped(folder):
    (folder / ".hidden.png").write_bytes(b"h")
    (folder / ".git").mkdir()
    (folder / ".git" / "c.png").write_bytes(b"c")
    assert FolderFiles(folder, PNG).names == ("a.png", "wild/B.PNG")


@pytest.mark.parametrize(
    "path",
    [
        "../secret.png",
        "wild/../../secret.png",
        "{outside}",
        "..\\secret.png",
        "C:\\secret.png",
        "a.png\0.png",
        "",
        "wild",
    ],
)
def test_no_path_leads_out_of_the_folder(folder, path):
    path = path.replace("{outside}", str(folder.parent / "secret.png"))
    files = FolderFiles(folder, ["", *PNG], among=[path, "a.png"])
    assert files.names == ("a.png",)
    with pytest.raises(MediaError, match=messages.NO_FILE_WITHIN):
        files.path("../secret.png")


@given(st.text(alphabet="ab./\\\\ :\0~\u2215", max_size=12))
def test_no_text_becomes_a_name_outside_the_folder(text):
    name = name_within(text, Path("/data/pictures"))
    if name is not None:
        place = os.path.normpath(f"/data/pictures/{name}")
        assert place == f"/data/pictures/{name}"
        assert place.startswith("/data/pictures/")


def test_links_to_folders_are_followed_only_within(folder):
    (folder / "alias").symlink_to(folder / "wild")
    (folder / "out").symlink_to(folder.parent)
    among = ["alias/B.PNG", "out/secret.png", "out/pictures/a.png"]
    # The last one leads out and back: the resolved path counts.
    assert FolderFiles(folder, PNG, among=among).names == ("alias/B.PNG", "out/pictures/a.png")


def test_absolute_paths_into_the_folder_are_allowed(folder):
    assert FolderFiles(folder, PNG, among=[str(folder / "wild" / "B.PNG")]).names == ("wild/B.PNG",)
    assert name_within(".\\wild\\B.PNG", folder) == "wild/B.PNG"


def test_links_out_of_the_folder_are_ignored_and_links_within_followed(folder):
    (folder / "out.png").symlink_to(folder.parent / "secret.png")
    (folder / "within.png").symlink_to(folder / "a.png")
    (folder / "round.png").symlink_to(folder / "round.png")
    (folder / "elsewhere").symlink_to(folder.parent)
    files = FolderFiles(folder, PNG)
    assert files.names == ("a.png", "wild/B.PNG", "within.png")
    assert files.content("within.png") == b"a"
    among = FolderFiles(folder, PNG, among=["out.png", "elsewhere/secret.png", "within.png"])
    assert among.names == ("within.png",)


def test_a_file_replaced_by_a_link_out_is_rejected(folder):
    files = FolderFiles(folder, PNG)
    (folder / "a.png").unlink()
    (folder / "a.png").symlink_to(folder.parent / "secret.png")
    with pytest.raises(MediaError) as rejected:
        files.content("a.png")
    assert str(rejected.value) == messages.NO_FILE.format(name="a.png", folder=folder)


def test_pipes_do_not_block(folder):
    os.mkfifo(folder / "pipe.png")
    files = FolderFiles(folder, PNG)
    assert "pipe.png" not in files.names
    (folder / "a.png").unlink()
    os.mkfifo(folder / "a.png")
    with pytest.raises(MediaError, match=messages.NO_FILE_WITHIN):
        files.content("a.png")


def test_large_files_are_rejected_before_they_are_read(folder):
    with (folder / "huge.png").open("wb") as stream:
        stream.truncate(2 * 1024**3)
    with pytest.raises(MediaError) as rejected:
        FolderFiles(folder, PNG).content("huge.png")
    assert str(rejected.value) == messages.TOO_LARGE.format(
        name="huge.png", folder=folder, megabytes="2,048"
    )


def test_an_unreadable_file_is_an_error(folder, monkeypatch):
    files = FolderFiles(folder, PNG)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(MediaError) as rejected:
        files.content("a.png")
    assert str(rejected.value) == messages.UNREADABLE.format(folder=folder)


# --- archives --------------------------------------------------------------------------------


def archive(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as written:
        for name, content in entries.items():
            written.writestr(name, content)
    return path


def test_an_archive_is_read_in_place(tmp_path):
    path = archive(tmp_path / "p.zip", {"a.png": b"a", "deep/b.png": b"b", "c.txt": b"c"})
    files = ZipFiles(path, PNG)
    assert files.names == ("a.png", "deep/b.png")
    assert files.content("deep/b.png") == b"b"
    files.close()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["p.zip"]


def test_entries_with_paths_outside_are_ignored(tmp_path):
    path = archive(
        tmp_path / "slip.zip", {"../../evil.png": b"e", "/etc/evil.png": b"e", "good.png": b"g"}
    )
    assert ZipFiles(path, PNG).names == ("good.png",)


def test_links_in_an_archive_are_ignored(tmp_path):
    path = tmp_path / "links.zip"
    with zipfile.ZipFile(path, "w") as written:
        link = zipfile.ZipInfo("link.png")
        link.external_attr = 0o120777 << 16
        written.writestr(link, "/etc/passwd")
        written.writestr("good.png", b"g")
    assert ZipFiles(path, PNG).names == ("good.png",)


def test_large_entries_are_rejected_before_decompression(tmp_path):
    path = archive(tmp_path / "bomb.zip", {"bomb.png": bytes(65 * 1024**2)})
    assert path.stat().st_size < 100_000
    with pytest.raises(MediaError) as rejected:
        ZipFiles(path, PNG).content("bomb.png")
    assert str(rejected.value) == messages.TOO_LARGE.format(
        name="bomb.png", folder=path, megabytes="65"
    )


def test_an_entry_with_a_false_size_is_an_error(tmp_path):
    path = archive(tmp_path / "liar.zip", {"liar.png": bytes(1_000_000)})
    content = bytearray(path.read_bytes())
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 10)
    path.write_bytes(content)
    with pytest.raises(MediaError) as rejected:
        ZipFiles(path, PNG).content("liar.png")
    assert str(rejected.value) == messages.DAMAGED_ENTRY.format(name="liar.png", folder=path)


def test_other_compression_methods_are_rejected(tmp_path):
    path = archive(tmp_path / "lzma.zip", {"a.png": bytes(100)}, zipfile.ZIP_LZMA)
    with pytest.raises(MediaError) as rejected:
        ZipFiles(path, PNG).content("a.png")
    assert str(rejected.value) == messages.OTHER_COMPRESSION.format(folder=path)


def test_damaged_archives_and_entries_are_errors(tmp_path):
    path = archive(tmp_path / "damaged.zip", {"a.png": os.urandom(1000)})
    content = bytearray(path.read_bytes())
    content[100:110] = b"x" * 10
    path.write_bytes(content)
    with pytest.raises(MediaError) as rejected:
        ZipFiles(path, PNG).content("a.png")
    assert str(rejected.value) == messages.DAMAGED_ENTRY.format(name="a.png", folder=path)
    path.write_bytes(content[:-30])
    with pytest.raises(MediaError) as rejected:
        ZipFiles(path, PNG)
    assert str(rejected.value) == messages.DAMAGED_ARCHIVE.format(folder=path)


def test_many_threads_read_one_archive_at_once(tmp_path):
    entries = {f"{k}.png": bytes([k]) * (1000 + k) for k in range(50)}
    files = ZipFiles(archive(tmp_path / "p.zip", entries), PNG)
    wrong = []

    def read(start):
        for k in range(200):
            name = f"{(start + 7 * k) % 50}.png"
            if files.content(name) != entries[name]:
                wrong.append(name)

    threads = [threading.Thread(target=read, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
