"""Pictures reach the page as pixels only, however they come."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from kernova.errors import MediaError
from kernova.media.pictures import pixel_picture, reduced_picture

RNG = np.random.default_rng(0)
COLOURS = RNG.integers(0, 256, (60, 90, 3), dtype=np.uint8)


def encoded(image, kind, **options):
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def shown(picture):
    return Image.open(io.BytesIO(picture.content))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM", "GIF", "WEBP", "JPEG"])
def test_all_kinds_are_decoded_reduced_and_written_anew(kind):
    picture = reduced_picture(encoded(Image.fromarray(COLOURS), kind), "a", 32)
    assert picture.media_type == ("image/jpeg" if kind == "JPEG" else "image/png")
    assert shown(picture).size == (32, 21)


def test_a_small_picture_keeps_every_pixel():
    picture = reduced_picture(encoded(Image.fromarray(COLOURS), "BMP"), "a.bmp", 256)
    np.testing.assert_array_equal(np.asarray(shown(picture)), COLOURS)


def test_a_large_picture_without_loss_is_sent_as_jpeg():
    large = Image.fromarray(COLOURS).resize((1500, 1000))
    picture = reduced_picture(encoded(large, "PNG"), "a.png", 1024)
    assert picture.media_type == "image/jpeg"
    assert shown(picture).size == (1024, 683)


def test_sixteen_bits_are_stretched_from_lowest_to_highest():
    deep = np.array([[1000, 1255], [1510, 2020]], dtype=np.uint16)
    picture = reduced_picture(encoded(Image.fromarray(deep), "TIFF"), "cells.tif", 64)
    np.testing.assert_array_equal(np.asarray(shown(picture)), [[0, 64], [128, 255]])


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
def test_pixels_that_are_no_numbers_are_dark_and_infinite_ones_as_the_nearest(values, grey):
    image = Image.fromarray(np.array(values, dtype=np.float32))
    picture = reduced_picture(encoded(image, "TIFF"), "sky.tif", 64)
    np.testing.assert_array_equal(np.asarray(shown(picture)), grey)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I", "F"])
def test_every_mode_of_pixels_can_be_shown(mode):
    image = Image.fromarray(COLOURS).convert(mode)
    kind = "TIFF" if mode in ("CMYK", "I", "F") else "PNG"
    picture = reduced_picture(encoded(image, kind), "a", 32)
    assert shown(picture).mode in ("L", "RGB", "RGBA")


def test_a_picture_is_turned_as_its_camera_says_and_says_no_more():
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
def test_what_is_no_picture_is_refused_by_name(content):
    with pytest.raises(MediaError) as refused:
        reduced_picture(content, "wild/a.png", 64)
    assert str(refused.value) == (
        "wild/a.png cannot be read as a picture; it is damaged, or none of PNG, JPEG, GIF, WebP, "
        "BMP, TIFF and PPM. Save it anew."
    )


def vast_png(width, height):
    def chunk(kind, content):
        ends = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + ends

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def test_vast_pictures_are_refused_by_their_header():
    with pytest.raises(MediaError) as refused:
        reduced_picture(vast_png(10_000, 5_001), "vast.png", 64)
    assert str(refused.value) == (
        "vast.png has 10,000 × 5,001 pixels; pictures of up to 50 megapixels are shown. Make it "
        "smaller."
    )


@pytest.mark.parametrize("side", [10_000, 60_000])
def test_so_do_those_that_the_decoder_warns_of_or_refuses_itself(side):
    with pytest.raises(MediaError, match=r"^vast\.png has .* pixels; pictures of up to 50 mega"):
        reduced_picture(vast_png(side, side), "vast.png", 64)


def test_numbers_are_drawn_grey_and_enlarged_smoothly():
    numbers = [[0.0, 0.5], [1.0, 2.0]]
    np.testing.assert_array_equal(shown(pixel_picture(numbers)), [[0, 128], [255, 255]])
    large = np.asarray(shown(pixel_picture(numbers, 9)), dtype=int)
    assert large.shape == (18, 18)
    assert large[0, 0] < 10 < large[0, -1] < 150 < large[-1].min()
    assert np.abs(np.diff(large, axis=0)).max() < 60  # squares would jump by 255
