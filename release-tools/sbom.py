"""Software bill of materials of an installed package and all it needs (CycloneDX JSON).

Reads the metadata of the running Python's packages only: no local paths, no download addresses. The
same packages give the same file.
"""

import json
import sys
import uuid
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LICENSE_PREFIX = "License :: "
LONGEST_LICENSE = 100


def bill_of_materials(name: str, extras: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the bill of a package with these extras."""
    needed = dependencies_of(name, extras)
    parts = {one: component(distribution(one)) for one in sorted(needed)}
    main = {**parts.pop(canonicalize_name(name)), "type": "application"}
    lines = [
        {"ref": reference(one), "dependsOn": [reference(other) for other in sorted(needed[one])]}
        for one in sorted(needed)
    ]
    content = {
        "metadata": {"component": main},
        "components": list(parts.values()),
        "dependencies": lines,
    }
    number = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(content, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        **content,
    }


def dependencies_of(name: str, extras: frozenset[str]) -> dict[str, set[str]]:
    """Return what each installed package needs, from one package on."""
    needed: dict[str, set[str]] = {}
    wanted = {(canonicalize_name(name), one) for one in (extras or {""})}
    done: set[tuple[str, str]] = set()
    while wanted - done:
        package, extra = sorted(wanted - done)[0]
        done.add((package, extra))
        needed.setdefault(package, set())
        for requirement in requirements_of(package, extra):
            other = canonicalize_name(requirement.name)
            needed[package].add(other)
            wanted |= {(other, one) for one in (requirement.extras or {""})}
    return needed


def requirements_of(package: str, extra: str) -> Iterator[Requirement]:
    """Yield the requirements of a package that hold here and are installed."""
    for text in distribution(package).requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            try:
                distribution(requirement.name)
            except PackageNotFoundError:
                sys.exit(f"{package} needs {requirement.name}, which is not installed.")
            yield requirement


def component(package: Distribution) -> dict[str, Any]:
    """Return the entry of one package."""
    name = canonicalize_name(package.metadata["Name"])
    entry = {
        "type": "library",
        "bom-ref": reference(name),
        "name": name,
        "version": package.version,
        "purl": f"pkg:pypi/{name}@{package.version}",
    }
    license_name = license_of(package)
    return {**entry, "licenses": license_name} if license_name else entry


def license_of(package: Distribution) -> list[dict[str, Any]]:
    """Return a package's licence: as an expression, or by name."""
    expression = package.metadata.get("License-Expression")
    if expression:
        return [{"expression": expression}]
    classes = package.metadata.get_all("Classifier") or []
    names = [one.rpartition(" :: ")[2] for one in classes if one.startswith(LICENSE_PREFIX)]
    plain = (package.metadata.get("License") or "").strip()
    if not names and plain and len(plain) < LONGEST_LICENSE and "\n" not in plain:
        names = [plain]
    return [{"license": {"name": name}} for name in names]


def reference(name: str) -> str:
    """Return what other entries call a package by."""
    return f"{name}=={distribution(name).version}"


if __name__ == "__main__":
    bill = bill_of_materials(sys.argv[1], frozenset(sys.argv[2:]))
    print(json.dumps(bill, indent=2))
