"""Digitising errors in a whole file: misplaced, exchanged, mirrored and outlying specimens."""

from kernova.species.digitising.findings import (
    AlignedFinding,
    DigitisingReport,
    DigitisingSettings,
    Finding,
    check_digitising,
)

__all__ = [
    "AlignedFinding",
    "DigitisingReport",
    "DigitisingSettings",
    "Finding",
    "check_digitising",
]
