"""Overview: what the page shows beside the question."""

import numpy as np
import pytest

from kernova.discover.random_baseline import BaselineBand
from kernova.workbench.overview import Band, _thinned


def band_of(n):
    curve = np.log1p(np.arange(n))
    return BaselineBand(curve, 0.8 * curve, 1.2 * curve)


@pytest.mark.parametrize("n_questions", [1, 2, 3, 40, 1000, 100_000])
def test_a_band_is_sent_at_few_questions_among_them_the_first_and_the_last(n_questions):
    band = band_of(n_questions + 50)
    sent = _thinned(band, n_questions)
    assert len(sent.questions) <= 100
    assert {1, n_questions} <= set(sent.questions)
    assert sent.questions == sorted(set(sent.questions))
    every = np.arange(1, n_questions + 1)
    for limits, of in ((sent.low, band.low), (sent.high, band.high)):
        assert np.interp(every, sent.questions, limits) == pytest.approx(of[:n_questions], abs=0.02)


def test_without_a_question_there_is_no_band():
    assert _thinned(BaselineBand(*np.empty((3, 0))), 0) == Band([], [], [])
