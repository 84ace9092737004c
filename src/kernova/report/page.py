"""Self-contained HTML report pages, assembled from sections, tables, pictures and cards.

Markup is produced only by the functions here, and every value they receive is escaped: ids, names
and texts are data. A page needs no network and no script, and its security policy forbids both.

:func:`page` builds the whole document, header and footer included; the sections come from the
caller. :func:`answer_section` builds the first section of most reports: the conclusion in one
highlighted sentence, its reasons, and a summary below them.

>>> from kernova.report.page import answer_section, facts, page
>>> html = page("Beetles", [answer_section(["2 < 3 rows are novel."], facts({"rows": 3}))])
>>> '<p class="notice">2 &lt; 3 rows are novel.</p>' in html
True
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

from kernova._version import __version__
from kernova.errors import InputError
from kernova.files import replacing
from kernova.report.canvas import picture_png
from kernova.text import quantity, with_visible_marks

# The format of a column's cells: a format specification such as ".3f", or a function.
Format = str | Callable[[Any], str]

# Larger attachments are rejected by many mail servers.
LARGEST_PAGE: Final = 3_000_000
_LONGEST_CELL: Final = 300
_POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)
# Characters that are not allowed in HTML, or that browsers do not show.
_UNSHOWABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_PNG_MARK: Final = b"\x89PNG\r\n\x1a\n"
# Image pixels per CSS pixel, so that pictures are sharp on high-resolution screens.
_PIXEL_DENSITY: Final = 1.5


class Html(str):
    """Markup that is inserted unescaped; a plain ``str`` is always treated as text."""

    __slots__ = ()


class Section(NamedTuple):
    """A section of a page."""

    title: str  # the heading
    parts: Sequence[str]  # the content, in order; a plain string becomes a paragraph


def paragraph(text: str) -> Html:
    """Return a paragraph of plain text.

    Examples
    --------
    >>> from kernova.report.page import paragraph
    >>> paragraph("a < b & c")
    '<p>a &lt; b &amp; c</p>'
    """
    return Html(f"<p>{escaped(text)}</p>")


def notice(text: str) -> Html:
    """Return a highlighted paragraph, for example a guarantee."""
    return Html(f'<p class="notice">{escaped(text)}</p>')


def code(text: str) -> Html:
    """Return a code block, for example the command that made the page."""
    return Html(f"<pre><code>{escaped(text)}</code></pre>")


def facts(values: Mapping[str, Any]) -> Html:
    """Return a list of named values, side by side where there is room.

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
    """Return a picture that is embedded in the page.

    Parameters
    ----------
    figure : Figure or bytes
        A matplotlib figure, or a PNG made from one with ``picture_png``.
    alt : str
        Alternative text for screen readers.
    caption : str, default=None
        A sentence below the picture.
    """
    png = picture_png(figure) if isinstance(figure, Figure) else figure
    if not png.startswith(_PNG_MARK):
        raise InputError("A picture on a page must be a matplotlib figure or the bytes of a PNG.")
    if not alt.strip():
        raise InputError("alt is empty; describe the picture in a sentence for screen readers.")
    width, height = (
        round(int.from_bytes(png[start : start + 4]) / _PIXEL_DENSITY) for start in (16, 20)
    )
    image = (
        f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}" '
        f'alt="{escaped(alt)}" width="{width}" height="{height}">'
    )
    figcaption = f"<figcaption>{escaped(caption)}</figcaption>" if caption else ""
    return Html(f"<figure>{image}{figcaption}</figure>")


class Thumbnail(NamedTuple):
    """A small picture with a line of text below it."""

    content: bytes  # PNG or JPEG
    alt: str  # alternative text for screen readers
    text: str  # the line below


def gallery(title: str, pictures: Sequence[Thumbnail]) -> Html:
    r"""Return small pictures under a heading, side by side.

    Examples
    --------
    >>> from kernova.report.page import Thumbnail, gallery
    >>> html = gallery("carp", [Thumbnail(b"\xff\xd8", "A carp.", "carp-7")])
    >>> '<h3>carp</h3>' in html, 'src="data:image/jpeg;base64,/9g="' in html
    (True, True)
    """
    figures = "".join(
        f'<figure><img src="data:image/{_picture_kind(one.content)};base64,'
        f'{base64.b64encode(one.content).decode()}" alt="{escaped(one.alt)}">'
        f"<figcaption>{escaped(one.text)}</figcaption></figure>"
        for one in pictures
    )
    return Html(
        f'<div class="examples"><h3>{escaped(title)}</h3><div class="gallery">{figures}</div></div>'
    )


