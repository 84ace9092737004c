"""Citation of a session and its software, and everything needed to repeat it."""

import platform
from importlib.metadata import version
from typing import Any, Final

import pandas as pd

from kernova._version import __version__
from kernova.report.page import Section, code, paragraph, table
from kernova.workbench.session_report.contents import ReportContents

#: As in CITATION.cff.
TITLE: Final = "kernova: find what is new in data"
AUTHORS: Final = "The kernova developers"
#: The papers whose methods a session uses, as in CITATION.cff.
PAPERS: Final = (
    "Vatturi and Wong (2009), Category Detection Using Hierarchical Mean Shift, ACM SIGKDD "
    "International Conference on Knowledge Discovery and Data Mining.",
)
_PACKAGES: Final = ("numpy", "scipy", "scikit-learn", "pandas")
_OF_HIERARCHY: Final = ("hms-ci", "hms-ci-had", "hms-out", "hms-out-had")


def citation_section(contents: ReportContents) -> Section:
    """Return how to cite the session, its settings, and the versions of the software."""
    head = contents.snapshot.head
    papers = [paragraph(one) for one in PAPERS] if head.strategy in _OF_HIERARCHY else []
    again = (
        []
        if not contents.command
        else [paragraph("The session is opened again by this command:"), code(contents.command)]
    )
    return Section(
        "How to cite and repeat",
        [
            paragraph(
                f"{AUTHORS}. {TITLE}, version {__version__}. Cite the data, the experts named "
                "above, and the version."
            ),
            *papers,
            table(
                pd.DataFrame(settings_of(contents).items(), columns=["setting", "value"]),
                "Settings and versions",
            ),
            *again,
            paragraph(
                "The project file holds every entry with its expert and time. It can be checked "
                "with kernova project verify, and leads to the same state whenever it is opened; "
                "the fingerprint identifies the table."
            ),
        ],
    )


def settings_of(contents: ReportContents) -> dict[str, Any]:
    """Return settings of the session and versions of the software."""
    head, entries = contents.snapshot.head, contents.snapshot.entries
    times = [entry.at for entry in entries if entry.at]
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return {
        "table": contents.snapshot.source or "not at hand",
        "rows": f"{head.n_rows:,}",
        "columns": f"{head.n_columns:,}",
        "fingerprint of the table": head.fingerprint,
        "strategy": head.strategy,
        "seed": head.seed,
        "project": contents.project,
        "log entries": f"{len(entries):,}",
        "first entry (UTC)": _second(times[0]) if times else None,
        "last entry (UTC)": _second(times[-1]) if times else None,
        "report made (UTC)": _second(contents.snapshot.made_at),
        "kernova": __version__,
        "Python": platform.python_version(),
        "packages": versions,
    }


def _second(time: str) -> str:
    return time[:19].replace("T", " ")
