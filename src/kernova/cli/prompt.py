"""Dialogue of ``kernova discover --terminal``: show a question, read a line, save the answer.

A line is the name of a category unless it begins with a command's word.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from kernova.cli.console import escaped_line, progress_bars

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.discover.events import Confidence
    from kernova.discover.session import AskedQuestion
    from kernova.workbench.discovery import Discovery

PROMPT = "category (? for help): "
NOTHING_LEFT = (
    "There is nothing left to ask: every row was asked or labelled. Answers can still be undone "
    "or changed; type quit to stop."
)
_ONE_LABEL = (
    "This project gives each row one label; to allow further ones, start it with --multiple-labels."
)
_ABOUT_THE_ROW = ("name", "all", "skip", "unsure", "note", "flag", "also")
_NO_CATEGORY = "No category has been named yet."
_CATEGORIES_SHOWN = 12
_ROWS_SHOWN = 10
HELP = """\
NAME                    the row belongs to this category, a known one or a new one
all NAME                so do all unlabelled rows that the question represents
sure low NAME           the same, with low, medium or high confidence
skip                    skip this row
unsure                  this row cannot be decided: it is listed apart from skipped ones
note TEXT               a note on this row (nothing after it: remove the note)
flag                    flag this row for later, or remove its flag
also NAME               a further label beside the category, with --multiple-labels
undo                    undo the last entry; may be repeated
change 3 = NAME         change the answer to question 3 (nothing after the =: skip it)
label ID = NAME         label another row
rename OLD = NEW        rename a category
merge NAME = A, B       merge the categories A and B into NAME
delete NAME             delete a category; rows asked about count as skipped
settle ID = NAME        settle a disagreement between experts about a row
list                    list the categories, and the rows that experts disagree about
quit                    stop; the same command continues from here (also Ctrl-D and Ctrl-C)
=NAME                   exactly this name, even if it is one of the commands above"""

_WITHOUT_ARGUMENT = {
    "?": "help", "help": "help", "skip": "skip", "undo": "undo", "list": "list", "quit": "quit",
    "exit": "quit", "unsure": "unsure", "flag": "flag", "note": "note",
}  # fmt: skip
_WITH_EQUALS = {
    "change": "change 3 = NAME",
    "label": "label ID = NAME",
    "rename": "rename OLD = NEW",
    "merge": "merge NAME = A, B",
    "settle": "settle ID = NAME",
}
_WITH_NAME = ("all", "delete", "also")
_CONFIDENCES = ("low", "medium", "high")
COMMAND_WORDS = (
    *(word for word in _WITHOUT_ARGUMENT if word != "?"),
    *_WITH_EQUALS,
    *_WITH_NAME,
    "sure",
)


# --- what is typed ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A parsed line.

    Parameters
    ----------
    action : str
        What to do: "name", "all", a word of the help, "nothing", or "incomplete" for a command
        without its arguments.
    left, right : str
        Arguments: a single one on the left; with ``=``, those before and after it; of a name, the
        confidence on the right. Of an incomplete command, its usage and the line.
    is_exact : bool
        Whether the name is to be taken literally, without a suggestion.
    """

    action: str
    left: str = ""
    right: str = ""
    is_exact: bool = False


def parse_command(line: str) -> Command:
    """Return the command that a line stands for.

    Examples
    --------
    >>> from kernova.cli.prompt import parse_command
    >>> parse_command("carp")
    Command(action='name', left='carp', right='', is_exact=False)
    >>> parse_command("rename carp = Carp")
    Command(action='rename', left='carp', right='Carp', is_exact=False)
    >>> [parse_command(line).action for line in ("=undo", "undo", "undo it")]
    ['name', 'undo', 'name']
    >>> parse_command("sure high carp")
    Command(action='name', left='carp', right='high', is_exact=False)
    """
    line = line.strip()
    if not line:
        return Command("nothing")
    if line.startswith("="):
        return Command("name", line[1:].strip(), is_exact=True)
    if line.lower() in _WITHOUT_ARGUMENT:
        return Command(_WITHOUT_ARGUMENT[line.lower()])
    word, _, rest = line.partition(" ")
    if word.lower() in _WITH_NAME:
        name = rest.strip()
        exact = name.startswith("=")
        return Command(word.lower(), name.removeprefix("=").strip(), is_exact=exact)
    if word.lower() in _WITH_EQUALS:
        return _two_sided(word.lower(), rest, line)
    if word.lower() == "note":
        return Command("note", rest.strip())
    if word.lower() == "sure":
        return _with_confidence(rest, line)
    return Command("name", line)


