"""Why a stranger or a crowd is worth a question, in words that need no unit of distance."""

from typing import Final, NamedTuple

from kernova.discover.questions import Answer
from kernova.discover.strategies.row_spacing import Look

# A group reaches 1.5 of its spacings: what is two away belongs to something else.
_UNLIKE: Final = 2.0
_MOST_TIMES: Final = 1000


class RowFacts(NamedTuple):
    """What is known of a row that is to be asked.

    Attributes
    ----------
    n_group : int
        How many rows without a name it stands for, itself among them.
    is_more : bool
        Whether the group may be larger than what was counted.
    closer, wider : float
        Share of rows that lie closer together than those around this one, and farther apart.
    n_rows : int
        How many rows there are.
    nearest : Answer
        What was said of the nearest row that was seen.
    distance : float
        How far that one is.
    spacing, usual_spacing : float
        How far apart rows lie here, and in the middle of the table.
    """

    n_group: int
    is_more: bool
    closer: float
    wider: float
    n_rows: int
    nearest: Answer
    distance: float
    spacing: float
    usual_spacing: float


def reason_of_row(look: Look, facts: RowFacts) -> str:
    """Say what the row is like, how far it is from what was named, and how rare that is.

    Examples
    --------
    >>> from kernova.discover.questions import Answer
    >>> seen = Answer(3, "usual")
    >>> facts = RowFacts(14, False, 0.1, 0.9, 500, seen, 6.0, 1.2, 2.0)
    >>> reason_of_row("crowds", facts).partition(":")[0]
    'A tight group of 14 rows, unlike anything named so far'
    """
    is_group = look == "crowds" and facts.n_group > 1
    times = facts.distance / (facts.spacing if is_group else facts.usual_spacing)
    novel = "unlike anything" if times >= _UNLIKE else "not far from what was"
    named = "skipped" if facts.nearest.label is None else f"named {facts.nearest.label!r}"
    unit = "they are from each other" if is_group else "neighbours usually are"
    sentence = (
        f"{_beginning(look, facts)}, {novel} named so far: the nearest, {named}, is "
        f"{_far(times)} {unit}."
    )
    return sentence if look == "crowds" else f"{sentence} {_rarity(facts)}"


def _beginning(look: Look, facts: RowFacts) -> str:
    rows = f"{'at least ' if facts.is_more else ''}{facts.n_group:,} rows"
    if look == "strangers":
        several = f"{rows[0].upper()}{rows[1:]} that stand apart"
        return "A row that stands apart" if facts.n_group == 1 else several
    if facts.n_group == 1:
        return "A row"
    return f"A {'tight ' if facts.wider >= 0.5 else ''}group of {rows}"


def _far(times: float) -> str:
    if times > _MOST_TIMES:
        return f"over {_MOST_TIMES:,} times as far away as"
    if times < 1.05:
        return "no farther away than"
    return (
        f"{times:.2g} times as far away as" if times < 10 else f"{times:,.0f} times as far away as"
    )


def _rarity(facts: RowFacts) -> str:
    n_wider = round(facts.wider * facts.n_rows)
    if n_wider == 0:
        return "No row stands more apart."
    if facts.wider < 0.01:
        verb = "stands" if n_wider == 1 else "stand"
        return f"Only {n_wider:,} of {facts.n_rows:,} rows {verb} more apart."
    return f"{100 * facts.closer:.0f} % of all rows stand less apart."
