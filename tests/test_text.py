"""Short texts: values of a table, long names, numbers with nouns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernova.text import format_value, truncate_middle


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.1235"),
        (-12345.678, "-12346"),
        (5106123.4, "5106123"),
        (999999.7, "999999.7"),
        (-0.0, "0"),
        (3, "3"),
        (3.0, "3"),
        (np.int8(-7), "-7"),
        (np.float32(0.5), "0.5"),
        (1e-300, "1e-300"),
        (1.5e20, "1.5e+20"),
        (float("inf"), "inf"),
        (True, "True"),
        (np.True_, "True"),
        ("red", "red"),
        ("  two\nlines ", "two lines"),
        ("", "(empty)"),
        (None, "missing"),
        (np.nan, "missing"),
        (pd.NA, "missing"),
        (pd.NaT, "missing"),
        (pd.Timestamp("2024-05-06"), "2024-05-06 00:00:00"),
        ("a" * 20 + "b" * 20, "a" * 16 + "…" + "b" * 15),
    ],
)
def test_values_as_text(value, text):
    assert format_value(value) == text


def test_no_more_digits_than_needed():
    assert format_value(1000.123456789, beside=1000.123456783) == "1000.12345679"
    assert format_value(1000.123456783, beside=1000.123456789) == "1000.12345678"
    assert format_value(2.0, beside=2.00000000001) == "2"


@given(value=st.floats(-1e300, 1e300), beside=st.floats(-1e300, 1e300))
@example(0.0, -0.0)
@example(0.1 + 0.2, 0.3)
def test_two_numbers_are_distinguished(value, beside):
    text, other = format_value(value, beside), format_value(beside, value)
    assert (text == other) == (value == beside)
    assert float(text) == pytest.approx(value, rel=1e-3, abs=0)


@given(text=st.text(max_size=80), most=st.integers(3, 40))
def test_truncated_texts_keep_both_ends_and_the_limit(text, most):
    short = truncate_middle(text, most)
    whole = " ".join(text.split())
    assert len(short) <= most
    if len(whole) <= most:
        assert short == whole
    else:
        start, _, end = short.partition("…") if "…" not in whole else (short[:1], "", "")
        assert whole.startswith(start)
        assert whole.endswith(end)
