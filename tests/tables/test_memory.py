"""Tables from elsewhere: small files that stand for huge ones, and damaged ones, stay cheap."""

import pytest

from tests.memory import readings

from .bombs import damaged, good_files

N_DAMAGED = 1_500


def _bomb_faults(found):
    return [fault for reading in found for fault in reading.faults()]


@pytest.mark.soak
def test_damaged_files_take_little_memory_and_time(tmp_path, long_bar):
    good = sorted(good_files().items())
    paths = []
    for seed in range(long_bar(N_DAMAGED)):
        name, content = good[seed % len(good)]
        paths.append(tmp_path / f"{seed}-{name}")
        paths[-1].write_bytes(damaged(content, seed))

    found = readings("table", paths)

    assert len(found) == len(paths)
    assert _bomb_faults(found) == []
    print(
        f"{len(found)} damaged tables: peak {max(r.peak for r in found) / 1e6:.0f} MB, "
        f"{max(r.seconds for r in found):.2f} s; {sum(r.kind != '' for r in found)} rejected"
    )
