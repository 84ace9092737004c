"""What the landed documentation shows: its commands, and the tables that its examples write.

Used by ``make_frozen.py`` only.
"""

import contextlib
import doctest
import gzip
import inspect
import io
import re
import shlex
import shutil
import tempfile
from pathlib import Path

import pandas as pd

from .outputs_tables import mixed_table
from .running import run_command, working_in
from .scenes import TABLES, Command
from .storage import inputs

_CODE_BLOCKS = (
    re.compile(r"^\.\. code-block:: (console)\n\n((?:   .*\n|\n)+)", re.M),
    re.compile(r"^```(console)\n(.*?)^```$", re.M | re.S),
)
_FEATURES = """[features]
depth = "|3-7| / |1-5|"
back = "angle(1, 3, 5)"
tail = "|5-6| / |1-5|"
"""


def page_scenes(root):
    """Give the commands of each page of the landed version that shows any, in order."""
    found = {}
    for page in [root / "README.md", *sorted((root / "docs" / "guide").glob("*.rst"))]:
        commands = _shown_commands(page.read_text())
        if commands:
            found[f"page {page.stem.lower()}"] = commands
    return found


def _shown_commands(text):
    commands = []
    for _, block in (found for blocks in _CODE_BLOCKS for found in blocks.findall(text)):
        for line in inspect.cleandoc(block).replace("\\\n", " ").splitlines():
            if line.startswith("$ kernova "):
                words = shlex.split(line[2:], comments=True)[1:]
                commands.append(Command(words))
    return commands


def write_tables(root):
    """Write the tables that the commands read into ``tests/data/tables``."""
    shutil.rmtree(TABLES, ignore_errors=True)
    (TABLES / "demo").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name, working_in(name):
        folder = Path(name)
        start = (root / "docs" / "guide" / "getting_started.rst").read_text()
        _run_examples(start.split("The answer, on the command line")[0])
        species = (root / "docs" / "guide" / "species.rst").read_text()
        _run_examples(species.partition(".. The commands below read what was written above.")[0])
        code, _, complaints = run_command(["demo"])
        assert code == 0, complaints
        for one in ("known.csv", "new.csv", "fish.tps", "species.csv", "unnamed.tps"):
            shutil.copyfile(folder / one, TABLES / one)
        shutil.copyfile(folder / "demo" / "wines.csv", TABLES / "demo" / "wines.csv")
        for one in ("known.csv", "new.csv", "rare_digits.csv"):
            packed = gzip.compress((folder / "demo" / one).read_bytes(), mtime=0)
            (TABLES / "demo" / f"{one}.gz").write_bytes(packed)
    (TABLES / "features.toml").write_text(_FEATURES)
    _rare_rows().to_csv(TABLES / "rare.csv", index=False)
    _rows_with_gaps().to_csv(TABLES / "gaps.csv", index=False)


def _run_examples(text):
    examples = doctest.DocTestParser().get_doctest(text, {}, "page", None, 0)
    with contextlib.redirect_stdout(io.StringIO()):
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)


def _rare_rows():
    i = inputs()
    rows = pd.DataFrame(i["rare"], columns=["a", "b", "c", "d"])
    rows.insert(0, "row", [f"r{number:03}" for number in range(len(rows))])
    return rows.assign(kind=i["rare_labels"])


def _rows_with_gaps():
    """Give a table of numbers and texts with missing values and two columns of labels."""
    i, rows = inputs(), mixed_table()
    rows.insert(0, "fish", [f"f{number:03}" for number in range(len(rows))])
    rows["width"], rows["height"] = i["rows"][:, 0], i["rows"][:, 1]
    rows.loc[[4, 40, 77], "width"] = None
    rows.loc[[9, 40], "place"] = None
    rows["kind"] = i["classes"]
    rows["some"] = rows["kind"].where(rows.index % 17 == 0)
    return rows
