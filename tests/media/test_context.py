"""Tables for projects: features that are proposed or kept, and several files of a row."""

import importlib.util
import io

import numpy as np
import pytest
from PIL import Image

from kernova.errors import InputError, MediaError, MissingMediaError
from kernova.media.contrast import CONTRASTS, eight_bits
from kernova.media.opening import open_discovery_data, open_project_data
from kernova.media.pictures import pixel_picture, reduced_picture
from kernova.workbench.discovery import open_discovery

FISH = "fish,length,sex,caught,survey,note,secret\n" + "".join(
    f"f{row},{10 + row}.50,{'fm'[row % 2]},2024-05-{1 + row:02d},north,seen by {row},{row % 3}\n"
    for row in range(24)
)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "fish.csv").write_text(FISH)
    return tmp_path / "fish.csv"


def opened(table, **options):
    return open_project_data(
        table.with_suffix(".kernova-project"), table, id_column="fish", **options
    )


def begun(table, data):
    """Begin a project with a table as it was read."""
    project = table.with_suffix(".kernova-project")
    open_discovery(data.table, project, strategy="random").session.close()


def test_text_dates_and_constants_are_context_and_dropped_columns_are_not(table):
    data = opened(table, drop=["secret"])
    assert list(data.table.features) == ["length", "sex"]
    assert data.context.names == ("caught", "survey", "note")
    assert [one.text for one in data.context.values(1)] == ["2024-05-02", "north", "seen by 1"]
    assert data.table.notes == (
        f"Columns of {table} that are not used as features: 'caught' (dates or times), 'survey' "
        "(always north), 'note' (24 different texts in 24 rows). To use one all the same, pass "
        "keep='caught'.",
    )


def test_columns_to_show_are_as_written_and_no_features(table):
    data = opened(table, show=["secret", "length"])
    assert list(data.table.features) == ["sex"]
    assert [(one.name, one.text) for one in data.context.values(0)] == [
        ("secret", "0"), ("length", "10.50"),
    ]  # fmt: skip
    kept = opened(table, show=["length"], keep=["length"])
    assert list(kept.table.features) == ["length", "sex", "secret"]


def test_an_old_project_keeps_every_column_as_a_feature(table):
    strict = open_discovery_data(table, id_column="fish", drop=["caught", "note"])
    begun(table, strict)
    data = opened(table, drop=["caught", "note"])
    assert list(data.table.features) == ["length", "sex", "survey", "secret"]
    assert data.notes == ["Its columns are read as they were when the project was begun."]
    # Options that were forgotten, or added, make no other project of it.
    assert list(opened(table).table.features) == ["length", "sex", "survey", "secret"]
    shown = opened(table, show=["secret"])
    assert (list(shown.table.features)[-1], shown.context.names) == ("secret", ("secret",))


def test_a_project_keeps_its_features_when_other_columns_are_shown(table):
    begun(table, opened(table, show=["secret"]))
    data = opened(table)
    assert list(data.table.features) == ["length", "sex"]
    assert "secret" in data.context.names


def test_another_table_is_not_taken_for_the_project(table):
    begun(table, opened(table))
    table.write_text(FISH.replace("10.50", "10.75"))
    data = opened(table)
    with pytest.raises(InputError, match="belongs to another table: the row 'f0' has other values"):
        begun(table, data)


# --- several files of a row ------------------------------------------------------------------


def grey(path, level):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pixel_picture(np.full((8, 8), level)).content)


def level_of(picture):
    return int(np.asarray(Image.open(io.BytesIO(picture.content)))[0, 0])


def test_files_that_begin_with_an_id_or_are_in_its_folder_belong_to_the_row(tmp_path, table):
    pictures = tmp_path / "p"
    for number, name in enumerate(
        ["f1.png", "f1_10.png", "f1_2.png", "f10-red.png", "f2/front.png", "f2/back.png", "fx.png"]
    ):
        grey(pictures / name, number / 10)
    media = opened(table, images=pictures).media
    assert media.captions(1) == ["f1", "f1_2", "f1_10"]
    assert media.captions(10) == ["f10-red"]
    assert media.captions(2) == ["back", "front"]
    assert media.captions(3) == []
    assert [level_of(media.picture(1, 32, file)) for file in range(3)] == [0, 51, 26]
    with pytest.raises(MissingMediaError) as caught:
        media.picture(1, 32, 3)
    assert str(caught.value) == "Row 'f1' has no file 3; its files are counted from 0 to 2."


