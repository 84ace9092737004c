"""Everything that is measured, one process per benchmark so that memory peaks do not mix."""

import subprocess
import sys

BENCHMARKS = (
    "start_up",
    "depth",
    "bandwidth_rules",
    "neighbor_engines",
    "outlier_factor",
    "hierarchy",
    "description",
    "linear_dynamics",
    "notes",
)


def main() -> None:
    for name in BENCHMARKS:
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
