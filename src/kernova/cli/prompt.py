"""How a question looks at the terminal: the row against all others, and why it is asked.

The dialogue at the terminal: a question is shown, a line is typed, and it is saved.
"""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kernova.cli.console import in_one_line, progress_bars
from kernova.cli.prompt_commands import HELP, WORDS, Offer, Saying, offer_for, understood

if TYPE_CHECKING:
    from rich.console import Console

    from kernova.discover.session import AskedQuestion
    from kernova.workbench.discovery import Discovery


_CATEGORIES_NAMED = 12
_ROWS_NAMED = 10


def print_question(out: "Console", discovery: "Discovery", question: "AskedQuestion") -> None:
    """Show a question: the row, why it is asked, what it stands for, what stands out in it."""
    out.print()
    title = in_one_line(f"Question {question.number}: {question.id}")
    out.print(title, style="bold", markup=False)
    out.print(question.reason, markup=False)
    out.print(in_one_line(discovery.cluster_words(question)), markup=False)
    _print_features(out, discovery, question.row)
    out.print(categories_words(discovery), markup=False)


def print_categories(out: "Console", discovery: "Discovery") -> None:
    """Show the categories met so far, with how many rows are known of each."""
    from rich.markup import escape
    from rich.table import Table

    lines = discovery.categories
    if len(lines) == 0:
        out.print("No category has been named yet.")
        return
    table = Table()
    for name in lines.columns:
        table.add_column(name, justify="right" if name == "rows" else "left")
    for values in lines.itertuples(index=False):
        table.add_row(*(escape(str(value)) for value in values))
    out.print(table)


def print_disagreements(out: "Console", discovery: "Discovery") -> None:
    """Show the rows that experts name differently, if there are any."""
    found = discovery.session.disagreements_
    for one in found[:_ROWS_NAMED]:
        said = ", ".join(
            f"{expert or 'someone'} says {label}" for expert, label in one.opinions.items()
        )
        row_id = in_one_line(str(discovery.session.ids_[one.row]))
        out.print(f"Experts disagree about {row_id}: {said}.", markup=False)
    if len(found) > _ROWS_NAMED:
        out.print(f"So they do about {len(found) - _ROWS_NAMED:,} more rows.")


def categories_words(discovery: "Discovery") -> str:
    """Name the categories so far in a line, those met last first to go if there are many."""
    counts = {name: len(rows) for name, rows in discovery.session.categories_.items()}
    if not counts:
        return "No category has been named yet."
    named = [f"{name} ({count})" for name, count in list(counts.items())[:_CATEGORIES_NAMED]]
    n_more = len(counts) - len(named)
    return f"Categories: {', '.join(named)}{f' and {n_more} more' if n_more else ''}"


def _print_features(out: "Console", discovery: "Discovery", row: int) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    table.add_column("what stands out")  # where there is little room, names give way
    table.add_column("here", justify="right", no_wrap=True)
    table.add_column("usually", justify="right", no_wrap=True)
    table.add_column("percentile", justify="right", no_wrap=True)
    table.add_column("low ... high", no_wrap=True)
    for feature in discovery.population.standing_out(row):
        texts = (feature.name, feature.value, feature.usual, feature.place, feature.strip)
        table.add_row(*map(escape, texts))
    out.print(table)


PROMPT = "category (? for help): "
NOTHING_LEFT = (
    "There is nothing left to ask: every row was asked or named. What was said can still be "
    "undone or changed; quit leaves."
)


