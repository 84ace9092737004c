"""Kill a process that adds batches and answers questions, again and again, and see what is left.

Run as a program of its own, which has one thread and so can fork. Prints one JSON line: how many
batches were added, how many processes were killed, and how many of them while a batch was added.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import pandas as pd

from kernova.description.open_set import trees
from kernova.discover.events import Answered, RowsAdded
from kernova.workbench.growing import add_to, open_growing
from tests.workbench.growing.tables import OPTIONS, write_batch, write_first

N_FIRST, N_BATCH, N_AGAIN = 150, 40, 6
N_ANSWERS = 3
_LONGEST_SECONDS = 6.0


def files(folder, n_batches):
    first = write_first(folder, N_FIRST)
    truth = {one: name for one, name in zip(first["id"], first["group"], strict=True)}
    batches = []
    for number in range(1, n_batches + 1):
        center = (30.0 + 9 * number, 30.0, 30.0)
        n_new = 4 if number % 3 == 0 else 0
        again = first.sample(N_AGAIN, random_state=number)
        batches.append(write_batch(folder, number, N_BATCH, n_new, again, center))
        table = pd.read_csv(batches[-1])
        truth |= dict(zip(table["id"], table["group"], strict=True))
    return batches, truth


def answer(project, truth, pipe):
    session = project.discovery.session
    for _ in range(N_ANSWERS):
        question = session.next_question("Anna")
        session.answer(truth[question.id], expert="Anna")
        os.write(pipe, f"answered {question.id}\n".encode())


def work(folder, batch, truth, pipe):
    """Answer, add a batch and answer again, and say what is on disk."""
    with open_growing(
        folder / "rows.kernova-project", folder / "first.csv", options=OPTIONS
    ) as one:
        answer(one, truth, pipe)
        os.write(pipe, b"adding\n")
        add_to(one, batch)
        os.write(pipe, f"added {batch.name}\n".encode())
        answer(one, truth, pipe)


def checked(folder, pipe):
    """Open the project by its file alone, and say what it holds."""
    with open_growing(folder / "rows.kernova-project") as project:
        session = project.discovery.session
        ids = session.ids_
        events = session.log_
        asked = [ids[one.row] for one in events if isinstance(one, Answered)]
        sizes = [one.n_rows for one in events if isinstance(one, RowsAdded)]
        found = {"asked": asked, "sizes": sizes, "ids": ids, "next": session.next_question().id}
    os.write(pipe, json.dumps(found).encode() + b"\n")


def forked(job, *arguments, killed_after=None):
    """Run a job in a child, perhaps killed; give the lines that it said and whether it was."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            job(*arguments, writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    if killed_after is not None:
        time.sleep(killed_after)
        os.kill(child, signal.SIGKILL)
    said = b""
    while block := os.read(reading, 1 << 16):
        said += block
    os.close(reading)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, said
    return said.decode().split("\n")[:-1], os.WIFSIGNALED(status)


def main(folder, n_batches):
    trees.N_TREES = 10  # here, not where the module is only imported
    rng = random.Random(0)
    batches, truth = files(folder, n_batches)
    forked(
        lambda pipe: open_growing(
            folder / "rows.kernova-project", folder / "first.csv", options=OPTIONS
        ).close()
    )
    acknowledged, sizes, n_kills, n_while_adding = [], [], 0, 0
    for number, batch in enumerate(batches, start=1):
        for attempt in range(20):
            after = None if attempt >= 3 else rng.random() ** 2 * _LONGEST_SECONDS
            said, was_killed = forked(work, folder, batch, truth, killed_after=after)
            n_kills += was_killed
            n_while_adding += was_killed and said[-1:] == ["adding"]
            acknowledged += [line.split()[1] for line in said if line.startswith("answered")]
            (line,), _ = forked(checked, folder)
            found = json.loads(line)
            # What was being saved at that moment may be there as well, but nothing else.
            kept = [one for one in found["asked"] if one in set(acknowledged)]
            assert kept == acknowledged, (kept, acknowledged)
            assert len(found["asked"]) <= len(acknowledged) + 1
            acknowledged = found["asked"]
            assert len(set(found["asked"])) == len(found["asked"]), "a row was asked twice"
            assert found["sizes"][: len(sizes)] == sizes
            is_in = len(found["sizes"]) == number
            assert is_in or found["sizes"] == sizes
            assert not any(line.startswith("added") for line in said) or is_in
            assert len(found["ids"]) == len(set(found["ids"])) == N_FIRST + sum(found["sizes"])
            assert found["next"] not in found["asked"]
            if is_in:
                sizes = found["sizes"]
                break
        assert is_in
    left = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    assert not [name for name in left if "rescue" in name], left
    print(json.dumps({"batches": n_batches, "kills": n_kills, "while adding": n_while_adding}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