def test_pictures_come_from_several_sources(tmp_path, table):
    grey(tmp_path / "light" / "f1.png", 0.2)
    grey(tmp_path / "dark" / "f1.png", 0.4)
    grey(tmp_path / "dark" / "f2.png", 0.6)
    media = opened(table, images=[tmp_path / "light", tmp_path / "dark"]).media
    assert media.captions(1) == ["light/f1", "dark/f1"]
    assert [level_of(media.picture(1, 32, file)) for file in (0, 1)] == [51, 102]
    assert level_of(media.picture(2, 32)) == 153


# --- contrast and FITS -----------------------------------------------------------------------


@pytest.mark.parametrize("contrast", CONTRASTS)
def test_contrast_keeps_the_order_of_values(contrast):
    values = np.random.default_rng(0).exponential(size=(40, 50))
    values[0, :2] = np.nan, np.inf
    shown = eight_bits(values, contrast)
    order = np.argsort(values.ravel()[2:])
    assert (np.diff(shown.ravel()[2:][order].astype(int)) >= 0).all()
    assert shown.max() == 255


def test_dark_values_get_more_of_the_range():
    values = np.linspace(0, 1, 1000).reshape(20, 50)
    means = [eight_bits(values, contrast).mean() for contrast in ("linear", "asinh", "log")]
    assert means == sorted(means)


def test_fits_needs_astropy_and_the_message_says_so():
    if importlib.util.find_spec("astropy") is not None:
        pytest.skip("astropy is installed")
    with pytest.raises(MediaError) as caught:
        reduced_picture(b"SIMPLE", "m31.fits", 64)
    assert str(caught.value) == (
        "m31.fits is a FITS file, which is read by astropy, and astropy is not installed: pip "
        "install astropy, or save the pictures as PNG or TIFF."
    )


@pytest.mark.skipif(importlib.util.find_spec("astropy") is None, reason="astropy is not installed")
@pytest.mark.parametrize("is_packed", [False, True])
def test_fits_pictures_are_upright_and_scaled(is_packed):
    from astropy.io import fits

    values = np.zeros((30, 40), dtype=np.float32)
    values[2, 3] = 100.0  # near the bottom left
    values[0, 0] = np.nan
    image = fits.CompImageHDU(values) if is_packed else fits.ImageHDU(values)
    stream = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), image]).writeto(stream)
    name = "m31.fits.fz" if is_packed else "m31.fit"
    picture = reduced_picture(stream.getvalue(), name, 64, "asinh")
    pixels = np.asarray(Image.open(io.BytesIO(picture.content)))
    assert pixels.shape == (30, 40)
    assert np.unravel_index(pixels.argmax(), pixels.shape) == (27, 3)
    with pytest.raises(MediaError) as caught:
        reduced_picture(stream.getvalue()[:3000], name, 64)
    assert "m31" in str(caught.value)


# --- sounds ----------------------------------------------------------------------------------


def test_spectrograms_have_the_wanted_frequencies_and_contrast(tmp_path, table):
    soundfile = pytest.importorskip("soundfile")
    from kernova.media.sounds import SpectrogramView

    (tmp_path / "s").mkdir()
    tone = np.sin(2 * np.pi * 3000 * np.arange(8000) / 16000)
    for name in ("f1", "f1_b"):
        soundfile.write(tmp_path / "s" / f"{name}.wav", tone, 16000)
    media = opened(table, audio=tmp_path / "s").media
    assert media.captions(1) == ["f1", "f1_b"]
    drawn = media.spectrogram(1, 1, SpectrogramView(2000, 4000, "high"))
    assert (drawn.lowest_hz, drawn.highest_hz) == (2000, 4000)
    pixels = np.asarray(Image.open(io.BytesIO(drawn.png)).convert("L")).astype(int)
    # In the middle of 2 to 4 kHz.
    assert abs(pixels.mean(axis=1).argmax() - len(pixels) / 2) < 4
    with pytest.raises(MediaError) as caught:
        media.spectrogram(1, 0, SpectrogramView(4000, 2000))
    assert str(caught.value) == (
        "The lowest frequency must be below the highest; got 4,000 Hz and 2,000 Hz."
    )


def test_a_column_to_show_that_is_not_there_is_named(table):
    with pytest.raises(InputError) as caught:
        opened(table, show=["caugt"])
    assert str(caught.value) == (
        f"{table} has no column 'caugt' to show. Did you mean 'caught'? Its columns are 'fish', "
        "'length', 'sex', 'caught', 'survey', 'note', 'secret'."
    )