def _with_confidence(rest: str, line: str) -> Command:
    confidence, _, name = rest.strip().partition(" ")
    exact = name.strip().startswith("=")
    name = name.strip().removeprefix("=").strip()
    if confidence.lower() not in _CONFIDENCES or not name:
        return Command("incomplete", "sure low NAME (or medium, or high)", line)
    return Command("name", name, confidence.lower(), is_exact=exact)


def _two_sided(word: str, rest: str, line: str) -> Command:
    # A name may contain a = of its own; one with spaces around it is the command's.
    separator = " = " if " = " in f"{rest} " else "="
    left, found, right = f"{rest} ".partition(separator)
    if not found or not left.strip():
        return Command("incomplete", _WITH_EQUALS[word], line)
    return Command(word, left.strip(), right.strip())


class Suggestion(NamedTuple):
    """Known categories that begin with a typed name; the expert decides which one is meant."""

    typed: Command
    matches: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Matches, and what to type for one of them or for a new category."""
        typed = self.typed.left
        known = " and ".join(f'"{name}"' for name in self.matches)
        choice = f"Press Enter for {known}" if len(self.matches) == 1 else "Type more of the name"
        return f'"{typed}" begins {known}. {choice}, or type {typed} again for a new category.'


def suggestion_for(command: Command, categories: Iterable[str]) -> Suggestion | None:
    """Return the known categories that begin with a new name, None if there are none.

    Examples
    --------
    >>> from kernova.cli.prompt import Command, suggestion_for
    >>> print(suggestion_for(Command("name", "Car"), ["carp", "eel"]).sentence)
    "Car" begins "carp". Press Enter for "carp", or type Car again for a new category.
    """
    known = list(categories)
    if command.action not in ("name", "all") or command.is_exact or command.left in known:
        return None
    start = command.left.casefold()
    matches = tuple(name for name in known if start and name.casefold().startswith(start))
    return Suggestion(command, matches) if matches else None


# --- what is shown ---------------------------------------------------------------------------


def _print_question(
    out: "EscapingConsole", discovery: "Discovery", question: "AskedQuestion"
) -> None:
    """Print a question: the row, the reason, the rows it represents, and its unusual values."""
    out.print()
    title = escaped_line(f"Question {question.number}: {question.id}")
    out.print(title, style="bold", markup=False)
    reason = discovery.noun.in_sentence(question.reason)
    out.print_lines(reason, escaped_line(discovery.describe_cluster(question)))
    _print_remarks(out, discovery, question)
    _print_features(out, discovery, question.row)
    out.print_lines(_category_line(discovery))


def _print_remarks(
    out: "EscapingConsole", discovery: "Discovery", question: "AskedQuestion"
) -> None:
    """Print what was noted about the row, if anything was."""
    noted, row = discovery.session.results_.annotations, question.row
    if row in noted.flagged:
        out.print("It is flagged.")
    if row in noted.tags:
        out.print_lines(escaped_line(f"Also: {', '.join(noted.tags[row])}"))
    if row in noted.notes:
        out.print_lines(escaped_line(f"Note: {noted.notes[row]}"))


def _print_categories(out: "EscapingConsole", discovery: "Discovery") -> None:
    """Print the categories found so far, with the number of rows labelled with each."""
    if len(discovery.categories):
        out.print_table(discovery.categories)
    else:
        out.print(_NO_CATEGORY)


def _print_disagreements(out: "EscapingConsole", discovery: "Discovery") -> None:
    """Print the rows to which experts gave different labels, if there are any."""
    found = discovery.session.disagreements_
    for one in found[:_ROWS_SHOWN]:
        opinions = ", ".join(
            f"{expert or 'someone'} says {label}" for expert, label in one.opinions.items()
        )
        row_id = escaped_line(str(discovery.session.ids_[one.row]))
        out.print_lines(f"Experts disagree about {row_id}: {opinions}.")
    if len(found) > _ROWS_SHOWN:
        more = discovery.noun.counted(len(found) - _ROWS_SHOWN, "more")
        out.print(f"They also disagree about {more}.")


def _category_line(discovery: "Discovery") -> str:
    """List the first categories in one line, with the number of rows labelled with each."""
    counts = {name: len(rows) for name, rows in discovery.session.categories_.items()}
    if not counts:
        return _NO_CATEGORY
    shown = [f"{name} ({count})" for name, count in list(counts.items())[:_CATEGORIES_SHOWN]]
    n_more = len(counts) - len(shown)
    return f"Categories: {', '.join(shown)}{f' and {n_more} more' if n_more else ''}"


def _print_features(out: "EscapingConsole", discovery: "Discovery", row: int) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    table.add_column("what stands out")  # where space is short, only names are wrapped
    table.add_column("here", justify="right", no_wrap=True)
    table.add_column("usually", justify="right", no_wrap=True)
    table.add_column("percentile", justify="right", no_wrap=True)
    table.add_column("low ... high", no_wrap=True)
    for feature in discovery.population.unusual_values(row):
        texts = (feature.name, feature.value, feature.usual, feature.place, feature.strip)
        table.add_row(*map(escape, texts))
    out.print(table)


# --- the dialogue ----------------------------------------------------------------------------


class Dialogue:
    """Questions and answers until the expert stops or a number of questions is reached.

    Parameters
    ----------
    discovery : Discovery
        The table and the answers so far.
    out : EscapingConsole
        Where questions are printed.
    read_line : callable
        Returns the next line, or raises EOFError or KeyboardInterrupt when there is none.
    is_person : bool
        Whether a person types: then a name that begins a known one leads to a suggestion.
    """

    def __init__(
        self,
        discovery: "Discovery",
        out: "EscapingConsole",
        read_line: Callable[[], str],
        *,
        is_person: bool,
    ) -> None:
        self.discovery = discovery
        self.session = discovery.session
        self.out = out
        self.read_line = read_line
        self.is_person = is_person
        self.suggestion: Suggestion | None = None
        self.shown: tuple[int, int] | None = None
        self.would_stop = discovery.advice.questions_left == 0

    def run(self, n_questions: int | None = None) -> None:
        """Hold the dialogue; every answer is on the disk when this returns."""
        last = None if n_questions is None else self.session.n_questions_ + n_questions
        try:
            while True:
                if last is not None and self.session.n_questions_ >= last:
                    self.print_line(f"That was question {last}, the last of this session.")
                    return
                with progress_bars():
                    question = self.session.next_question()
                self._show(question)
                if not self._read_answer(question):
                    return
                self._advise()
        except (EOFError, KeyboardInterrupt):
            if self.is_person:
                self.print_line("")  # the next output begins on a line of its own

    def print_line(self, sentence: str) -> None:
        """Print one line."""
        self.out.print_lines(escaped_line(sentence))

    def _print_worded(self, sentence: str) -> None:
        """Print a sentence about rows, with the user's noun for them."""
        self.print_line(self.discovery.noun.in_sentence(sentence))

    def _print_saved(self, sentence: str) -> None:
        """Print what is on disk, and where if the project is no longer in its place."""
        warning = self.discovery.warning
        self.print_line(f"{'Saved' if warning is None else 'Saved in a rescue file'}: {sentence}")
        if warning is not None:
            self.print_line(warning)

    def _advise(self) -> None:
        """Print the estimates and the advice once, when the advice is first to stop."""
        advice = self.discovery.advice
        would_stop = advice.questions_left == 0
        if would_stop and not self.would_stop:
            for sentence in advice.guessed:
                self.print_line(sentence)
        self.would_stop = would_stop

    def _show(self, question: "AskedQuestion | None") -> None:
        """Print the question in full once; after a correction elsewhere, as one line."""
        if question is None:
            self._print_worded(NOTHING_LEFT)
            return
        if self.shown == (question.number, question.row):
            self.print_line(f"Question {question.number} again: {question.id}")
            self.print_line(_category_line(self.discovery))
            return
        _print_question(self.out, self.discovery, question)
        self.shown = (question.number, question.row)

    def _read_answer(self, question: "AskedQuestion | None") -> bool:
        """Read lines until one is recorded in the log; return False to stop."""
        n_entries = len(self.session.log_)
        while len(self.session.log_) == n_entries:
            command = self._resolve(parse_command(self.read_line()))
            if command.action == "quit":
                return False
            if question is None and command.action in _ABOUT_THE_ROW:
                self._print_worded(NOTHING_LEFT)
            else:
                self._execute(command, question)
        return True

    def _resolve(self, command: Command) -> Command:
        """Return the command meant after a suggestion, or make a suggestion."""
        suggestion, self.suggestion = self.suggestion, None
        if suggestion is not None and command == suggestion.typed:
            return replace(command, is_exact=True)
        if suggestion is not None and command.action == "nothing" and len(suggestion.matches) == 1:
            return replace(suggestion.typed, left=suggestion.matches[0], is_exact=True)
        if self.is_person:
            self.suggestion = suggestion_for(command, self.session.categories_)
        if self.suggestion is not None:
            self.print_line(self.suggestion.sentence)
            return Command("wait")
        return command

    def _execute(self, command: Command, question: "AskedQuestion | None") -> None:
        from kernova.errors import InputError

        try:
            getattr(self, f"_on_{command.action}")(command, question)
        except InputError as error:
            self._print_worded(str(error))

    # --- one method for each action ----------------------------------------------------------

    def _on_wait(self, command: Command, question: "AskedQuestion") -> None:
        pass

    def _on_nothing(self, command: Command, question: "AskedQuestion") -> None:
        self.print_line("Type the name of a category, skip, or ? for help.")

    def _on_help(self, command: Command, question: "AskedQuestion") -> None:
        self.out.print_lines(self.discovery.noun.in_sentence(HELP))

    def _on_incomplete(self, command: Command, question: "AskedQuestion") -> None:
        self._print_usage(command.left, command.right)

    def _print_usage(self, usage: str, line: str) -> None:
        self.print_line(f"Usage: {usage}. For a category of that name, type ={line}")

    def _on_list(self, command: Command, question: "AskedQuestion") -> None:
        _print_categories(self.out, self.discovery)
        _print_disagreements(self.out, self.discovery)

    def _on_name(self, command: Command, question: "AskedQuestion") -> None:
        before = self.session.categories_
        sure = cast("Confidence | None", command.right or None)
        self.session.answer(command.left, confidence=sure)
        self._acknowledge(f"{question.id} is", before, sure)

    def _on_all(self, command: Command, question: "AskedQuestion") -> None:
        if not command.left:
            self._print_usage("all NAME", "all")
            return
        before = self.session.categories_
        n_before = self.session.n_labelled_
        self.session.name_cluster(command.left)
        n_labelled = self.session.n_labelled_ - n_before
        are = "is" if n_labelled == 1 else "are"
        self._acknowledge(f"{self.discovery.noun.counted(n_labelled)} {are}", before)

    def _on_delete(self, command: Command, question: "AskedQuestion") -> None:
        if not command.left:
            self._print_usage("delete NAME", "delete")
            return
        self.session.delete(command.left)
        self._print_saved(f'the category "{command.left}" is deleted.')

    def _on_settle(self, command: Command, question: "AskedQuestion") -> None:
        self.session.settle(command.left, command.right)
        self._print_saved(f'{command.left} is settled as "{command.right}".')

    def _acknowledge(
        self,
        subject: str,
        before: dict[str, tuple[int, ...]],
        confidence: "Confidence | None" = None,
    ) -> None:
        row = self.session.asked_[-1]
        name = self.session.labels_[row]
        news = ", a new category" if name not in before else ""
        sure = "" if confidence is None else f", with {confidence} confidence"
        self._print_saved(f'{subject} "{name}"{news}{sure}.')

    def _on_unsure(self, command: Command, question: "AskedQuestion") -> None:
        self.session.skip(unsure=True)
        self._print_saved(f"{question.id} is left undecided.")

    def _on_note(self, command: Command, question: "AskedQuestion") -> None:
        self.session.review.note(question.id, command.left or None)
        now = "saved" if command.left else "removed"
        self._print_saved(f"the note on {question.id} is {now}.")

    def _on_flag(self, command: Command, question: "AskedQuestion") -> None:
        is_on = question.row not in self.session.results_.annotations.flagged
        self.session.review.flag([question.id], is_on)
        self._print_saved(f"{question.id} is {'flagged' if is_on else 'no longer flagged'}.")

    def _on_also(self, command: Command, question: "AskedQuestion") -> None:
        if not command.left:
            self._print_usage("also NAME", "also")
        elif not self.discovery.has_further_labels:
            self._print_worded(_ONE_LABEL)
        else:
            self.session.review.tag([question.id], command.left)
            self._print_saved(f'{question.id} is also "{command.left}".')

    def _on_skip(self, command: Command, question: "AskedQuestion") -> None:
        self.session.skip()
        self._print_saved(f"{question.id} is skipped.")

    def _on_undo(self, command: Command, question: "AskedQuestion") -> None:
        self.session.undo()
        self._print_saved("the last entry is undone.")

    def _on_change(self, command: Command, question: "AskedQuestion") -> None:
        if not command.left.isdecimal():
            self.print_line(f'A question is identified by its number; got "{command.left}".')
            return
        number = int(command.left)
        self.session.change(number, command.right or None)
        row_id = self.session.ids_[self.session.asked_[number - 1]]
        now = f'"{command.right}"' if command.right else "skipped"
        self._print_saved(f"question {number} ({row_id}) is now {now}.")

    def _on_label(self, command: Command, question: "AskedQuestion") -> None:
        self.session.label_row(command.left, command.right)
        self._print_saved(f'{command.left} is "{command.right}".')

    def _on_rename(self, command: Command, question: "AskedQuestion") -> None:
        self.session.rename(command.left, command.right)
        self._print_saved(f'"{command.left}" is renamed to "{command.right}".')

    def _on_merge(self, command: Command, question: "AskedQuestion") -> None:
        others = [name for name in command.right.split(",") if name.strip()]
        self.session.merge(command.left, *others)
        self._print_saved(f'{command.right} merged into "{command.left}".')


# --- reading lines ---------------------------------------------------------------------------


def line_reader(discovery: "Discovery", out: "EscapingConsole") -> Callable[[], str]:
    """Return a function that reads a line, with completion where a person types."""
    is_person = sys.stdin.isatty()
    if is_person and sys.stdout.isatty():
        _complete_names(discovery)
        return lambda: _typed(PROMPT)
    if hasattr(sys.stdin, "reconfigure"):
        # Bytes that are no text come through as such, and lead to an error message.
        sys.stdin.reconfigure(errors="surrogateescape")

    def read_line() -> str:
        if is_person:  # with standard output redirected
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
    """Let the tab key complete categories and commands, where Python has readline."""
    try:
        import readline
    except ImportError:
        return

    def completion(text: str, state: int) -> str | None:
        # Commands only where no category matches: "re" becomes "red", not "rename".
        matches = _beginning(text, discovery.session.categories_) or _beginning(text, COMMAND_WORDS)
        return matches[state] if state < len(matches) else None

    readline.set_completer(completion)
    readline.set_completer_delims("\n")  # names may contain spaces
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")


def _beginning(text: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.casefold().startswith(text.casefold())]
