"""Write requirements/*.lock: exact versions with hashes, without download addresses.

pip resolves the versions (``pip install --dry-run --report``). The hashes are those of all files of
a release that the package index lists, so that the file serves every platform whose dependencies
are the same; a release that the index does not list gets the hash of the file that pip chose.
"""

import json
import logging
import platform
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "requirements"
# What builds kernova itself, so that installing from the lock file builds without downloads.
BUILD = ["hatchling>=1.25", "editables"]
LOCKS = {
    "dev": "dev,fast,peers,audio,web",
    "demo": "web",
}
HEAD = """\
# Versions and hashes for `make {target} LOCKED=1`, written by `make lock`; do not edit.
# Resolved for Python {python} on {system}. Extras: {extras}.
# {hashes}
"""
ALL_HASHES = "The hashes are those of all files of each release, for any platform."
SOME_HASHES = "Of {names}, the hash is that of the file for this platform."


def main() -> None:
    """Write every lock file."""
    FOLDER.mkdir(exist_ok=True)
    for name, extras in LOCKS.items():
        chosen = resolved(extras)
        path = FOLDER / f"{name}.lock"
        path.write_text(lock_text(name, extras, chosen))
        print(f"{path.relative_to(ROOT)}: {len(chosen)} packages")


def resolved(extras: str) -> dict[str, tuple[str, str]]:
    """Return version and hash of the chosen file of every package, by its normalised name."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report), f".[{extras}]", *BUILD]
        subprocess.run(command, cwd=ROOT, check=True)
        installed = json.loads(report.read_text())["install"]
    chosen = {}
    for one in installed:
        name = normalised(one["metadata"]["name"])
        if name != "kernova":
            digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
            chosen[name] = (one["metadata"]["version"], digest)
    return dict(sorted(chosen.items()))


def lock_text(target: str, extras: str, chosen: dict[str, tuple[str, str]]) -> str:
    """Return the contents of a lock file."""
    lines, partly = [], []
    for name, (version, digest) in chosen.items():
        listed = listed_hashes(name, version)
        if digest not in listed:
            partly.append(name)
        hashes = sorted({*listed, digest})
        lines.append(
            " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{h}" for h in hashes)])
        )
    head = HEAD.format(
        target="test" if target == "dev" else target,
        python=".".join(platform.python_version_tuple()[:2]),
        system=f"{platform.system()} {platform.machine()}",
        extras=extras.replace(",", ", "),
        hashes=SOME_HASHES.format(names=", ".join(partly)) if partly else ALL_HASHES,
    )
    return head + "\n".join(lines) + "\n"


def normalised(name: str) -> str:
    """Return a package's name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def listed_hashes(name: str, version: str) -> set[str]:
    """Return the SHA-256 of all files of a release that the configured index lists."""
    from packaging.utils import (
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )

    found = set()
    for file, digest in index_of(name):
        parse = parse_wheel_filename if file.endswith(".whl") else parse_sdist_filename
        try:
            its_version = str(parse(file)[1])
        except (InvalidSdistFilename, InvalidWheelFilename):
            continue
        if its_version == version:
            found.add(digest)
    return found


@cache
def index_of(name: str) -> list[tuple[str, str]]:
    """Return names and hashes of all files of a package, with pip's own configuration."""
    # No public interface of pip lists hashes, and its configuration (index, certificates, proxy,
    # credentials) is what must be followed; nothing of it gets into the file.
    from pip._internal.commands import create_command
    from pip._internal.index import collector

    logging.getLogger("pip").setLevel(logging.ERROR)  # an index that lacks a package is no news
    command: Any = create_command("download")
    options, _ = command.parse_args([name])
    found = []
    with command.main_context():
        session = command._build_session(options)
        links = collector.LinkCollector.create(session, options=options)
        for address in links.search_scope.get_index_urls_locations(name):
            page = links.fetch_response(collector.Link(address))
            if page is not None:
                found += [
                    (link.filename, link.hash)
                    for link in collector.parse_links(page)
                    if link.hash_name == "sha256"
                ]
    return found


if __name__ == "__main__":
    main()
