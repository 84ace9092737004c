"""Groups of specimens from tables and ids."""

import time

import pytest

from kernova.shapes import (
    groups_from_pattern,
    groups_from_table,
    read_tps,
)
from tests.shapes.bad_inputs import (
    BAD_GROUPS,
    BAD_PATTERNS,
    ENDLESS_PATTERN,
    error,
)


def test_merged_files_are_named_by_their_images(data_folder):
    snails = read_tps(data_folder / "landmarks/tps_as_written/littorina_all_landmarks.TPS")
    assert snails.ids == snails.images
    species = groups_from_pattern("_(sxt|ltr)_", snails.images)
    assert (species.count("sxt"), species.count("ltr")) == (65, 90)


def test_groups_stay_text(tmp_path):
    (tmp_path / "g.csv").write_text("site,id,sp\n1,007, 01 \n2,7,1\n1,x y,NA\n2,z,\n1,007,01\n")
    groups = groups_from_table(tmp_path / "g.csv", ["x y", "007", "7"], group_column="sp")
    assert groups == ("NA", "01", "1")
    sites = groups_from_table(tmp_path / "g.csv", ["01"], group_column="site", id_column="sp")
    assert sites == ("1",)


def test_groups_from_ids():
    assert groups_from_pattern(r"(?:a|b)(\d+)$", ["xa12", "b3"]) == ("12", "3")


@pytest.mark.parametrize("pattern", [r"^([A-Za-z]+)_\d+", r"((?:[a-z]+)+)_", "(.*)_.*", "(a++)_"])
def test_repeats_in_patterns(pattern):
    assert groups_from_pattern(pattern, ["aa_1", "a_22"]) == ("aa", "a")


def test_groups_of_any_letters():
    texts = ["é_1", "\udc80_2", "\u2028_3"]
    assert groups_from_pattern("(?s)^(.)_", texts) == ("é", "\udc80", "\u2028")


def test_patterns_that_backtrack_without_end_are_stopped():
    start = time.perf_counter()
    with error(ENDLESS_PATTERN):
        groups_from_pattern("(a+)+$", ["a" * 60 + "1!"])
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(("content", "options", "message"), BAD_GROUPS)
def test_bad_groups(tmp_path, monkeypatch, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    with error(message):
        groups_from_table("bad.csv", ["a", "b"], **options)


@pytest.mark.parametrize(("pattern", "message"), BAD_PATTERNS)
def test_bad_patterns(pattern, message):
    with error(message):
        groups_from_pattern(pattern, ["a_1", "b", "c_"])