class Dialogue:
    """Ask until someone leaves, or the wanted number of questions is reached.

    Parameters
    ----------
    discovery : Discovery
        What is asked about.
    out : Console
        Where it is shown.
    read_line : callable
        Gives the next line, or raises EOFError or KeyboardInterrupt when there is none.
    is_person : bool
        Whether someone types: then a name that begins a known one is asked about.
    """

    def __init__(
        self,
        discovery: "Discovery",
        out: "Console",
        read_line: Callable[[], str],
        *,
        is_person: bool,
    ) -> None:
        self.discovery = discovery
        self.session = discovery.session
        self.out = out
        self.read_line = read_line
        self.is_person = is_person
        self.offer: Offer | None = None
        self.shown: tuple[int, int] | None = None
        self.would_stop = discovery.advice.questions_left == 0

    def run(self, n_questions: int | None = None) -> None:
        """Hold the dialogue; everything said is on the disk when this returns."""
        last = None if n_questions is None else self.session.n_questions_ + n_questions
        try:
            while True:
                if last is not None and self.session.n_questions_ >= last:
                    self.say(f"That was question {last}, the last of this sitting.")
                    return
                with progress_bars():
                    question = self.session.next_question()
                self._show(question)
                if not self._hear(question):
                    return
                self._advise()
        except (EOFError, KeyboardInterrupt):
            if self.is_person:
                self.say("")  # what follows begins on a line of its own

    def _advise(self) -> None:
        """Say it once when the rule of thumb would stop; it says what it is worth."""
        advice = self.discovery.advice
        would_stop = advice.questions_left == 0
        if would_stop and not self.would_stop:
            for sentence in advice.guessed:
                self.say(sentence)
        self.would_stop = would_stop

    def say(self, sentence: str) -> None:
        """Print a sentence."""
        self.out.print(in_one_line(sentence), markup=False)

    def _show(self, question: "AskedQuestion | None") -> None:
        """Show the whole card once; after a correction that left the question as it was, a line."""
        if question is None:
            self.say(NOTHING_LEFT)
            return
        if self.shown == (question.number, question.row):
            self.say(f"Question {question.number} again: {question.id}")
            self.say(categories_words(self.discovery))
            return
        print_question(self.out, self.discovery, question)
        self.shown = (question.number, question.row)

    def _hear(self, question: "AskedQuestion | None") -> bool:
        """Take lines until something was said that counts; False when it is time to leave."""
        n_said = len(self.session.log_)
        while len(self.session.log_) == n_said:
            saying = self._meant(understood(self.read_line()))
            if saying.act == "quit":
                return False
            if question is None and saying.act in ("name", "all", "skip"):
                self.say(NOTHING_LEFT)
            else:
                self._obey(saying, question)
        return True

    def _meant(self, saying: Saying) -> Saying:
        """Settle what was offered, or offer what may be meant."""
        offer, self.offer = self.offer, None
        if offer is not None and saying == offer.typed:
            return Saying(saying.act, saying.left, is_exact=True)
        if offer is not None and saying.act == "nothing" and len(offer.begun) == 1:
            return Saying(offer.typed.act, offer.begun[0], is_exact=True)
        if self.is_person:
            self.offer = offer_for(saying, self.session.categories_)
        if self.offer is not None:
            self.say(self.offer.sentence)
            return Saying("wait")
        return saying

    def _obey(self, saying: Saying, question: "AskedQuestion | None") -> None:
        from kernova.errors import InputError

        try:
            getattr(self, f"_{saying.act}")(saying, question)
        except InputError as error:
            self.say(str(error))

    # --- what each word does ---------------------------------------------------------------

    def _wait(self, saying: Saying, question: "AskedQuestion") -> None:
        pass

    def _nothing(self, saying: Saying, question: "AskedQuestion") -> None:
        self.say("Type the name of a category, skip, or ? for help.")

    def _help(self, saying: Saying, question: "AskedQuestion") -> None:
        self.out.print(HELP, markup=False)

    def _puzzle(self, saying: Saying, question: "AskedQuestion") -> None:
        self.say(f"It goes like this: {saying.left}. For a category of that name: ={saying.right}")

    def _list(self, saying: Saying, question: "AskedQuestion") -> None:
        print_categories(self.out, self.discovery)
        print_disagreements(self.out, self.discovery)

    def _name(self, saying: Saying, question: "AskedQuestion") -> None:
        before = self.session.categories_
        self.session.answer(saying.left)
        self._acknowledge(f"{question.id} is", before)

    def _all(self, saying: Saying, question: "AskedQuestion") -> None:
        if not saying.left:
            self.say("It goes like this: all NAME. For a category of that name: =all")
            return
        before = self.session.categories_
        n_before = self.session.n_labelled_
        self.session.name_cluster(saying.left)
        n_named = self.session.n_labelled_ - n_before
        self._acknowledge(f"{n_named:,} row{' is' if n_named == 1 else 's are'}", before)

    def _delete(self, saying: Saying, question: "AskedQuestion") -> None:
        if not saying.left:
            self.say("It goes like this: delete NAME. For a category of that name: =delete")
            return
        self.session.delete(saying.left)
        self.say(f'Saved: there is no category "{saying.left}" any more.')

    def _settle(self, saying: Saying, question: "AskedQuestion") -> None:
        self.session.settle(saying.left, saying.right)
        self.say(f'Saved: {saying.left} is settled, it is "{saying.right}".')

    def _acknowledge(self, subject: str, before: dict[str, tuple[int, ...]]) -> None:
        row = self.session.asked_[-1]
        name = self.session.labels_[row]
        news = ", a new category" if name not in before else ""
        self.say(f'Saved: {subject} "{name}"{news}.')

    def _skip(self, saying: Saying, question: "AskedQuestion") -> None:
        self.session.skip()
        self.say(f"Saved: {question.id} is skipped.")

    def _undo(self, saying: Saying, question: "AskedQuestion") -> None:
        self.session.undo()
        self.say("Saved: what was said last counts no more.")

    def _change(self, saying: Saying, question: "AskedQuestion") -> None:
        if not saying.left.isdecimal():
            self.say(f'A question goes by its number; got "{saying.left}".')
            return
        number = int(saying.left)
        self.session.change(number, saying.right or None)
        row_id = self.session.ids_[self.session.asked_[number - 1]]
        now = f'"{saying.right}"' if saying.right else "skipped"
        self.say(f"Saved: {row_id}, question {number}, is {now} now.")

    def _label(self, saying: Saying, question: "AskedQuestion") -> None:
        self.session.label_row(saying.left, saying.right)
        self.say(f'Saved: {saying.left} is "{saying.right}".')

    def _rename(self, saying: Saying, question: "AskedQuestion") -> None:
        self.session.rename(saying.left, saying.right)
        self.say(f'Saved: "{saying.left}" is called "{saying.right}" now.')

    def _merge(self, saying: Saying, question: "AskedQuestion") -> None:
        others = [name for name in saying.right.split(",") if name.strip()]
        self.session.merge(saying.left, *others)
        self.say(f'Saved: {saying.right} is part of "{saying.left}" now.')


