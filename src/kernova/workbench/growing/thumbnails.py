"""Small pictures of rows for a printed page: photographs, spectrograms and outlines as PNG."""

import io
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw

from kernova.errors import KernovaError
from kernova.media.pictures import png_picture
from kernova.media.row_media import RowMedia

_SIDE: Final = 160
_LINE, _POINT = (120, 120, 120), (200, 70, 20)


def thumbnail_png(media: RowMedia, row: int, side: int = _SIDE) -> bytes | None:
    """Return a small picture of a row, or None if it has none that can be read.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.row_media import RowMedia, pixel_pictures
    >>> from kernova.workbench.growing.thumbnails import thumbnail_png
    >>> media = pixel_pictures(["a"], np.arange(64.0)[None])
    >>> thumbnail_png(media, 0)[1:4], thumbnail_png(RowMedia(["a"]), 0)
    (b'PNG', None)
    """
    if not media.has(row):
        return None
    try:
        if media.kind == "outline":
            return _outline(media.outline(row), side)
        is_sound = media.kind == "sound"
        content = media.spectrogram(row).png if is_sound else media.picture(row, side).content
    except KernovaError:
        return None
    with Image.open(io.BytesIO(content)) as image:
        small = image.convert("RGB")
    small.thumbnail((2 * side, side))
    return png_picture(small).content


def _outline(outline: dict[str, Any], side: int) -> bytes:
    left, top, right, bottom = outline["box"]
    scale = side / max(right - left, bottom - top, 1e-9)
    points = (np.array(outline["points"]) - [left, top]) * scale
    image = Image.new("RGB", (side, side), "white")
    pen = ImageDraw.Draw(image)
    border = outline["border"]
    around = [*zip(border, [*border[1:], *border[:1]], strict=True)] if border else []
    for one, other in [*around, *outline["links"]]:
        pen.line([*points[one], *points[other]], fill=_LINE, width=1)
    for x, y in points:
        pen.ellipse([x - 2, y - 2, x + 2, y + 2], fill=_POINT)
    return png_picture(image).content
