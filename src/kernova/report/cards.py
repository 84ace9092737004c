"""Cards on a page: a few words and bars for each of some rows."""

from collections.abc import Sequence
from typing import NamedTuple

from kernova.report.page import Html, escaped


class Bar(NamedTuple):
    """One line of a card: a name, a share from 0 to 1 drawn as a bar, and words beside it."""

    name: str
    share: float
    words: str


class Card(NamedTuple):
    """What is said of one row.

    Attributes
    ----------
    title : str
        Whom it is about.
    lead : str
        A short line under the title.
    bars : sequence of Bar
        What the bars show, the longest first.
    ending : str
        A line below the bars; empty for none.
    marked : bool
        Whether to set the card off by colour. Its lead should say it in words too.
    """

    title: str
    lead: str
    bars: Sequence[Bar]
    ending: str = ""
    marked: bool = False


def cards(of_rows: Sequence[Card]) -> Html:
    """Give the cards, side by side where there is room.

    Examples
    --------
    >>> from kernova.report.cards import Bar, Card, cards
    >>> html = cards([Card("1. iris042", "factor 2.1", [Bar("width", 0.8, "2.3, usually 3.1")])])
    >>> '<h3>1. iris042</h3>' in html, 'style="width:80%"' in html
    (True, True)
    """
    return Html(f'<div class="cards">{"".join(map(_card, of_rows))}</div>')


def _card(card: Card) -> str:
    bars = "".join(map(_bar, card.bars))
    ending = f'<p class="ending">{escaped(card.ending)}</p>' if card.ending else ""
    mark = ' class="marked"' if card.marked else ""
    return (
        f"<article{mark}>"
        f"<h3>{escaped(card.title)}</h3><p>{escaped(card.lead)}</p>"
        f"{f'<ul>{bars}</ul>' if bars else ''}{ending}</article>\n"
    )


def _bar(bar: Bar) -> str:
    percent = f"{100 * min(max(bar.share, 0.0), 1.0):.0f}%"
    return (
        f"<li><span>{escaped(bar.name)}</span> <b>{percent.replace('%', ' %')}</b>"
        f'<span class="bar"><span style="width:{percent}"></span></span>'
        f"<small>{escaped(bar.words)}</small></li>"
    )