def line_reader(discovery: "Discovery", out: "Console") -> Callable[[], str]:
    """Give what reads a line: with completion where someone types, plainly from a pipe."""
    is_person = sys.stdin.isatty()
    if is_person and sys.stdout.isatty():
        _complete_names(discovery)
        return lambda: _typed(PROMPT)
    if hasattr(sys.stdin, "reconfigure"):
        # Bytes that are no text come through as such, and are refused with a sentence.
        sys.stdin.reconfigure(errors="surrogateescape")

    def read_line() -> str:
        if is_person:  # whose answers go elsewhere
            out.print(PROMPT, end="")
        try:
            line = sys.stdin.readline()
        except OSError as error:  # a folder, or a terminal that was closed
            raise EOFError from error
        if not line:
            raise EOFError
        return line

    return read_line


def _typed(prompt: str) -> str:
    try:
        return input(prompt)
    except OSError as error:  # the terminal was closed
        raise EOFError from error


def _complete_names(discovery: "Discovery") -> None:
    """Let the tab key complete categories and words, where Python has readline."""
    try:
        import readline
    except ImportError:
        return

    def completion(text: str, state: int) -> str | None:
        # Words only where no category fits: "re" is to become "red", not stop before "rename".
        fits = _beginning(text, discovery.session.categories_) or _beginning(text, WORDS)
        return fits[state] if state < len(fits) else None

    readline.set_completer(completion)
    readline.set_completer_delims("\n")  # names may hold spaces
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")


def _beginning(text: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.casefold().startswith(text.casefold())]
