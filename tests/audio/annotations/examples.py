"""Segments to write, and how they are written and read back."""

from kernova.audio.annotations import Segment, read_annotations, write_annotations

NOTES = [
    Segment(0.5, 0.75, "01", 0.875, 1500.0, 8000.5),
    Segment(0.75, 1.25, "trill", 0.25),
    Segment(2.0, 2.5, "ä λ 🐦", None, 0.0, 4000.0),
]


# A TextGrid in its long form.
LONG = """\
File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2.3
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "notes"
        xmin = 0
        xmax = 2.3
        intervals: size = 3
        intervals [1]:
            xmin = 0
            xmax = 0.5
            text = " "
        intervals [2]:
            xmin = 0.5
            xmax = 1.5
            text = "the ""b"" ! note"
        intervals [3]:
            xmin = 1.5
            xmax = 2.3
            text = ""
    item [2]:
        class = "TextTier"
        name = "clicks"
        xmin = 0
        xmax = 2.3
        points: size = 1
        points [1]:
            number = 0.25
            mark = "7"
"""


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def read_back(segments, path, format, **options):
    write_annotations(segments, path, format=format, **options)
    assert read_annotations(path) == read_annotations(path, format=format)  # it is recognised
    return read_annotations(path)
