"""Examples of each category: small pictures, spectrograms or outlines, limited in number."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw

from kernova.errors import MediaError
from kernova.media.pictures import Picture, png_picture
from kernova.media.thumbnails import light_picture
from kernova.report.page import Thumbnail
from kernova.text import truncate_middle
from kernova.workbench.exports.snapshot import Snapshot

_SIDE: Final = 128
_MOST_EACH: Final = 6
_MOST_IN_ALL: Final = 240
# Of pictures in all; in base64 they take a third more, and the page has other contents.
_MOST_BYTES: Final = 1_300_000
# Of the examples, so many may be accepted suggestions.
_ACCEPTED_EACH: Final = 2
_LONGEST_ID: Final = 24
# Outlines are drawn larger and reduced, so that their lines are smooth.
_ENLARGED: Final = 4


def examples(snapshot: Snapshot, members: dict[str, list[int]]) -> dict[str, list[Thumbnail]]:
    """Return pictures of a few rows of each category, until the page would become too large.

    Parameters
    ----------
    snapshot : Snapshot
        The labels and the media.
    members : dict of str to list of int
        The rows of each category; categories that come later may get no pictures.
    """
    if snapshot.media.kind == "none":
        return {}
    n_each = int(np.clip(_MOST_IN_ALL // max(len(members), 1), 1, _MOST_EACH))
    left, found = _MOST_BYTES, {}
    for name, rows in members.items():
        shown = list(_thumbnails(snapshot, example_rows(snapshot, rows, n_each)))
        left -= sum(len(one.content) for one in shown)
        if left < 0:
            break
        if shown:
            found[name] = shown
    return found


def example_rows(snapshot: Snapshot, rows: Sequence[int], most: int) -> list[int]:
    """Return rows spread evenly over a category, those labelled by hand first.

    Parameters
    ----------
    snapshot : Snapshot
        The labels.
    rows : sequence of int
        The rows of a category, in the order in which they were labelled.
    most : int
        Number of examples.
    """
    by_hand = [row for row in rows if snapshot.status[row] != "accepted"]
    accepted = [row for row in rows if snapshot.status[row] == "accepted"]
    wanted = min(_ACCEPTED_EACH, most - 1) if by_hand else most
    n_by_hand = min(len(by_hand), most - min(wanted, len(accepted)))
    return [*_spread(by_hand, n_by_hand), *_spread(accepted, most - n_by_hand)]


def _spread(rows: Sequence[int], most: int) -> list[int]:
    places = np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int)
    return [rows[place] for place in dict.fromkeys(places.tolist())]


def _thumbnails(snapshot: Snapshot, rows: Sequence[int]) -> Iterator[Thumbnail]:
    for row in rows:
        picture = _picture(snapshot, row)
        if picture is not None:
            name = str(snapshot.ids[row])
            text = truncate_middle(name, _LONGEST_ID)
            if snapshot.status[row] == "accepted":
                text += f" accepted {snapshot.probability[row]:.2f}"
            yield Thumbnail(picture.content, f"{_KINDS[snapshot.media.kind]} of {name}.", text)


_KINDS: Final = {"picture": "Picture", "sound": "Spectrogram", "outline": "Outline"}


def _picture(snapshot: Snapshot, row: int) -> Picture | None:
    """Return a small picture of a row; None where its file is missing or damaged."""
    if not snapshot.media.has(row):
        return None
    try:
        if snapshot.media.kind == "outline":
            return outline_picture(snapshot.media.outline(row))
        return light_picture(snapshot.media.picture(row, _SIDE), _SIDE)
    except MediaError:
        return None


def outline_picture(outline: dict[str, Any]) -> Picture:
    """Return the outline of a specimen as a picture, light on ink.

    Parameters
    ----------
    outline : dict
        As from :meth:`kernova.media.row_media.RowMedia.outline`.

    Examples
    --------
    >>> from kernova.workbench.session_report.examples import outline_picture
    >>> square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> shape = {"points": square, "border": [0, 1, 2, 3], "links": []}
    >>> outline_picture({**shape, "box": [-0.1, -0.1, 1.1, 1.1]}).media_type
    'image/png'
    """
    left, top, right, bottom = outline["box"]
    scale = _ENLARGED * _SIDE / max(right - left, bottom - top)
    corner = np.array([left + right, top + bottom]) / 2 - _ENLARGED * _SIDE / scale / 2
    points = [tuple(one) for one in ((np.array(outline["points"]) - corner) * scale).tolist()]
    image = Image.new("L", (_ENLARGED * _SIDE,) * 2, 255)
    draw = ImageDraw.Draw(image)
    border = [points[landmark] for landmark in outline["border"]]
    if len(border) > 1:
        draw.line([*border, border[0]], fill=60, width=2 * _ENLARGED)
    for one, other in outline["links"]:
        draw.line([points[one], points[other]], fill=150, width=_ENLARGED)
    for x, y in points:
        draw.ellipse([x - 5, y - 5, x + 5, y + 5], fill=0)
    return png_picture(image.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS))
