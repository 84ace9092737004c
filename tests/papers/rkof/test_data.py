"""Real data of the RKOF paper: reading, scaling, and sets that are not available."""

import gzip
import urllib.request

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.papers.claims import LabelledTable
from kernova.papers.rkof.data import KDD_CATEGORIES, SOURCES, load_sets, rows_of_the_paper
from tests.papers import messages
from tests.papers.stand_ins import write_rkof_sets


def test_sets_are_scaled_and_cut_into_subsets(tmp_path):
    tables = write_rkof_sets(tmp_path)
    loaded = load_sets(tmp_path, list(SOURCES))
    by_name = {one.name: one for one in loaded.sets}
    assert list(by_name) == [
        "kdd_u2r",
        "kdd_u2r_idf",
        "mammography",
        "ann_thyroid",
        *(f"shuttle {label}" for label in (2, 3, 5, 6, 7)),
    ]
    mammography = by_name["mammography"]
    np.testing.assert_allclose(mammography.X.min(axis=0), 0)
    np.testing.assert_allclose(mammography.X.max(axis=0), 1)
    assert mammography.is_outlier.nonzero()[0].tolist() == [150, 151, 152, 153, 154]
    assert max(mammography.numbers) == 154  # all others
    assert (mammography.chosen_k, mammography.largest_k) == (110, 154)
    np.testing.assert_allclose(by_name["ann_thyroid"].X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(by_name["ann_thyroid"].X.std(axis=0), 1)
    raw = tables["shuttle"].drop(columns="label").to_numpy()
    np.testing.assert_array_equal(by_name["shuttle 5"].X, np.vstack([raw[:120], raw[129:132]]))
    kdd = by_name["kdd_u2r"]
    assert kdd.X.shape == (134, 34 + 2 * 7)
    np.testing.assert_array_equal(kdd.X[:, 34:].sum(axis=1), 7)
    assert set(np.unique(kdd.X[:, 34:])) == {0, 1}
    rare = by_name["kdd_u2r_idf"]
    numbers = tables["kdd_u2r"].drop(columns=["label", *KDD_CATEGORIES])
    logs = np.log1p(np.maximum(numbers.to_numpy(float), 0))
    spans = np.where(np.ptp(logs, axis=0) > 0, np.ptp(logs, axis=0), 1)
    np.testing.assert_allclose(rare.X[:, :34], (logs - logs.min(axis=0)) / spans, atol=1e-12)
    n_with = kdd.X[:, 34:].sum(axis=0)
    np.testing.assert_allclose(rare.X[:, 34:].max(axis=0), np.log(134 / n_with))
    assert (rare.is_variant, rare.largest_k) == (True, None)
    assert len(loaded.notes) == 5
    assert loaded.notes[2] == messages.OTHER_ROWS


def test_files_of_the_uci_repository_give_the_same_sets(tmp_path):
    raw, parquet = tmp_path / "raw", tmp_path / "parquet"
    raw.mkdir()
    parquet.mkdir()
    tables = write_rkof_sets(parquet)
    for name, file in (("ann_thyroid", "ann-test.data"), ("shuttle", "shuttle.tst")):
        table = tables[name]
        if name == "ann_thyroid":  # the file also has a class that the paper leaves out
            table = pd.concat([table, table.head(2).assign(label=2)])
        table.to_csv(raw / file, sep=" ", header=False, index=False, lineterminator=" \n")
    kdd = tables["kdd_u2r"].copy()
    for number, name in zip((1, 2, 3, 6, 11, 20, 21), KDD_CATEGORIES, strict=True):
        kdd.insert(number, name, kdd.pop(name))
    attacks = ["normal."] * 130 + ["perl.", "xterm.", "ps.", "httptunnel."]
    kdd["label"] = attacks
    kdd = pd.concat([kdd, kdd.head(3).assign(label="smurf.")])
    with gzip.open(raw / "corrected.gz", "wt") as file:
        kdd.to_csv(file, header=False, index=False)

    names = ["kdd_u2r", "ann_thyroid", "shuttle"]
    from_raw = load_sets(raw, names).sets
    from_parquet = load_sets(parquet, names).sets
    assert [one.name for one in from_raw] == [one.name for one in from_parquet]
    for ours, theirs in zip(from_raw, from_parquet, strict=True):
        np.testing.assert_allclose(ours.X, theirs.X, rtol=1e-12)
        np.testing.assert_array_equal(ours.is_outlier, theirs.is_outlier)


def test_sets_missing_from_the_folder_are_left_out_with_their_address(tmp_path):
    write_rkof_sets(tmp_path)
    for name in ("shuttle_test", "mammography"):
        (tmp_path / f"{name}.parquet").unlink()
    loaded = load_sets(tmp_path, ["mammography", "ann_thyroid", "shuttle"])
    assert [one.name for one in loaded.sets] == ["ann_thyroid"]
    assert loaded.notes[0] == messages.NO_MAMMOGRAPHY.format(folder=tmp_path)
    assert loaded.notes[2] == messages.NO_SHUTTLE.format(folder=tmp_path)


def test_without_a_network_each_set_is_left_out_with_its_address(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))  # nothing fetched before
    for name in ("http_proxy", "https_proxy"):  # nobody listens there
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    # urllib reads the proxies once: later tests would be sent there, too.
    monkeypatch.setattr(urllib.request, "_opener", None)
    loaded = load_sets(None, ["mammography", "ann_thyroid"])
    assert loaded.sets == ()
    assert loaded.notes == messages.NO_NETWORK


@pytest.mark.parametrize("part", ["last", "first", "all", "none"])
def test_of_more_rows_than_in_the_paper_those_with_its_labels_are_used(part):
    source = SOURCES["mammography"]._replace(counts={"-1": 4, "1": 2})
    wanted, others = ["-1", "1", "-1", "-1", "1", "-1"], ["1", "1", "1", "-1", "1"]
    labels = {
        "last": others + wanted,
        "first": wanted + others,
        "all": wanted,
        "none": [*others, "-1", *others],
    }[part]
    table = LabelledTable(pd.DataFrame({"x": range(len(labels))}), pd.Series(labels))
    kept = rows_of_the_paper(source, table)
    assert kept.labels.tolist() == (labels if part == "none" else wanted)
    assert kept.features["x"].iloc[0] == (5 if part == "last" else 0)


def test_rows_without_the_labels_of_the_paper_are_rejected(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "label": [1, 1]}).to_parquet(tmp_path / "mammography.parquet")
    with pytest.raises(InputError) as caught:
        load_sets(tmp_path, ["mammography"])
    assert str(caught.value) == messages.NO_LABELS
