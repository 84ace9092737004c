"""Summaries as HTML for notebooks: a heading, a few facts and a small table.

Colours are those of the notebook, light or dark; every text is escaped.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from kernova.text import quantity, with_visible_marks

if TYPE_CHECKING:
    from kernova.discover.results import SessionResults

_ROWS_SHOWN: Final = 12
_LONGEST: Final = 300
_LEFT: Final = "text-align:left"
_LINE: Final = "border-bottom:1px solid currentColor"


def summary_html(
    title: str,
    sentences: Sequence[str],
    columns: Mapping[str, Sequence[Any]] | None = None,
) -> str:
    """Return a summary for a notebook.

    Parameters
    ----------
    title : str
        Name of the object.
    sentences : sequence of str
        What is to be known of it.
    columns : mapping of str to sequence, optional
        A small table; of more than twelve lines, the first.

    Examples
    --------
    >>> from kernova.discover.notebook_view import summary_html
    >>> html = summary_html("Session", ["2 < 3"], {"category": ["<b>"], "rows": [3]})
    >>> "<p>2 &lt; 3</p>" in html, "&lt;b&gt;" in html
    (True, True)
    """
    paragraphs = "".join(f"<p>{_escaped(one)}</p>" for one in sentences)
    return f"<div><strong>{_escaped(title)}</strong>{paragraphs}{_table(columns or {})}</div>"


def session_html(results: "SessionResults") -> str:
    """Return the summary of a session: questions, labels, and the largest categories."""
    sizes = sorted(results.category_sizes.items(), key=lambda item: -item[1])
    skipped = f" ({results.n_skipped:,} without a label)" if results.n_skipped else ""
    sentences = [
        f"{quantity(results.n_questions, 'question')} asked{skipped}, "
        f"{quantity(results.n_labelled, 'row')} of {len(results.ids):,} labelled, "
        f"{quantity(len(sizes), 'category', 'categories')}."
    ]
    if results.n_disagreements:
        sentences.append(f"{quantity(results.n_disagreements, 'disagreement')} to settle.")
    names, counts = [name for name, _ in sizes], [n_rows for _, n_rows in sizes]
    return summary_html("CategoryDiscovery", sentences, {"category": names, "rows": counts})


def _table(columns: Mapping[str, Sequence[Any]]) -> str:
    lines = list(zip(*columns.values(), strict=True))
    if not lines:
        return ""
    heads = "".join(f'<th style="{_LEFT};{_LINE}">{_escaped(name)}</th>' for name in columns)
    cells = (
        "".join(f'<td style="{_LEFT}">{_escaped(one)}</td>' for one in line)
        for line in lines[:_ROWS_SHOWN]
    )
    body = "".join(f"<tr>{one}</tr>" for one in cells)
    more = len(lines) - _ROWS_SHOWN
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _escaped(value: Any) -> str:
    text = f"{value:,.3g}" if isinstance(value, float) else str(value)
    return escape(with_visible_marks(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"))
