"""One self-contained page for people, put together from parts.

Markup comes only from the functions here, and everything they are given is escaped: ids, names
and texts are data. A page needs no network and no script, and forbids both to itself.

>>> from kernova.report.page import Section, facts, page
>>> html = page("Beetles", [Section("Answer", ["2 < 3 rows are novel.", facts({"rows": 3})])])
>>> "<p>2 &lt; 3 rows are novel.</p>" in html
True

Cards on a page: a few words and bars for each of some rows.
"""

import base64
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from numbers import Integral, Real
from typing import Any, Final, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from kernova.errors import InputError
from kernova.files import replacing
from kernova.report.canvas import counted, picture_png

# How to write the cells of a column: a format such as ".3f", or a function.
Format = str | Callable[[Any], str]

LARGEST_PAGE: Final = 3_000_000
_LONGEST_CELL: Final = 300
_POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)
# Characters that no page may hold, or that a browser would not show.
_UNSHOWABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_PNG_MARK: Final = b"\x89PNG\r\n\x1a\n"
# Pictures have this many pixels for each one on a page, so that dense screens show them sharp.
_PIXEL_DENSITY: Final = 1.5


class Html(str):
    """Markup that is safe to put on a page as it is; a plain ``str`` is only ever text."""

    __slots__ = ()


class Section(NamedTuple):
    """A part of the page under its own heading.

    Attributes
    ----------
    title : str
        The heading.
    parts : sequence of str or Html
        What stands under it, in order; a plain string becomes a paragraph.
    """

    title: str
    parts: Sequence[str]


def paragraph(text: str) -> Html:
    """Give a paragraph of plain text.

    Examples
    --------
    >>> from kernova.report.page import paragraph
    >>> paragraph("a < b & c")
    '<p>a &lt; b &amp; c</p>'
    """
    return Html(f"<p>{escaped(text)}</p>")


def notice(text: str) -> Html:
    """Give a sentence that stands out, such as what is guaranteed."""
    return Html(f'<p class="notice">{escaped(text)}</p>')


def code(text: str) -> Html:
    """Give lines to be typed as they are, such as the command that made the page."""
    return Html(f"<pre><code>{escaped(text)}</code></pre>")


def facts(values: Mapping[str, Any]) -> Html:
    """Give a few figures with their names, side by side where there is room.

    Examples
    --------
    >>> from kernova.report.page import facts
    >>> facts({"rows": 3})
    '<dl class="facts"><div><dt>rows</dt><dd>3</dd></div></dl>'
    """
    pairs = (
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(_cell(value))}</dd></div>"
        for name, value in values.items()
    )
    return Html(f'<dl class="facts">{"".join(pairs)}</dl>')


def picture(figure: Figure | bytes, alt: str, caption: str | None = None) -> Html:
    """Give a picture that is part of the page itself.

    Parameters
    ----------
    figure : Figure or bytes
        A matplotlib figure, or a PNG made from one with ``picture_png``.
    alt : str
        What the picture shows, for those who do not see it.
    caption : str, default=None
        A sentence under the picture.

    Returns
    -------
    Html
    """
    png = picture_png(figure) if isinstance(figure, Figure) else figure
    if not png.startswith(_PNG_MARK):
        raise InputError("A picture on a page must be a matplotlib figure or the bytes of a PNG.")
    if not alt.strip():
        raise InputError("A picture needs words for those who do not see it. Give alt a sentence.")
    width, height = (
        round(int.from_bytes(png[start : start + 4]) / _PIXEL_DENSITY) for start in (16, 20)
    )
    image = (
        f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}" '
        f'alt="{escaped(alt)}" width="{width}" height="{height}">'
    )
    words = f"<figcaption>{escaped(caption)}</figcaption>" if caption else ""
    return Html(f"<figure>{image}{words}</figure>")


