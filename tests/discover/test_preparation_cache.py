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
    return np.concatenate([X, X[:7]])  # with copies


def begun(X, strategy=DEFAULT_STRATEGY, seed=0):
    return CategoryDiscovery(strategy, random_state=seed).start(X)


def asked(session, n=30):
    """Answer some questions; give everything that was said in asking."""
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


def worked_out_again(monkeypatch):
    """Make every costly step an error."""

    def refused(*_, **__):
        raise AssertionError("worked out again")

    for name in (
        "kernova.discover.strategies.novelty_density.spacing_of",
        "kernova.discover.strategies.nndm.density_scales",
        "kernova.discover.strategies.interleave.first_mixture",
        "kernova.cluster.hierarchical_mean_shift.HierarchicalMeanShift.fit",
        "kernova.discover.preparation.standardized_rows",
    ):
        monkeypatch.setattr(name, refused)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "random"])
def test_questions_are_the_same_with_and_without_the_file(rows, strategy, tmp_path, monkeypatch):
    cache = tmp_path / "rows.cache"
    expected = asked(begun(rows, strategy))
    assert not prepare(begun(rows, strategy), cache)
    worked_out_again(monkeypatch)
    session = begun(rows, strategy)
    assert prepare(session, cache)
    assert asked(session) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["rows.cache"]


def test_nothing_is_written_where_nothing_is_worked_out(rows, tmp_path):
    assert not prepare(begun(rows, "random"), tmp_path / "rows.cache")
    assert list(tmp_path.iterdir()) == []


def test_without_a_file_everything_is_worked_out(rows):
    session = begun(rows)
    assert not prepare(session, None)
    assert session.next_question() is not None


@pytest.fixture(scope="module")
def whole(rows, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache") / "rows.cache"
    prepare(begun(rows), cache, key="fingerprint")
    return cache


def test_another_table_strategy_seed_or_key_is_not_mistaken(rows, whole, tmp_path):
    others = [
        (begun(rows + 1e-9), "fingerprint"),
        (begun(rows[:, ::-1]), "fingerprint"),
        (begun(rows, "nndm"), "fingerprint"),
        (begun(rows, seed=1), "fingerprint"),
        (begun(rows), "another"),
    ]
    for turn, (session, key) in enumerate(others):
        cache = tmp_path / f"{turn}.cache"
        shutil.copy(whole, cache)
        assert not prepare(session, cache, key=key)
        assert prepare(begun(session.preparation_.X, session.strategy, session.random_state),
                       cache, key=key)  # fmt: skip


def test_another_version_is_not_mistaken(rows, whole, tmp_path, monkeypatch):
    cache = tmp_path / "rows.cache"
    shutil.copy(whole, cache)
    monkeypatch.setattr(np, "__version__", "0.1")
    assert not prepare(begun(rows), cache, key="fingerprint")


def damaged_files(whole):
    """Give the bytes of files that are nearly right."""
    good = whole.read_bytes()
    for share in (0, 0.01, 0.3, 0.7, 0.99):
        yield good[: int(share * len(good))]
    for place in range(200, len(good), len(good) // 25):
        yield good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :]
    yield b"\x80" + pickle.dumps([1, 2])
    yield b"PK\x03\x04 and nothing else"
    yield b"A text, that is all."


def test_damaged_files_are_made_anew(rows, whole, tmp_path):
    expected = asked(begun(rows), 12)
    cache = tmp_path / "rows.cache"
    for content in damaged_files(whole):
        cache.write_bytes(content)
        session = begun(rows)
        prepare(session, cache, key="fingerprint")
        assert asked(session, 12) == expected
    assert prepare(begun(rows), cache, key="fingerprint")


def test_what_was_packed_by_another_is_not_unpacked(rows, whole, tmp_path):
    cache = tmp_path / "rows.cache"
    with ZipFile(whole) as ours, ZipFile(cache, "w", ZIP_DEFLATED) as theirs:
        for name in ours.namelist():
            theirs.writestr(name, ours.read(name))
    assert not prepare(begun(rows), cache, key="fingerprint")
    assert prepare(begun(rows), cache, key="fingerprint")


def test_a_place_that_cannot_be_written_is_no_trouble(rows, tmp_path):
    folder, pipe = tmp_path / "folder.cache", tmp_path / "pipe.cache"
    folder.mkdir()
    os.mkfifo(pipe)
    for cache in (tmp_path / "nowhere" / "rows.cache", folder):
        session = begun(rows)
        assert not prepare(session, cache)
        assert session.next_question() is not None
    assert not prepare(begun(rows), pipe)


def test_what_is_added_later_is_kept_too(rows, tmp_path, monkeypatch):
    cache = tmp_path / "rows.cache"
    session = begun(rows, "hms-ci")
    session.preparation_.rows("zscore")
    prepare(session, cache)
    worked_out_again(monkeypatch)
    again = begun(rows, "hms-ci")
    assert prepare(again, cache)
    assert np.array_equal(again.preparation_.rows("zscore"), session.preparation_.rows("zscore"))
