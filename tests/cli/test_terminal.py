"""``kernova discover --terminal`` in a process of its own: signals, kills, a real terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

from kernova.discover.store import open_project
from tests.cli import messages
from tests.cli.twelve_fish import COLUMNS, RANDOM, twelve_fish

folder = twelve_fish

COMMAND = [sys.executable, "-m", "kernova", "discover", "fish.csv", *COLUMNS, *RANDOM, "--terminal"]


def _begun(**words):
    # A group of its own, and an interrupt that is not ignored, whoever runs the tests.
    return subprocess.Popen(
        COMMAND, start_new_session=True, env={**os.environ, "OMP_NUM_THREADS": "1", "TERM": "dumb"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **words,
    )  # fmt: skip


def _piped():
    return _begun(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _say(process, line):
    """Answer, and wait until that is acknowledged."""
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    for answer in process.stdout:
        if answer.startswith("Saved: "):
            return answer
    raise AssertionError(process.stderr.read())


def test_acknowledged_answers_survive_a_kill_and_an_interrupt(folder):
    process = _piped()
    acknowledged = [_say(process, "kind 0"), _say(process, "kind 1")]
    process.kill()
    process.communicate()
    process = _piped()
    acknowledged.append(_say(process, "kind 2"))
    time.sleep(0.3)  # it waits for the next line
    process.send_signal(signal.SIGINT)
    text, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (0, "")
    assert text.splitlines()[-1] == messages.ALL_SAVED
    with open_project("fish.kernova-project") as store:
        named = [(f"{event.row:03d}", event.label) for event in store.events]
    assert named == re.findall(r'Saved: (\d+) is "(kind \d)"', "".join(acknowledged))
    assert len({row for row, _ in named}) == 3


class Typist:
    """A person at a real terminal."""

    def __init__(self):
        self.screen, line = pty.openpty()
        self.process = _begun(stdin=line, stdout=line, stderr=line)
        os.close(line)
        self.seen = ""

    def sees(self, pattern):
        """Wait until the pattern stands on the screen, and give what led up to it."""
        deadline = time.monotonic() + 60
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < deadline, self.seen
            ready, _, _ = select.select([self.screen], [], [], 1.0)
            if ready:
                try:
                    self.seen += os.read(self.screen, 1 << 16).decode().replace("\r", "")
                except OSError:  # the other side is gone
                    assert re.search(pattern, self.seen), self.seen
        text, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return text

    def types(self, keys):
        os.write(self.screen, keys.encode())


def wrapped(sentence):
    """Return a pattern of a sentence that may be broken over several lines."""
    return r"\s+".join(map(re.escape, sentence.split()))


def test_typing_at_a_terminal(folder):
    typist = Typist()
    typist.sees(r"category \(\? for help\): ")
    typist.types("catfish\n")
    typist.sees('is "catfish", a new category')
    typist.sees("for help")
    typist.types("cat\n")  # a beginning is offered, not taken
    typist.sees(wrapped(messages.ONE_SUGGESTION))
    typist.types("\n")
    typist.sees(r'Saved: \d+ is "catfish"\.')
    typist.sees("for help")
    typist.types("cat\n")
    typist.sees(wrapped("for a new category."))
    typist.types("cat\n")
    typist.sees('is "cat", a new category')
    typist.sees("for help")
    typist.types("catf\t\n")  # the tab key completes, here to the last letter
    typist.sees(r'Saved: \d+ is "catfish"\.')
    typist.sees("for help")
    typist.types("all CAT\n")
    typist.sees(wrapped(messages.TWO_SUGGESTIONS))
    typist.types("skip\n")  # anything else counts as said
    typist.sees("is skipped")
    typist.sees("for help")
    typist.types("\x04")  # Ctrl-D
    typist.sees("run the same command to continue")
    assert typist.process.wait(60) == 0


def test_ctrl_c_at_a_terminal_keeps_all_answers(folder):
    typist = Typist()
    typist.sees("for help")
    typist.types("carp\n")
    typist.sees("Saved")
    typist.sees(r"for help\): ")
    time.sleep(1)  # the prompt stands before it is read from
    os.killpg(typist.process.pid, signal.SIGINT)  # what the terminal does on Ctrl-C
    text = typist.sees("run the same command to continue")
    assert "1 question asked, 1 row of 12 labelled, 1 category." in text
    assert "Traceback" not in text
    assert typist.process.wait(60) == 0
