"""Time to import kernova and to print its help, relative to its dependencies."""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measuring import report, seconds


def main() -> None:
    python = sys.executable
    kernova = shutil.which("kernova", path=str(Path(python).parent))
    assert kernova is not None, "install kernova first: make bench does"
    commands = {
        "import sklearn.neighbors": [python, "-c", "import sklearn.neighbors"],
        "import kernova": [python, "-c", "import kernova"],
        "first estimator": [python, "-c", "from kernova import KernelSpatialDepth"],
        "import typer, rich": [python, "-c", "import typer, rich"],
        "kernova --help": [kernova, "--help"],
        "kernova novelty --help": [kernova, "novelty", "--help"],
    }
    times = {
        name: seconds(lambda c=command: subprocess.run(c, check=True, capture_output=True), 7)
        for name, command in commands.items()
    }
    baseline = {
        "import kernova": "import sklearn.neighbors",
        "first estimator": "import sklearn.neighbors",
        "kernova --help": "import typer, rich",
        "kernova novelty --help": "import typer, rich",
    }
    report(
        "start up",
        [
            {
                "what": name,
                "seconds": times[name],
                "against": other,
                "ratio": times[name] / times[other],
            }
            for name, other in baseline.items()
        ],
    )


if __name__ == "__main__":
    main()
