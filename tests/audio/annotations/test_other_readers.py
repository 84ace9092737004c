"""What an independent reader makes of our annotations, and we of its examples."""

from pathlib import Path

import pytest

from kernova.audio.annotations import Segment, read_annotations, write_annotations
from tests.audio.annotations.examples import NOTES


@pytest.fixture(scope="module")
def crowsetta():
    return pytest.importorskip("crowsetta", reason="the independent reader is not installed")


# Of crowsetta's own calls.
pandas_may_warn = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pandas_may_warn
def test_crowsetta_reads_our_raven_tables(tmp_path, crowsetta):
    path = tmp_path / "song.selections.txt"
    write_annotations(NOTES, path, format="raven", sample_rate=32000)
    boxes = crowsetta.formats.bbox.Raven.from_file(path).to_bbox()
    got = [(box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in boxes]
    assert got == [
        (0.5, 0.75, "01", 1500.0, 8000.5),
        (0.75, 1.25, "trill", 0.0, 16000.0),
        (2.0, 2.5, "ä λ 🐦", 0.0, 4000.0),
    ]


def test_crowsetta_reads_our_labels(tmp_path, crowsetta):
    path = tmp_path / "song.labels.txt"
    write_annotations(
        [note._replace(low_hz=None, high_hz=None) for note in NOTES], path, format="audacity"
    )
    got = crowsetta.formats.seq.AudSeq.from_file(path)
    assert list(got.start_times) == [0.5, 0.75, 2.0]
    assert list(got.end_times) == [0.75, 1.25, 2.5]
    assert list(got.labels) == ["01", "trill", "ä λ 🐦"]

    write_annotations([NOTES[0], NOTES[2]], path, format="audacity")
    boxes = crowsetta.formats.bbox.AudBBox.from_file(path).to_bbox()
    got = [(box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in boxes]
    assert got == [(0.5, 0.75, "01", 1500.0, 8000.5), (2.0, 2.5, "ä λ 🐦", 0.0, 4000.0)]


def test_crowsetta_reads_our_textgrids(tmp_path, crowsetta):
    path = tmp_path / "song.TextGrid"
    write_annotations(NOTES, path, format="textgrid", duration=3.0)
    grid = crowsetta.formats.seq.TextGrid.from_file(path, keep_empty=True)
    assert (grid.xmin, grid.xmax, grid.tier_names) == (0.0, 3.0, ["notes"])
    assert [(i.xmin, i.xmax, i.text) for i in grid["notes"]] == [
        (0.0, 0.5, ""),
        (0.5, 0.75, "01"),
        (0.75, 1.25, "trill"),
        (1.25, 2.0, ""),
        (2.0, 2.5, "ä λ 🐦"),
        (2.5, 3.0, ""),
    ]

    crowd = [Segment(0, 2, "a"), Segment(1, 2, "b"), Segment(2, 3, "a"), Segment(2.5, 4, "a")]
    points = [Segment(1, 1, "c"), Segment(3, 3, "c"), Segment(3, 3, "d")]
    write_annotations([*crowd, *points], path, format="textgrid")
    grid = crowsetta.formats.seq.TextGrid.from_file(path)
    assert [(tier.name, [(i.xmin, i.xmax, i.text) for i in tier]) for tier in grid.tiers[:3]] == [
        ("a", [(0.0, 2.0, "a"), (2.0, 3.0, "a")]),
        ("a", [(2.5, 4.0, "a")]),
        ("b", [(1.0, 2.0, "b")]),
    ]
    # Praat has no two points at one time in one tier.
    assert [
        (tier.name, [(point.number, point.mark) for point in tier]) for tier in grid.tiers[3:]
    ] == [("points", [(1.0, "c"), (3.0, "c")]), ("points", [(3.0, "d")])]


@pandas_may_warn
def test_we_read_what_crowsetta_reads(crowsetta):
    examples = Path(crowsetta.__file__).parent / "examples"
    path = examples / "Recording_1_Segment_02.Table.1.selections.txt"
    raven = crowsetta.formats.bbox.Raven.from_file(path, annot_col="Species").to_bbox()
    assert [(s.start, s.end, s.label, s.low_hz, s.high_hz) for s in read_annotations(path)] == [
        (box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in raven
    ]

    path = examples / "405_marron1_June_14_2016_69640887.audacity.txt"
    audacity = crowsetta.formats.seq.AudSeq.from_file(path)
    assert [segment[:3] for segment in read_annotations(path)] == list(
        zip(audacity.start_times, audacity.end_times, audacity.labels, strict=True)
    )

    path = examples / "spinetail.txt"
    boxes = crowsetta.formats.bbox.AudBBox.from_file(path).to_bbox()
    assert [(s.start, s.end, s.label, s.low_hz, s.high_hz) for s in read_annotations(path)] == [
        (box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in boxes
    ]

    path = examples / "AVO-maea-basic.TextGrid"
    grid = crowsetta.formats.seq.TextGrid.from_file(path)
    assert [segment[:3] for segment in read_annotations(path, tier="Gloss")] == [
        (i.xmin, i.xmax, i.text) for i in grid["Gloss"]
    ]
    assert [(s.start, s.label) for s in read_annotations(path, tier="Tones")] == [
        (point.number, point.mark) for point in grid["Tones"]
    ]
