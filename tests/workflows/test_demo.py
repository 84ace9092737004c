"""The demo's chapters on discovery and on recognition."""

import pandas as pd

from kernova.discover.strategies import DEFAULT_STRATEGY
from kernova.workflows.demo import discovery_chapter, recognition_chapter


def test_every_digit_is_met_and_the_rarest_stand_first(tmp_path):
    chapter = discovery_chapter(tmp_path)
    images = pd.read_csv(tmp_path / "rare_digits.csv")
    table = chapter.table
    assert sorted(table["digit"]) == list(range(10))
    assert table["images"].is_monotonic_increasing
    assert dict(zip(table["digit"], table["images"], strict=True)) == (
        images["digit"].value_counts().to_dict()
    )
    last = table[DEFAULT_STRATEGY].max()
    assert f"The strategy {DEFAULT_STRATEGY} needs {last:g} questions;" in chapter.sentences[1]
    assert last < table["random"].max() < len(images)
    assert [path.name for path in chapter.files] == ["discovery_curves.png", "rare_digits.csv"]
    assert all(path.is_file() for path in chapter.files)


def test_what_was_learnt_leaves_the_fours_unknown(tmp_path):
    chapter = recognition_chapter(tmp_path)
    counts = dict(zip(chapter.table["recognized"], chapter.table["rows"], strict=True))
    assert "4" not in counts
    assert counts["unknown"] > 170
    assert sum(counts.values()) == 597
    assert [path.name for path in chapter.files] == ["digits.html", "digits.csv", "digits.kernova"]
    assert all(path.is_file() for path in chapter.files)