def table(
    rows: pd.DataFrame,
    caption: str,
    formats: Mapping[str, Format] | None = None,
    *,
    marked: Iterable[bool] | None = None,
    max_rows: int = 200,
) -> Html:
    """Return a table; the first column holds the row headers.

    Parameters
    ----------
    rows : DataFrame
        The content; the index is not shown.
    caption : str
        The title of the table.
    formats : mapping of str to str or callable, default=None
        The format of a column's cells, by column name: a format specification such as ".3f" or
        ".1%", or a function that returns a text. Missing values are always a dash.
    marked : iterable of bool, default=None
        Rows to highlight by colour. Their cells should carry the same information as text.
    max_rows : int, default=200
        Further rows are omitted, and the caption says so.

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
        caption = f"{caption} (the first {len(shown):,} of {quantity(len(rows), 'row')})"
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


def answer_section(
    sentences: Sequence[str], *parts: str | Html, title: str = "The answer"
) -> Section:
    """Return the section that states a report's conclusion.

    Parameters
    ----------
    sentences : sequence of str
        The first is highlighted, the others follow as paragraphs.
    *parts : str or Html
        Content below the sentences, for example :func:`facts` or a :func:`table`.
    title : str, default="The answer"
        The heading.
    """
    first, *others = sentences
    return Section(title, [notice(first), *map(paragraph, others), *parts])


def page(
    title: str, sections: Sequence[Section], footer: str | None = None, *, lead: str | None = None
) -> str:
    """Return a whole report page as one self-contained HTML text.

    Parameters
    ----------
    title : str
        Title of the page.
    sections : sequence of Section
        The content. From four sections on, links to them stand at the top.
    footer : str, default=None
        Small print at the end; None writes the version of kernova that made the page.
    lead : str, default=None
        A sentence below the title.
    """
    if footer is None:
        footer = f"Made by kernova {__version__}."
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
<footer>{escaped(footer)}</footer>
</body>
</html>
"""
    return _small_enough(html)


class Bar(NamedTuple):
    """One line of a card: a name, a fraction from 0 to 1 drawn as a bar, and text beside it."""

    name: str
    fraction: float
    text: str


class Card(NamedTuple):
    """A summary of one row."""

    title: str  # the row's name
    lead: str  # A short line below the title
    bars: Sequence[Bar]  # the bars, the longest first
    ending: str = ""  # A line below the bars; empty for none
    # Whether to highlight the card by colour. Its lead should carry the same information as text.
    marked: bool = False
    picture: bytes | None = None  # PNG of the row, below its name


def cards(of_rows: Sequence[Card]) -> Html:
    """Return cards, side by side where there is room.

    Examples
    --------
    >>> from kernova.report.page import Bar, Card, cards
    >>> html = cards([Card("1. iris042", "factor 2.1", [Bar("width", 0.8, "2.3, usually 3.1")])])
    >>> '<h3>1. iris042</h3>' in html, 'style="width:80%"' in html
    (True, True)
    """
    return Html(f'<div class="cards">{"".join(map(_card, of_rows))}</div>')


def save_page(html: str, path: str | os.PathLike[str]) -> None:
    """Write a page to a file, atomically."""
    with replacing(path) as scratch:
        scratch.write_text(html, encoding="utf-8", newline="\n")


def _small_enough(html: str) -> str:
    size = len(html.encode())
    if size > LARGEST_PAGE:
        raise InputError(
            f"The page has {size / 1e6:.1f} MB; the limit is {LARGEST_PAGE / 1e6:.0f} MB. Leave "
            "out pictures, or rows of tables."
        )
    return html


def _picture_kind(content: bytes) -> str:
    return "png" if content.startswith(_PNG_MARK) else "jpeg"


def _part(part: str) -> Html:
    return part if isinstance(part, Html) else paragraph(part)


def escaped(value: Any) -> Html:
    """Escape data for use inside an element or a quoted attribute."""
    return Html(escape(with_visible_marks(_UNSHOWABLE.sub("\ufffd", str(value)))))


def _css(name: str, wanted: bool) -> str:
    return f' class="{name}"' if wanted else ""


def _marks(marked: Iterable[bool] | None, n_rows: int) -> list[bool]:
    marks = [False] * n_rows if marked is None else [bool(mark) for mark in marked]
    if len(marks) != n_rows:
        raise InputError(
            f"marked must hold True or False for each of {quantity(n_rows, 'row')}; got "
            f"{len(marks)}."
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
    """Format one value for a reader; long texts are cut."""
    if _is_missing(value):
        return "–"
    if isinstance(value, bool) or pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{float(value):.5g}"
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def _card(card: Card) -> str:
    bars = "".join(map(_bar, card.bars))
    ending = f'<p class="ending">{escaped(card.ending)}</p>' if card.ending else ""
    mark = ' class="marked"' if card.marked else ""
    image = "" if card.picture is None else _image_of(card.title, card.picture)
    return (
        f"<article{mark}>"
        f"<h3>{escaped(card.title)}</h3>{image}<p>{escaped(card.lead)}</p>"
        f"{f'<ul>{bars}</ul>' if bars else ''}{ending}</article>\n"
    )


def _image_of(title: str, png: bytes) -> str:
    encoded = base64.b64encode(png).decode()
    return f'<img src="data:image/png;base64,{encoded}" alt="{escaped(title)}">'


def _bar(bar: Bar) -> str:
    percent = f"{100 * min(max(bar.fraction, 0.0), 1.0):.0f}%"
    return (
        f"<li><span>{escaped(bar.name)}</span> <b>{percent.replace('%', ' %')}</b>"
        f'<span class="bar"><span style="width:{percent}"></span></span>'
        f"<small>{escaped(bar.text)}</small></li>"
    )
