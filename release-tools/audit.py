"""Known vulnerabilities of the versions in lock files, by pip-audit.

Exits with 1 if there are any. Where the network does not reach the advisory service, says so in one
line and exits with 0: a check that could not be done is no finding.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# Errors of connections, in the words of requests and urllib3.
UNREACHED = ("ConnectionError", "ConnectTimeout", "ReadTimeout", "ProxyError", "SSLError",
             "NameResolutionError", "NewConnectionError", "MaxRetryError", "Max retries exceeded",
             "Temporary failure in name resolution", "HTTPError", "ServiceError",
             "Could not connect")  # fmt: skip


def main(locks: Sequence[str], program: Sequence[str] = ("pip-audit",)) -> int:
    """Print what is known about the packages of lock files; return the exit code."""
    code = 0
    for lock in locks:
        command = [*program, "--require-hashes", "--disable-pip", "--format", "json"]
        command += ["--progress-spinner", "off", "--timeout", "20", "--requirement", lock]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        answer = answer_in(done.stdout)
        if answer is None and not any(word in done.stderr for word in UNREACHED):
            print(done.stderr, file=sys.stderr)
            return done.returncode or 1
        if answer is None or not answer.n_known:
            print(f"make audit: {lock} not checked: the advisory service cannot be reached.")
            continue
        print(
            f"{lock}: {len(answer.findings)} known vulnerabilities in {answer.n_known} packages; "
            f"the service does not know {answer.n_unknown} others"
        )
        for finding in answer.findings:
            print(f"  {finding}")
        code |= bool(answer.findings)
    return code


class Answer(NamedTuple):
    """What the advisory service knows of the packages of one lock file."""

    n_known: int
    n_unknown: int
    findings: list[str]


def answer_in(printed: str) -> Answer | None:
    """Return the answer in pip-audit's JSON, None if it printed none.

    A mirror of the package index may have no advisories: then every package is skipped, and the
    answer must not pass for one without findings.
    """
    try:
        packages = json.loads(printed)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return None
    known = [package for package in packages if "skip_reason" not in package]
    findings = [
        f"{package['name']} {package['version']}: {found['id']}, fixed in "
        f"{', '.join(found['fix_versions']) or 'no version yet'}"
        for package in known
        for found in package["vulns"]
    ]
    return Answer(len(known), len(packages) - len(known), findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], (str(Path(sys.executable).with_name("pip-audit")),)))
