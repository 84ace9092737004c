"""Descriptors of pictures against their literal definitions, and what they do not depend on."""

import numpy as np
import pytest

from kernova.images.colours import colour_descriptors, colour_names, lab_pictures
from kernova.images.descriptors import (
    block_numbers,
    descriptor_blocks,
    descriptor_names,
    picture_descriptors,
)
from kernova.images.gradients import (
    SCALES,
    edge_descriptors,
    edge_names,
    turned_edge_descriptors,
    turned_edge_names,
)
from kernova.images.regions import ring_colour_names, ring_colours
from kernova.images.texture import texture_descriptors, texture_names
from tests.oracles import images as literal

SHAPES = [(12, 12), (9, 16), (17, 8)]


def noisy(height, width, seed=0, n=1):
    """Return pictures with smooth parts and noise, some of them flat."""
    random = np.random.default_rng([seed, height, width])
    coarse = random.integers(0, 256, size=(n, -(-height // 4), -(-width // 4), 3))
    pixels = np.repeat(np.repeat(coarse, 4, axis=1), 4, axis=2)[:, :height, :width]
    pixels[:, : height // 2] += random.integers(-20, 21, size=(n, height // 2, width, 3))
    return np.clip(pixels, 0, 255).astype(np.uint8)


def lightness_of(pixels):
    return lab_pictures(pixels).lightness


def test_colours_agree_with_their_definition():
    pixels = noisy(9, 16)
    found = lab_pictures(pixels)
    for y in range(9):
        for x in range(16):
            expected = literal.lab(*pixels[0, y, x].tolist())
            assert [channel[0, y, x] for channel in found] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_edges_agree_with_their_definition(shape):
    lightness = lightness_of(noisy(*shape))
    picture = lightness[0].tolist()
    by_cells = [
        number
        for sigma, n_cells in zip(literal.SCALES, (4, 4, 2), strict=True)
        for number in literal.celled_edges(picture, sigma, n_cells)
    ]
    np.testing.assert_allclose(edge_descriptors(lightness)[0], by_cells, atol=1e-9)
    by_rings = [n for sigma in literal.SCALES for n in literal.turned_edges(picture, sigma)]
    np.testing.assert_allclose(turned_edge_descriptors(lightness)[0], by_rings, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_texture_agrees_with_its_definition(shape):
    lightness = lightness_of(noisy(*shape))
    picture = lightness[0].tolist()
    expected = []
    for radius in literal.SCALES:
        expected += literal.rotation_invariant_patterns(picture, radius)
        expected += literal.contrast(picture, int(radius))
    found = texture_descriptors(lightness, rotation_invariant=True)
    np.testing.assert_allclose(found[0], expected, atol=1e-9)


def test_patterns_with_angles_agree_with_their_definition():
    lightness = lightness_of(noisy(12, 12))
    found = dict(
        zip(
            texture_names(rotation_invariant=False),
            texture_descriptors(lightness, rotation_invariant=False)[0],
            strict=True,
        )
    )
    counts = literal.uniform_patterns(lightness[0].tolist(), 2.0)
    for key, count in counts.items():
        if key == "mixed":
            name = "mixed points"
        else:
            n, start = key
            begin = "" if start is None or n == 8 else f" from {45 * start}°"
            name = f"{n} of 8 points lighter{begin}"
        assert found[f"texture: {name}, medium"] == pytest.approx(np.sqrt(count / 144), abs=1e-9)
    assert sum(count > 0 for count in counts.values()) > 10


def test_rings_agree_with_their_definition():
    pictures = lab_pictures(noisy(16, 16))
    found = dict(zip(ring_colour_names(), ring_colours(pictures)[0], strict=True))
    picture = pictures.lightness[0].tolist()
    for number in (1, 2, 3, 4):
        for ring in range(6):
            name = f"lobes of {number} in ring {ring + 1} of 6"
            expected = literal.lobes(picture, ring, number)
            assert found[name] == pytest.approx(expected, abs=1e-9)
    inside = [
        pictures.a[0, y, x]
        for y in range(16)
        for x in range(16)
        if literal.ring_of(picture, y, x, 6) == 2
    ]
    assert found["green to red in ring 3 of 6"] == pytest.approx(np.mean(inside) / 100, abs=1e-9)


def test_names_belong_to_descriptors():
    pixels = noisy(32, 32)
    for rotation_invariant in (False, True):
        names = descriptor_names(rotation_invariant=rotation_invariant)
        rows = picture_descriptors(pixels, rotation_invariant=rotation_invariant)
        assert len(set(names)) == len(names) == rows.shape[1]
        assert len(block_numbers(rotation_invariant=rotation_invariant)) == len(names)
        kinds = [block.name for block in descriptor_blocks(rotation_invariant=rotation_invariant)]
        assert kinds == ["colour", "layout", "edges", "texture"]
    assert {"hue 3 of 8", "mean of lightness"} < set(colour_names())
    assert "edges at 45°, coarse, row 1, column 2 of 2" in edge_names()
    assert "edges at 90° to the radius, fine, ring 1 of 4" in turned_edge_names()
    assert list(SCALES) == ["fine", "medium", "coarse"]


def test_one_picture_is_described_like_many():
    pixels = noisy(16, 24, n=5)
    for rotation_invariant in (False, True):
        together = picture_descriptors(pixels, rotation_invariant=rotation_invariant)
        for row in range(5):
            alone = picture_descriptors(
                pixels[row : row + 1], rotation_invariant=rotation_invariant
            )
            np.testing.assert_allclose(alone[0], together[row], atol=1e-12)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_quarter_turns_change_nothing_of_invariant_descriptors(quarters):
    pixels = noisy(32, 32, n=3)
    turned = np.rot90(pixels, quarters, axes=(1, 2))
    for rotation_invariant, is_same in ((True, True), (False, False)):
        one, other = (
            picture_descriptors(of, rotation_invariant=rotation_invariant)
            for of in (pixels, turned)
        )
        assert np.allclose(one, other, atol=1e-9) is is_same


def spiral(sense, turn, side=64):
    y, x = (side - 1) / 2 - np.mgrid[:side, :side]
    radius, angle = np.hypot(y, x), np.arctan2(y, -x) - turn
    light = np.exp(-((radius / 16) ** 2)) * (1 + np.cos(2 * (angle - sense * radius / 8)))
    return np.repeat((120 * light).astype(np.uint8)[None, ..., None], 3, axis=3)


def test_any_turn_changes_little_and_a_mirror_image_much():
    """Spirals of both senses differ, however they are turned."""
    left, turned, right = (
        turned_edge_descriptors(lightness_of(spiral(sense, turn)))
        for sense, turn in ((1, 0.0), (1, 0.6), (-1, 0.0))
    )
    assert np.linalg.norm(left - turned) < 0.1 * np.linalg.norm(left - right)


def test_greys_have_no_hue():
    grey = np.repeat(noisy(16, 16)[..., :1], 3, axis=3)
    found = dict(zip(colour_names(), colour_descriptors(lab_pictures(grey))[0], strict=True))
    assert max(abs(value) for name, value in found.items() if name.startswith("hue")) < 0.02
    assert found["chroma 1 of 4"] == pytest.approx(1, abs=1e-3)


def test_a_picture_of_one_colour_has_finite_descriptors():
    for value in (0, 128, 255):
        flat = np.full((1, 8, 8, 3), value, dtype=np.uint8)
        for rotation_invariant in (False, True):
            rows = picture_descriptors(flat, rotation_invariant=rotation_invariant)
            assert np.isfinite(rows).all()
