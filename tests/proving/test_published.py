"""Published counts, and the sets they belong to."""

import os
from pathlib import Path

import numpy as np
import pytest

from kernova.errors import InputError
from kernova.proving.baselines import BASELINES
from kernova.proving.published import PUBLISHED, SHAPES, published_sets


def test_every_published_strategy_is_a_baseline():
    assert set(PUBLISHED) == set(SHAPES)
    for counts in PUBLISHED.values():
        assert set(counts) <= set(BASELINES)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"ecoli needs the file .*ecoli\.parquet"):
        published_sets(tmp_path, 0)


@pytest.mark.skipif("KERNOVA_DATA" not in os.environ, reason="needs KERNOVA_DATA")
def test_rebuilt_sets_have_the_published_sizes():
    folder = Path(os.environ["KERNOVA_DATA"])
    if not (folder / "rare_categories").is_dir():
        pytest.skip("needs the tables with rare categories")
    for name, one in published_sets(folder, 0).items():
        n_rows, n_columns, n_classes, smallest = SHAPES[name]
        sizes = np.unique(one.labels, return_counts=True)[1]
        assert one.X.shape == (n_rows, n_columns)
        assert len(sizes) == n_classes
        assert sizes.min() / n_rows == pytest.approx(smallest, abs=5e-5)
