"""Lock files, audit and bill of materials: what ``make lock``, ``audit`` and ``release`` write."""

import json
import re
import stat
import subprocess
import sys
import tomllib
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "release-tools"
LOCKS = {"dev": ["dev", "fast", "peers", "audio", "web"], "demo": ["web"]}
PACKAGE = re.compile(r"[a-z0-9-]+==[\w.+!]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n")
ADDRESS = re.compile(r"://|--(?:index|extra|find|trusted)|/opt|/home|/tmp|/root|\bfile:| @ ")


def tool(name):
    """Import a script, which no package holds."""
    spec = spec_from_file_location(name, TOOLS / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- lock files ------------------------------------------------------------------------------


def locked(name):
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_have_hashes_and_no_addresses(name):
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    head = re.match(r"(?:#.*\n)+", text)[0]
    assert re.search(r"^# Resolved for Python 3\.\d+ on ", head, re.MULTILINE)
    assert PACKAGE.sub("", text[len(head) :]) == ""
    assert ADDRESS.findall(text) == []


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_agree_with_the_project(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for extra in LOCKS[name] for one in extras[extra])]
    versions = locked(name)
    for requirement in map(Requirement, wanted):
        chosen = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(chosen), f"{requirement}: run make lock"
    assert {"hatchling", "editables"} <= set(versions)  # building needs no download
    assert set(locked("demo")) <= set(locked("dev"))


def test_a_lock_file_for_another_python_is_rejected(tmp_path):
    check = tool("locked_python").main
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    path = tmp_path / "x.lock"
    path.write_text(f"# x\n# Resolved for Python {here} on Linux x86_64. Extras: web.\n")
    assert check(str(path)) is None
    path.write_text("# Resolved for Python 3.1 on Linux x86_64. Extras: web.\n")
    assert check(str(path)) == (
        f"{path} is for Python 3.1, and this is {here}: leave out LOCKED=1, or name the other with "
        "PYTHON=python3.1 after make clean."
    )


# --- audit -----------------------------------------------------------------------------------

FINDING = {
    "name": "jinja2", "version": "2.4.1",
    "vulns": [{"id": "PYSEC-2014-8", "fix_versions": ["2.7.2"], "aliases": [], "description": ""}],
}  # fmt: skip
CLEAN = {"name": "numpy", "version": "2.0.0", "vulns": []}
SKIPPED = {"name": "scipy", "skip_reason": "Dependency not found on PyPI: scipy (1.13)"}
UNREACHED = "make audit: x.lock not checked: the advisory service cannot be reached.\n"
AUDITS = {
    "findings": (
        [FINDING, CLEAN, SKIPPED], "", 1, 1,
        "x.lock: 1 known vulnerabilities in 2 packages; the service does not know 1 others\n"
        "  jinja2 2.4.1: PYSEC-2014-8, fixed in 2.7.2\n",
    ),
    "none": (
        [CLEAN], "", 0, 0,
        "x.lock: 0 known vulnerabilities in 1 packages; the service does not know 0 others\n",
    ),
    "a mirror without advisories": ([SKIPPED], "No known vulnerabilities found", 0, 0, UNREACHED),
    "no network": (None, "requests.exceptions.ProxyError: Max retries exceeded", 1, 0, UNREACHED),
    "a failure": (None, "pip-audit: error: unrecognized arguments", 2, 2, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", AUDITS)
def test_audits_report_findings_only(name, tmp_path, capsys):
    """pip-audit needs the network, so a program with its output stands for it."""
    packages, printed, its_code, code, expected = AUDITS[name]
    answer = "" if packages is None else json.dumps({"dependencies": packages, "fixes": []})
    program = tmp_path / "pip-audit"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nprint({answer!r})\n"
        f"print({printed!r}, file=sys.stderr)\nsys.exit({its_code})\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    assert tool("audit").main(["x.lock"], [str(program)]) == code
    assert capsys.readouterr().out == expected


# --- bill of materials -----------------------------------------------------------------------


def bill_of_materials():
    command = [sys.executable, TOOLS / "sbom.py", "kernova", "web"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_bill_of_materials_lists_what_is_installed():
    text = bill_of_materials()
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == "kernova"
    versions = {one["name"]: one["version"] for one in bill["components"]}
    assert {"numpy", "scikit-learn", "joblib", "fastapi", "pillow"} <= set(versions)
    assert not {"pytest", "ruff", "faiss-cpu"} & set(versions)
    assert versions["numpy"] == version("numpy")
    named = {one["bom-ref"] for one in [bill["metadata"]["component"], *bill["components"]]}
    assert {one["ref"] for one in bill["dependencies"]} == named
    assert {other for one in bill["dependencies"] for other in one["dependsOn"]} <= named
    assert ADDRESS.findall(text) == []
    assert text == bill_of_materials()
