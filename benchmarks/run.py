"""Run all benchmarks, one process each, so that memory peaks are separate."""

import subprocess
import sys

BENCHMARKS = (
    "start_up",
    "depth",
    "bandwidth_rules",
    "neighbor_engines",
    "outlier_factor",
    "million_rows",
    "hierarchy",
    "first_question",
    "description",
    "linear_dynamics",
    "notes",
)


def main() -> None:
    for name in BENCHMARKS:
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
