"""``kernova discover --terminal``: questions at a prompt."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from kernova.cli.console import progress_bars
from kernova.cli.discover.ending import print_beginning, print_end

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workbench.discovery import Discovery


def ask_at_terminal(discovery: "Discovery", out: "EscapingConsole", questions: int | None) -> None:
    """Ask questions at a prompt, or read answers from a pipe."""
    from kernova.cli.prompt import Dialogue, line_reader

    print_beginning(discovery, out)
    is_person = sys.stdin.isatty()
    if is_person:
        out.print("Choosing the first question; this takes longer the first time.")
    _prepare(discovery)
    dialogue = Dialogue(discovery, out, line_reader(discovery, out), is_person=is_person)
    dialogue.run(questions)
    print_end(discovery, out)


def _prepare(discovery: "Discovery") -> None:
    """Prepare the first question; of a large table the rest, too, while questions are asked."""
    import threading

    session = discovery.session

    def prepare_rest() -> None:
        with suppress(Exception):  # the question that needs it raises it again
            discovery.prepare()

    with progress_bars():
        session.prepare(sample_only=True)
        if not session.is_ready_:
            discovery.prepare()
            return
    # A daemon, so that the program can exit at once: no file depends on this thread.
    threading.Thread(target=prepare_rest, daemon=True).start()
