"""How a question looks at the terminal: the row against all others, and why it is asked."""

from typing import TYPE_CHECKING

from kernova.cli.readable import in_one_line

if TYPE_CHECKING:
    from rich.console import Console

    from kernova.discover.session import AskedQuestion
    from kernova.studies.discovery import Discovery

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
