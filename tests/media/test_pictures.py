"""Pictures for the page: decoded, reduced, and encoded without metadata."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import ExifTags, Image

from kernova.errors import MediaError
from kernova.media.pictures import pixel_picture, reduced_picture
from tests.media import messages

RNG = np.random.default_rng(0)
COLOURS = RNG.integers(0, 256, (60, 90, 3), dtype=np.uint8)


def encoded(image, kind, **options):
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def shown(picture):
    return Image.open(io.BytesIO(picture.content))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM", "GIF", "WEBP", "JPEG"])
def test_all_formats_are_decoded_reduced_and_encoded_again(kind):
    picture = reduced_picture(encoded(Image.fromarray(COLOURS), kind), "a", 32)
    assert picture.media_type == ("image/jpeg" if kind == "JPEG" else "image/png")
    assert shown(picture).size == (32, 21)


def test_a_small_picture_keeps_every_pixel():
    picture = reduced_picture(encoded(Image.fromarray(COLOURS), "BMP"), "a.bmp", 256)
    np.testing.assert_array_equal(np.asarray(shown(picture)), COLOURS)


def test_a_large_lossless_picture_is_sent_as_jpeg():
    large = Image.fromarray(COLOURS).resize((1500, 1000))
    picture = reduced_picture(encoded(large, "PNG"), "a.png", 1024)
    assert picture.media_type == "image/jpeg"
    assert shown(picture).size == (1024, 683)


def test_sixteen_bits_are_scaled_from_lowest_to_highest():
    deep = np.array([[1000, 1255], [1510, 2020]], dtype=np.uint16)
    picture = reduced_picture(encoded(Image.fromarray(deep), "TIFF"), "cells.tif", 64)
    np.testing.assert_array_equal(np.asarray(shown(picture)), [[0, 64], [128, 255]])


@pytest.mark.parametrize("size", [(1201, 907), (700, 1999), (3000, 1)])
def test_large_masks_are_averaged_as_grey_pictures_are(size):
    disc = Image.radial_gradient("L").resize(size).point(lambda grey: 255 * (grey > 100), "1")
    got, grey = (
        np.asarray(shown(reduced_picture(encoded(mask, "PNG"), "m.png", 64)), dtype=int)
        for mask in (disc, disc.convert("L"))
    )
    assert got.shape == grey.shape
    assert np.abs(got - grey).mean() < 1


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_webp_pictures_keep_their_pixels_and_are_turned(mode):
    colours = Image.fromarray(np.dstack([COLOURS, COLOURS[..., 0]])[..., : len(mode)])
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    content = encoded(colours, "WEBP", lossless=True, exact=True, exif=exif)
    turned = colours.transpose(Image.Transpose.ROTATE_270)
    np.testing.assert_array_equal(shown(reduced_picture(content, "a.webp", 256)), turned)


@pytest.mark.parametrize(
    ("values", "grey"),
    [
        ([[np.nan, 0], [1, 2]], [[0, 0], [128, 255]]),
        ([[-np.inf, 0], [1, np.inf]], [[0, 0], [255, 255]]),
        ([[np.nan, np.inf]], [[0, 0]]),
        ([[3, 3]], [[0, 0]]),
        ([[-3e38, 3e38]], [[0, 255]]),
    ],
)
def test_nan_pixels_are_dark_and_infinite_ones_clipped(values, grey):
    image = Image.fromarray(np.array(values, dtype=np.float32))
    picture = reduced_picture(encoded(image, "TIFF"), "sky.tif", 64)
    np.testing.assert_array_equal(np.asarray(shown(picture)), grey)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I", "F"])
def test_every_mode_of_pixels_can_be_shown(mode):
    image = Image.fromarray(COLOURS).convert(mode)
    kind = "TIFF" if mode in ("CMYK", "I", "F") else "PNG"
    picture = reduced_picture(encoded(image, kind), "a", 32)
    assert shown(picture).mode in ("L", "RGB", "RGBA")


def test_a_picture_is_rotated_by_its_exif_data_which_is_removed():
    image = Image.fromarray(COLOURS)
    facts = Image.Exif()
    facts[0x0112] = 6  # to be turned by a quarter
    facts[0x010E] = "<script>alert(1)</script>"
    picture = reduced_picture(encoded(image, "JPEG", exif=facts, comment=b"secret"), "a.jpg", 128)
    assert shown(picture).size == (60, 90)
    assert b"script" not in picture.content
    assert b"secret" not in picture.content
    assert not shown(picture).getexif()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no picture at all",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"<html><script>alert(1)</script></html>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n",
        encoded(Image.fromarray(COLOURS), "PNG")[:2000],
        encoded(Image.fromarray(COLOURS), "JPEG")[:100],
    ],
)
def test_other_files_are_rejected(content):
    with pytest.raises(MediaError) as rejected:
        reduced_picture(content, "wild/a.png", 64)
    assert str(rejected.value) == messages.NOT_A_PICTURE.format(name="wild/a.png")


def vast_png(width, height):
    def chunk(kind, content):
        ends = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + ends

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def test_too_many_pixels_are_rejected_by_the_header():
    with pytest.raises(MediaError) as rejected:
        reduced_picture(vast_png(10_000, 5_001), "vast.png", 64)
    assert str(rejected.value) == messages.MANY_PIXELS


@pytest.mark.parametrize("side", [10_000, 60_000])
def test_decompression_bombs_are_rejected(side):
    with pytest.raises(MediaError, match=messages.TOO_MANY_PIXELS):
        reduced_picture(vast_png(side, side), "vast.png", 64)


def test_numbers_are_drawn_grey_and_enlarged_smoothly():
    numbers = [[0.0, 0.5], [1.0, 2.0]]
    np.testing.assert_array_equal(shown(pixel_picture(numbers)), [[0, 128], [255, 255]])
    large = np.asarray(shown(pixel_picture(numbers, 9)), dtype=int)
    assert large.shape == (18, 18)
    assert large[0, 0] < 10 < large[0, -1] < 150 < large[-1].min()
    assert np.abs(np.diff(large, axis=0)).max() < 60  # squares would jump by 255
