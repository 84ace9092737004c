"""Preparation cache: results are restored to the last bit, or computed again."""

import os
import pickle
import shutil
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from kernova import CategoryDiscovery
from kernova.discover.preparation_cache import prepare
from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 3)), rng.normal(7, 0.3, size=(20, 3))])
    return np.concatenate([X, X[:7]])  # with duplicates


def started(X, strategy=DEFAULT_STRATEGY, seed=0):
    return CategoryDiscovery(strategy, random_state=seed).start(X)


def asked(session, n=30):
    """Answer some questions; return all parts of each."""
    seen = []
    for _ in range(n):
        question = session.next_question()
        seen.append(
            (
                question.row,
                question.members.tolist(),
                question.reason,
                dict(question.evidence),
                question.alternatives,
            )
        )
        session.answer("far" if session.preparation_.X[question.row, 0] > 4 else "near")
    return seen


def forbid_computing(monkeypatch):
    """Make every costly step an error."""

    def computed(*_, **__):
        raise AssertionError("computed again")

    for name in (
        "kernova.discover.strategies.novelty_density.spacing_of",
        "kernova.discover.strategies.novelty_groups.strategy.spacing_from",
        "kernova.discover.strategies.novelty_groups.strategy.group_tree",
        "kernova.discover.strategies.nndm.density_scales",
        "kernova.discover.strategies.interleave.first_mixture",
        "kernova.cluster.hierarchical_mean_shift.HierarchicalMeanShift.fit",
        "kernova.discover.preparation.standardized_rows",
        "kernova.discover.preparation.neighbor_graph",
    ):
        monkeypatch.setattr(name, computed)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "random"])
def test_questions_are_the_same_with_and_without_the_file(rows, strategy, tmp_path, monkeypatch):
    cache = tmp_path / "rows.cache"
    expected = asked(started(rows, strategy))
    assert not prepare(started(rows, strategy), cache)
    forbid_computing(monkeypatch)
    session = started(rows, strategy)
    assert prepare(session, cache)
    assert asked(session) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["rows.cache"]


def test_nothing_is_written_if_nothing_is_computed(rows, tmp_path):
    assert not prepare(started(rows, "random"), tmp_path / "rows.cache")
    assert list(tmp_path.iterdir()) == []


def test_without_a_file_everything_is_computed(rows):
    session = started(rows)
    assert not prepare(session, None)
    assert session.next_question() is not None


@pytest.fixture(scope="module")
def whole(rows, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache") / "rows.cache"
    prepare(started(rows), cache, key="fingerprint")
    return cache


def test_another_table_strategy_seed_or_key_is_not_restored(rows, whole, tmp_path):
    others = [
        (started(rows + 1e-9), "fingerprint"),
        (started(rows[:, ::-1]), "fingerprint"),
        (started(rows, "nndm"), "fingerprint"),
        (started(rows, seed=1), "fingerprint"),
        (started(rows), "another"),
    ]
    for turn, (session, key) in enumerate(others):
        cache = tmp_path / f"{turn}.cache"
        shutil.copy(whole, cache)
        assert not prepare(session, cache, key=key)
        assert prepare(started(session.preparation_.X, session.strategy, session.random_state),
                       cache, key=key)  # fmt: skip


def test_another_version_is_not_restored(rows, whole, tmp_path, monkeypatch):
    cache = tmp_path / "rows.cache"
    shutil.copy(whole, cache)
    monkeypatch.setattr(np, "__version__", "0.1")
    assert not prepare(started(rows), cache, key="fingerprint")


def damaged_files(whole):
    """Return the contents of nearly correct files."""
    good = whole.read_bytes()
    for fraction in (0, 0.01, 0.3, 0.7, 0.99):
        yield good[: int(fraction * len(good))]
    for position in range(200, len(good), len(good) // 25):
        yield good[:position] + bytes([good[position] ^ 0xFF]) + good[position + 1 :]
    yield b"\x80" + pickle.dumps([1, 2])
    yield b"PK\x03\x04 and nothing else"
    yield b"A text, that is all."


def test_damaged_files_are_replaced(rows, whole, tmp_path):
    expected = asked(started(rows), 12)
    cache = tmp_path / "rows.cache"
    for content in damaged_files(whole):
        cache.write_bytes(content)
        session = started(rows)
        prepare(session, cache, key="fingerprint")
        assert asked(session, 12) == expected
    assert prepare(started(rows), cache, key="fingerprint")


def test_a_compressed_file_is_not_read(rows, whole, tmp_path):
    cache = tmp_path / "rows.cache"
    with ZipFile(whole) as ours, ZipFile(cache, "w", ZIP_DEFLATED) as theirs:
        for name in ours.namelist():
            theirs.writestr(name, ours.read(name))
    assert not prepare(started(rows), cache, key="fingerprint")
    assert prepare(started(rows), cache, key="fingerprint")


def test_an_unwritable_path_is_ignored(rows, tmp_path):
    folder, pipe = tmp_path / "folder.cache", tmp_path / "pipe.cache"
    folder.mkdir()
    os.mkfifo(pipe)
    for cache in (tmp_path / "nowhere" / "rows.cache", folder):
        session = started(rows)
        assert not prepare(session, cache)
        assert session.next_question() is not None
    assert not prepare(started(rows), pipe)


def test_further_results_are_saved(rows, tmp_path, monkeypatch):
    cache = tmp_path / "rows.cache"
    session = started(rows, "hms-ci")
    session.preparation_.rows("zscore")
    prepare(session, cache)
    forbid_computing(monkeypatch)
    again = started(rows, "hms-ci")
    assert prepare(again, cache)
    assert np.array_equal(again.preparation_.rows("zscore"), session.preparation_.rows("zscore"))
