"""Search of an hour of sound for known notes: speed, memory, and growth with its length."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.measuring import peak_memory_mb, report
from kernova import Audio, NoteFinder

RATE = 32_000
KNOWN = ("rise", "fall", "buzz")
SEED = 0


def note(kind, rng):
    """Return one note of a synthetic bird, with random variation."""
    seconds = {"rise": 0.09, "fall": 0.07, "buzz": 0.12, "unknown": 0.10}[kind]
    t = np.arange(int(seconds * rng.uniform(0.9, 1.1) * RATE)) / RATE
    bent = t / t[-1]
    pitch = {
        "rise": 2500 + 2700 * bent,
        "fall": 6500 - 2700 * bent,
        "buzz": 3000 + 500 * np.sign(np.sin(2 * np.pi * 90 * t)),
        "unknown": 4200 + 1500 * np.sin(6 * bent),
    }[kind] + rng.normal(0, 40)  # fmt: skip
    sound = np.sin(2 * np.pi * np.cumsum(pitch) / RATE)
    return rng.uniform(0.15, 0.3) * sound * np.hanning(len(t)) ** 0.3


def minute(rng):
    """Return half a minute of dense song, known and unknown notes, and half a minute of noise."""
    samples = rng.normal(0, 0.003, 60 * RATE)
    kinds, at, n_known = (*KNOWN, "unknown"), RATE // 10, 0
    while at < 30 * RATE:
        kind = kinds[rng.integers(len(kinds))]
        sound = note(kind, rng)
        samples[at : at + len(sound)] += sound
        at += len(sound) + int(rng.uniform(0.0, 0.1) * RATE)
        n_known += kind in KNOWN
    return samples, n_known


def write_recording(path, minutes):
    """Write a recording of ``minutes`` minutes; return its number of known notes."""
    rng = np.random.default_rng(SEED)
    n_known = 0
    with soundfile.SoundFile(path, "w", RATE, 1, "PCM_16") as stream:
        left = round(minutes * 60 * RATE)
        while left:
            samples, n_sung = minute(rng)
            stream.write(samples[:left])
            n_known += n_sung
            left -= len(samples[:left])
    return n_known


def searched(path):
    """Learn ten notes of three classes, search one recording; return time and memory."""
    rng = np.random.default_rng(SEED + 1)
    kinds = [kind for kind in KNOWN for _ in range(10)]
    finder = NoteFinder().fit([Audio(note(kind, rng), RATE) for kind in kinds], kinds)
    before = peak_memory_mb()
    start, cpu = time.perf_counter(), time.process_time()
    found = finder.find(path)
    return {
        "found": len(found),
        "s": time.perf_counter() - start,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": peak_memory_mb(),
        "peak_mb_before": before,
    }


def growth(minutes=(7.5, 15, 30, 60)):
    """Bar: an hour 100 times faster than real time on one core, in 800 MB that do not grow."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for length in minutes:
            path = Path(folder) / "recording.wav"
            n_known = write_recording(path, length)
            row = {"minutes": length, "notes": n_known, **_in_fresh_process(path)}
            row["times_real_time"] = 60 * length / row["cpu_s"]
            if rows:
                row["exponent"] = np.log2(row["cpu_s"] / rows[-1]["cpu_s"])
            rows.append(row)
    report("notes in an hour of sound", rows)


def _in_fresh_process(path):
    """Search in a process of its own, so that memory peaks are separate, with one thread."""
    one_core = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.notes", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=one_core)
    return json.loads(done.stdout)


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(searched(sys.argv[1])))
    else:
        growth()


if __name__ == "__main__":
    main()