def table(
    rows: pd.DataFrame,
    caption: str,
    formats: Mapping[str, Format] | None = None,
    *,
    marked: Iterable[bool] | None = None,
    max_rows: int = 200,
) -> Html:
    """Give a table; its first column names the rows.

    Parameters
    ----------
    rows : DataFrame
        What to show; the index is left out.
    caption : str
        What the table shows.
    formats : mapping of str to str or callable, default=None
        How to write a column's cells, by its name: a format such as ".3f" or ".1%", or a
        function that gives a text. Missing values are always a dash.
    marked : iterable of bool, default=None
        Rows to set off by colour. Their cells should say it in words too.
    max_rows : int, default=200
        Further rows are left out, and the caption says so.

    Returns
    -------
    Html

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.report.page import table
    >>> html = table(pd.DataFrame({"id": ["a"], "depth": [0.51234]}), "Depths", {"depth": ".2f"})
    >>> '<th scope="row">a</th><td class="number">0.51</td>' in html
    True
    """
    if rows.shape[1] == 0:
        raise InputError("A table needs at least one column.")
    shown = rows.iloc[:max_rows]
    if len(rows) > len(shown):
        caption = f"{caption} (the first {len(shown):,} of {counted(len(rows), 'row')})"
    is_number = [_holds_numbers(rows.iloc[:, position]) for position in range(rows.shape[1])]
    columns = [
        [_formatted(value, (formats or {}).get(name)) for value in shown.iloc[:, position]]
        for position, name in enumerate(rows.columns)
    ]
    heads = "".join(
        f'<th scope="col"{_css("number", numeric)}>{escaped(name)}</th>'
        for name, numeric in zip(rows.columns, is_number, strict=True)
    )
    lines = "\n".join(
        f"<tr{_css('marked', mark)}>{_table_row(cells, is_number)}</tr>"
        for mark, *cells in zip(_marks(marked, len(rows))[:max_rows], *columns, strict=True)
    )
    if rows.empty:
        lines = f'<tr><td colspan="{rows.shape[1]}">none</td></tr>'
    return Html(
        f'<div class="scroll" role="region" aria-label="{escaped(caption)}" tabindex="0"><table>'
        f"<caption><span>{escaped(caption)}</span></caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )


def page(
    title: str, sections: Sequence[Section], footer: str | None = None, *, lead: str | None = None
) -> str:
    """Give the whole page as one HTML text that needs nothing but itself.

    Parameters
    ----------
    title : str
        Title of the page.
    sections : sequence of Section
        What stands on it. From four sections on, links to them stand at the top.
    footer : str, default=None
        How the page came about, in small print.
    lead : str, default=None
        A sentence under the title.

    Returns
    -------
    str
    """
    heads = [escaped(section.title) for section in sections]
    links = "".join(f'<li><a href="#s{n}">{head}</a></li>' for n, head in enumerate(heads))
    body = "\n".join(
        f'<section aria-labelledby="s{n}">\n<h2 id="s{n}">{head}</h2>\n'
        + "\n".join(map(_part, section.parts))
        + "\n</section>"
        for n, (head, section) in enumerate(zip(heads, sections, strict=True))
    )
    html = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escaped(title)}</title>
<style>
{files("kernova.report").joinpath("style.css").read_text("utf-8")}</style>
</head>
<body>
<header>
<h1>{escaped(title)}</h1>
{f'<p class="lead">{escaped(lead)}</p>' if lead else ""}
{f'<nav aria-label="Contents"><ul>{links}</ul></nav>' if len(sections) >= 4 else ""}
</header>
<main>
{body}
</main>
{f"<footer>{escaped(footer)}</footer>" if footer else ""}
</body>
</html>
"""
    return _small_enough(html)


def save_page(html: str, path: str | os.PathLike[str]) -> None:
    """Write a page to a file; it is either whole or not there."""
    with replacing(path) as scratch:
        scratch.write_text(html, encoding="utf-8", newline="\n")


def _small_enough(html: str) -> str:
    size = len(html.encode())
    if size > LARGEST_PAGE:
        raise InputError(
            f"The page takes {size / 1e6:.1f} MB, and {LARGEST_PAGE / 1e6:.0f} MB are the most "
            "that is kind to send. Leave out pictures, or rows of tables."
        )
    return html


def _part(part: str) -> Html:
    return part if isinstance(part, Html) else paragraph(part)


def escaped(value: Any) -> Html:
    """Turn data into text that stays text, inside an element or a quoted attribute."""
    return Html(escape(_UNSHOWABLE.sub("\ufffd", str(value))))


def _css(name: str, wanted: bool) -> str:
    return f' class="{name}"' if wanted else ""


def _marks(marked: Iterable[bool] | None, n_rows: int) -> list[bool]:
    marks = [False] * n_rows if marked is None else [bool(mark) for mark in marked]
    if len(marks) != n_rows:
        raise InputError(
            f"marked must say True or False for each of {counted(n_rows, 'row')}; got {len(marks)}."
        )
    return marks


def _table_row(cells: Sequence[str], is_number: Sequence[bool]) -> str:
    (first, *others), (_, *numeric) = cells, is_number
    return f'<th scope="row">{escaped(first)}</th>' + "".join(
        f"<td{_css('number', number)}>{escaped(cell)}</td>"
        for cell, number in zip(others, numeric, strict=True)
    )


def _holds_numbers(column: "pd.Series[Any]") -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _formatted(value: Any, wanted: Format | None) -> str:
    if wanted is None or _is_missing(value):
        return _cell(value)
    return format(value, wanted) if isinstance(wanted, str) else wanted(value)


def _is_missing(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def _cell(value: Any) -> str:
    """Write one value for people, shortened where it would fill the page."""
    if _is_missing(value):
        return "–"
    if isinstance(value, bool) or pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{float(value):.5g}"
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


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
    >>> from kernova.report.page import Bar, Card, cards
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
