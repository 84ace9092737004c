"""How far a class must lead: the share of rows that are right, counted row by row."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.description.recognizer import clear_lead, leads


def literal_clear_lead(left_out, codes, wanted):
    """Try every lead there is, the smallest first."""
    with np.errstate(divide="ignore"):
        logarithms = np.log(left_out)
    is_right = logarithms.argmax(axis=1) == codes
    rows = list(zip(leads(logarithms), is_right, strict=True))
    for lead in sorted({lead for lead, _ in rows}):
        clear = [right for other, right in rows if other >= lead]
        if len(clear) >= 5 and sum(clear) / len(clear) >= wanted:
            return lead
    return np.inf


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), wanted=st.sampled_from([0.5, 0.8, 0.9]))
def test_the_smallest_lead_that_will_do(seed, n, wanted):
    rng = np.random.default_rng(seed)
    # Few different values, zeros among them, so that there are ties.
    left_out = rng.integers(0, 5, size=(n, 3)) / 4
    codes = np.where(rng.random(n) < 0.8, left_out.argmax(axis=1), rng.integers(3, size=n))
    assert clear_lead(left_out, codes, wanted) == literal_clear_lead(left_out, codes, wanted)


def test_one_class_leads_nobody():
    assert clear_lead(np.ones((9, 1)), np.zeros(9, dtype=np.intp)) == 0
    assert np.isinf(leads(np.zeros((2, 1)))).all()


def test_rows_that_no_class_knows_are_led_by_none():
    assert leads(np.array([[-np.inf, -np.inf], [0.0, -np.inf]])).tolist() == [0.0, np.inf]
