"""Fingerprints: what makes a run another run, and what does not."""

import numpy as np
import pytest

from kernova.discover.strategies import STRATEGIES, strategy_named
from kernova.proving import fingerprints
from kernova.proving.baselines import BASELINES
from kernova.proving.fingerprints import (
    code_digest,
    described,
    fingerprint,
    imported_modules,
    rows_digest,
)

CODE = '''"""A module."""
from kernova.text import quantity

def twice(x):
    """Return twice a number."""
    return 2 * x
'''


@pytest.fixture
def digest(tmp_path):
    """Return the digest of some code; each call has a file of its own."""
    names = iter(range(100))

    def of(code):
        path = tmp_path / f"m{next(names)}.py"
        path.write_text(code)
        return code_digest(path)

    return of


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        (("Return twice a number", "Double"), True),
        (('"""A module."""\n', "# Without a docstring.\n"), True),
        (("2 * x", "(2 *  x)  # doubled"), True),
        (("2 * x", "3 * x"), False),
        (("2 * x", "x * 2"), False),
        (("quantity", "plural"), False),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(digest, change, is_same):
    assert (digest(CODE) == digest(CODE.replace(*change))) == is_same


def test_imports_are_followed_to_the_end_but_not_to_other_strategies():
    found = imported_modules("kernova.discover.strategies.hierarchical")
    assert {"kernova.cluster.mean_shift", "kernova.parallel", "kernova._sklearn"} <= found
    assert "kernova.cluster._compiled" in found  # imported by its name, when needed
    assert "kernova.discover.strategies.nndm" not in found
    assert "kernova.proving.baselines.malice" in imported_modules("kernova.proving.baselines.grade")


def test_each_strategy_has_a_fingerprint_of_its_own():
    labels = np.array(["a", "a", "b"])
    made = {name: baseline.make(labels) for name, baseline in BASELINES.items()}
    made |= {name: strategy_named(name) for name in STRATEGIES if name not in made}
    found = {name: fingerprint(strategy, 100) for name, strategy in made.items()}
    assert len(set(found.values())) == len(made)
    again = {name: fingerprint(strategy, 100) for name, strategy in made.items()}
    assert again == found


def test_settings_and_packages_count(monkeypatch):
    nndm = strategy_named("nndm")
    before = fingerprint(nndm, 100)
    assert fingerprint(nndm, 101) != before
    nndm.priors = {"a": 0.5}
    assert fingerprint(nndm, 100) != before
    nndm.priors = None
    assert fingerprint(nndm, 100) == before
    monkeypatch.setattr(fingerprints, "_version", lambda package: "99")
    assert fingerprint(nndm, 100) != before


def test_an_object_without_settings_is_described_by_its_type():
    assert described(np.zeros(2)) == "numpy.ndarray"
    assert described({"b": (1, None), "a": [2.5, "x"]}) == "{'b': (1, None), 'a': (2.5, 'x')}"


def test_rows_count_with_their_labels_and_shape():
    X, labels = np.arange(4.0).reshape(2, 2), ["a", "b"]
    found = {
        rows_digest(X, labels),
        rows_digest(X[::-1].copy(), labels),
        rows_digest(X.reshape(4, 1), labels),
        rows_digest(X, ["a", "c"]),
    }
    assert len(found) == 4
    assert rows_digest(X.copy(), np.array(labels)) == rows_digest(X, labels)
