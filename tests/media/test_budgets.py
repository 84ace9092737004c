"""Files of landmarks, annotations, sounds and pictures: damaged or forged, they stay cheap."""

import pytest

from tests.media.inputs import bombs, damaged, good_files, large_pictures
from tests.memory import check_damaged, readings

N_DAMAGED = 1_500


def test_good_files_are_read(tmp_path):
    paths = [tmp_path / name for name in good_files()]
    for path, content in zip(paths, good_files().values(), strict=True):
        path.write_bytes(content)
    assert {reading.path: reading.message for reading in readings("media", paths)} == dict.fromkeys(
        map(str, paths), ""
    )


def test_large_photos_and_masks_are_read_in_little_memory(tmp_path):
    paths = [tmp_path / name for name in large_pictures()]
    for path, make in zip(paths, large_pictures().values(), strict=True):
        path.write_bytes(make())
    found = readings("media", paths)
    assert {reading.path: reading.message for reading in found} == dict.fromkeys(
        map(str, paths), ""
    )
    assert [fault for reading in found for fault in reading.faults()] == []


@pytest.mark.soak
def test_damaged_files_take_little_memory_and_time(tmp_path, long_bar):
    check_damaged("media", tmp_path, good_files(), damaged, long_bar(N_DAMAGED))


@pytest.mark.soak
def test_small_files_that_stand_for_much_take_little_memory_and_time(tmp_path, long_bar):
    paths = []
    for name, make in list(bombs().items())[:: 40 // long_bar(40) // 2 or 1]:
        paths.append(tmp_path / name)
        paths[-1].write_bytes(make())
    found = readings("media", paths)
    assert len(found) == len(paths)
    assert [fault for reading in found for fault in reading.faults()] == []
