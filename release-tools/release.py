"""Build kernova into dist: sdist, wheel, bill of materials and checksums.

The wheel is installed into a new environment and tried; the bill of materials lists what came with
it there. Lines of pip that name local paths or download addresses stay out of all files.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
VERSION = re.search(r'"(.+)"', (ROOT / "src/kernova/_version.py").read_text().splitlines()[-1])


def main() -> None:
    """Build, try and describe a release."""
    if VERSION is None:
        sys.exit("src/kernova/_version.py does not end with the version.")
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)], check=True)
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        python = installed(wheel, Path(folder))
        check_version(python, VERSION[1])
        bill = run(python, ROOT / "release-tools" / "sbom.py", "kernova", "web")
    (DIST / f"kernova-{VERSION[1]}.cdx.json").write_text(bill)
    write_checksums()
    for path in sorted(DIST.iterdir()):
        print(path.relative_to(ROOT))


def installed(wheel: Path, folder: Path) -> Path:
    """Install the wheel with the page into a new environment; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "packaging", f"{wheel}[web]")
    return python


def check_version(python: Path, version: str) -> None:
    """Exit unless the command runs and prints the version."""
    printed = run(python.with_name("kernova"), "--version").strip()
    if printed != f"kernova {version}":
        sys.exit(f"The wheel is broken: kernova --version printed {printed!r}.")
    print(f"The wheel works: {printed}")


def write_checksums() -> None:
    """Write SHA256SUMS, in the form that sha256sum --check reads."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(DIST.iterdir())
    ]
    (DIST / "SHA256SUMS").write_text("".join(lines))


def run(*words: "str | Path") -> str:
    """Run a program outside the checkout, so that nothing is imported from there."""
    command = list(map(str, words))
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(command, cwd=elsewhere, check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout


if __name__ == "__main__":
    main()
