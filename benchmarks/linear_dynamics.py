"""The filter of layers against statsmodels' Kalman filter on the same states, and its growth."""

import time
from itertools import repeat

import numpy as np
from statsmodels.tsa.statespace.kalman_filter import KalmanFilter

from benchmarks.measuring import peak_memory_mb, report, seconds
from kernova.audio.chains import kalman_filter, layered_model, smoothed_level_blocks
from kernova.audio.frames import band_power_blocks, framing
from kernova.audio.linear_dynamics import HierarchicalLinearDynamics
from kernova.notes.candidates import best_nonoverlapping
from kernova.notes.decoding import decode_six_steps, decode_viterbi

LAYERS = (96, 24, 12)


def some_frames(n, n_columns=96, seed=0):
    """Return magnitudes that vary slowly, as those of sound do."""
    return np.abs(np.random.default_rng(seed).normal(size=(n, n_columns)).cumsum(axis=0))


def peer(Y):
    """Return statsmodels' filter of all 132 states, with the same start: 0 with variance 1."""
    F, H, Q, R = layered_model(LAYERS)
    peer = KalmanFilter(k_endog=len(H), k_states=len(F))
    peer["design"], peer["transition"], peer["obs_cov"] = H, F, R
    peer["selection"], peer["state_cov"] = np.eye(len(F)), Q
    # Its first state is the predicted one.
    peer.initialize_known(np.zeros(len(F)), F @ F.T + Q)
    peer.bind(np.ascontiguousarray(Y))
    return peer


def against_statsmodels(n=2000):
    """Bar: all 132 states 20 times faster, and the same states."""
    Y = some_frames(n)
    other = peer(Y)
    theirs = other.filter().filtered_state.T
    rows = []
    for output, columns in {"top": slice(12), "level": slice(36, 132), "all": slice(132)}.items():
        model = HierarchicalLinearDynamics(LAYERS, output).fit(Y)
        gap = np.abs(model.transform(Y) - theirs[:, columns]).max()
        ours_s = seconds(lambda model=model: model.transform(Y), 5)
        theirs_s = seconds(other.filter, 2)
        rows.append({"output": output, "frames": n, "kernova_s": ours_s, "statsmodels_s": theirs_s,
                     "ratio": theirs_s / ours_s, "largest_difference": gap})  # fmt: skip
    plain = seconds(lambda: kalman_filter(Y, layered_model(LAYERS)))
    rows.append({"output": "all, plain filter", "frames": n, "kernova_s": plain})
    report("linear dynamics against statsmodels", rows)


def growth(sizes=(100_000, 200_000, 400_000, 800_000)):
    """Bar: time grows with the number of frames, memory does not."""
    block = some_frames(4096)
    model = HierarchicalLinearDynamics(LAYERS, "all").fit(block)
    rows = []
    for n in sizes:
        start = time.perf_counter()
        for _ in model.transform_blocks(repeat(block, n // len(block))):
            pass
        taken = time.perf_counter() - start
        rows.append({"frames": n, "s": taken, "peak_mb": peak_memory_mb(),
                     "times_real_time": n * 48 / 22050 / taken})  # fmt: skip
        if len(rows) > 1:
            rows[-1]["exponent"] = np.log2(taken / rows[-2]["s"])
    report("growth of linear dynamics", rows)


def an_hour_of_sound():
    """Process an hour at 32 kHz in blocks: bands, smoothed bands, then scores and candidates."""
    cut = framing(32_000)
    ten_seconds = np.random.default_rng(0).normal(size=320_000)
    rng = np.random.default_rng(0)
    n_frames = 3600 * 22050 // 48
    scores = np.repeat(2 * rng.random((n_frames // 50, 3)), 50, axis=0)
    starts = rng.integers(0, 1_800_000, size=2_000_000)
    lengths = rng.integers(5, 200, size=len(starts))
    gains = rng.random(len(starts)) * lengths

    def bands():
        return band_power_blocks(repeat(ten_seconds, 360), cut)

    jobs = {
        "20 bands of 1.8 million frames": lambda: sum(map(len, bands())),
        "the same, smoothed both ways": lambda: sum(map(len, smoothed_level_blocks(bands()))),
        "six steps": lambda: decode_six_steps(scores, 1.0),
        "best sequence of notes": lambda: decode_viterbi(scores, 1.0),
        "best sequence, longest 200": lambda: decode_viterbi(scores, 1.0, longest=200),
        "best of 2 million candidates": lambda: best_nonoverlapping(
            starts, starts + lengths, gains
        ),
    }
    rows = [{"job": job, "s": (taken := seconds(work)), "times_real_time": 3600 / taken,
             "peak_mb": peak_memory_mb()} for job, work in jobs.items()]  # fmt: skip
    report("an hour of sound", rows)


def main() -> None:
    growth()
    an_hour_of_sound()
    against_statsmodels()  # last: its peak of memory would hide ours


if __name__ == "__main__":
    main()
