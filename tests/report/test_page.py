"""The page: one file, whole, safe, readable by machines that read to people."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova import CalibratedDetector, InputError, __version__, false_alarm_threshold
from kernova.report import figures
from kernova.report.page import (
    Bar,
    Card,
    Html,
    Section,
    cards,
    code,
    facts,
    notice,
    page,
    paragraph,
    picture,
    save_page,
    table,
)
from kernova.text import with_visible_marks

VOID = {"meta", "img"}


class Outline(HTMLParser):
    """Reads a page strictly: every element is closed, in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1] if self.open else None, data))

    def all(self, tag):
        return [attributes for name, attributes in self.attributes if name == tag]

    def text_in(self, tag):
        return "".join(data for where, data in self.texts if where == tag)


@pytest.fixture(scope="module")
def novelty_html():
    """A page as a study of two columns makes it, with every picture."""
    random = np.random.default_rng(2)
    known = pd.DataFrame(random.normal(size=(900, 2)), columns=["length", "width"])
    new = pd.DataFrame(random.normal(size=(120, 2)) * 2, columns=["length", "width"])
    model = CalibratedDetector(random_state=0).fit(known)
    scores, is_novel = model.score_samples(new), model.predict(new) == -1
    chosen = false_alarm_threshold(model.holdout_scores_, 0.05, bound="binomial")
    drawn = {
        "Scores": figures.plot_score_distributions(
            model.holdout_scores_, scores, threshold=model.threshold_, bound=chosen.bound
        ),
        "Depth": figures.plot_depth_contours(model, known, unknown=new[is_novel], grid=60),
        "p-values": figures.plot_p_values(model.p_values(new), false_discovery_rate=0.1),
        "Cost": figures.plot_false_alarm_curve(model.holdout_scores_, chosen=chosen),
        "Map": figures.plot_map(known, new, is_novel),
    }
    rows = pd.DataFrame(
        {
            "id": [f"<script>alert({n})</script>" for n in range(len(new))],
            "novelty": model.novelty(new),
            "verdict": np.where(is_novel, "novel", "usual"),
        }
    )
    sections = [Section("Answer", [notice(model.guarantee()), facts({"novel": is_novel.sum()})])]
    sections += [
        Section(name, [picture(ax.figure, f"Picture of {name}", f"What {name} says.")])
        for name, ax in drawn.items()
    ]
    sections.append(Section("Rows", [table(rows, "New rows", marked=is_novel), "That is all."]))
    return page("Novelties", sections, "made by a test", lead="new against known")


def test_page_is_whole_and_small_and_needs_nothing_else(novelty_html):
    outline = Outline(novelty_html)
    assert len(novelty_html.encode()) < 1_500_000
    assert outline.tags.count("img") == 5
    assert all(a["src"].startswith("data:image/png;base64,") for a in outline.all("img"))
    linked = [a[name] for _, a in outline.attributes for name in ("href", "src") if name in a]
    assert all(link.startswith(("#", "data:image/png")) for link in linked)
    without_pictures = re.sub("data:image/png;base64,[A-Za-z0-9+/=]+", "", novelty_html)
    assert not re.search(r"https?:|//|url\(|@import|javascript:|\son\w+=", without_pictures)
    assert not {"script", "link", "iframe", "object", "form"} & set(outline.tags)
    (policy,) = [a["content"] for a in outline.all("meta") if "http-equiv" in a]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    assert "script-src" not in policy


def test_page_can_be_read_aloud_and_on_any_screen(novelty_html):
    outline = Outline(novelty_html)
    assert outline.all("html") == [{"lang": "en"}]
    assert outline.tags.count("h1") == outline.tags.count("main") == 1
    assert outline.text_in("title") == outline.text_in("h1") == "Novelties"
    assert all(a["alt"].startswith("Picture of") for a in outline.all("img"))
    assert {a["scope"] for a in outline.all("th")} == {"col", "row"}
    headings = [a["id"] for a in outline.all("h2")]
    assert len(set(headings)) == 7
    assert [a["aria-labelledby"] for a in outline.all("section")] == headings
    assert [a["href"] for a in outline.all("a")] == [f"#{name}" for name in headings]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in outline.all(
        "meta"
    )
    style = outline.text_in("style")
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style


def test_ids_are_data_and_never_markup(novelty_html):
    outline = Outline(novelty_html)
    cells = [data for where, data in outline.texts if where == "th"]
    assert cells[3:6] == [f"<script>alert({n})</script>" for n in range(3)]


text = st.text(st.one_of(st.characters(), st.sampled_from("<>&\"'\x00\ud800/=-;")), max_size=40)


@given(words=st.lists(text.filter(str.strip), min_size=7, max_size=7))
@settings(deadline=None, max_examples=80)
def test_any_text_is_escaped(words):
    title, head, plain, name, value, column, cell = words
    # Plain objects: pandas' own strings refuse half characters, and a file may hold them.
    names = pd.Index([column, f"{column}2"], dtype=object)
    frame = pd.DataFrame([[cell, value]], columns=names, dtype=object)
    one_pixel = _png()
    html = page(
        title,
        [
            Section(head, [plain, notice(plain), code(plain)]),
            Section(
                head, [facts({name: value}), table(frame, cell), picture(one_pixel, name, value)]
            ),
        ],
        footer=plain,
        lead=value,
    )
    harmless = page(
        "a",
        [
            Section("a", ["a", notice("a"), code("a")]),
            Section(
                "a",
                [
                    facts({"a": "a"}),
                    table(pd.DataFrame({"a": ["a"], "a2": ["a"]}), "a"),
                    picture(one_pixel, "a", "a"),
                ],
            ),
        ],
        footer="a",
        lead="a",
    )
    outline = Outline(html)
    assert outline.tags == Outline(harmless).tags
    assert html.encode().decode() == html
    shown = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", name)
    shown = with_visible_marks(shown)
    (image,) = outline.all("img")
    assert image["alt"] == shown
    assert outline.text_in("dt") == (shown if shown.strip() else "")


def _png():
    """The smallest picture: one white pixel."""
    return base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2PQAAAABJRU5ErkJggg=="
    )


def test_a_plain_string_is_a_paragraph_and_html_is_itself():
    html = page("t", [Section("s", ["<b>", Html("<b>bold</b>"), paragraph("&")])])
    assert "<p>&lt;b&gt;</p>\n<b>bold</b>\n<p>&amp;</p>" in html
    assert "<nav" not in html
    assert f"<footer>Made by kernova {__version__}.</footer>" in html


def test_a_table_writes_each_kind_of_value_for_people():
    rows = pd.DataFrame(
        {
            "id": [7, 8],
            "float": [1 / 3, np.nan],
            "whole": pd.array([12345678, None], dtype="Int64"),
            "truth": [True, False],
            "when": pd.to_datetime(["2024-05-01", None]),
            "text": ["x" * 400, None],
            "share": [0.25, 0.5],
            "own": [1, 2],
        }
    )
    html = table(rows, "All kinds", {"share": ".0%", "own": lambda value: f"no. {value}"})
    lines = re.findall("<tr>(<th scope=.row.*)</tr>", html)
    number = '<td class="number">{}</td>'
    assert lines == [
        '<th scope="row">7</th>'
        + number.format("0.33333")
        + number.format("12345678")
        + "<td>yes</td><td>2024-05-01 00:00:00</td>"
        + f"<td>{'x' * 300}…</td>"
        + number.format("25%")
        + number.format("no. 1"),
        '<th scope="row">8</th>'
        + number.format("–")
        + number.format("–")
        + "<td>no</td><td>–</td><td>–</td>"
        + number.format("50%")
        + number.format("no. 2"),
    ]
    Outline(html)


def test_a_table_keeps_to_its_length_marks_rows_and_takes_equal_names():
    rows = pd.DataFrame([[n, n + 1] for n in range(5)], columns=["same", "same"])
    html = table(rows, "Many", marked=[True, False, True, False, False], max_rows=3)
    assert re.findall(r'<tr( class="marked")?><th scope="row">(\d)</th><td[^>]*>(\d)', html) == [
        (' class="marked"', "0", "1"),
        ("", "1", "2"),
        (' class="marked"', "2", "3"),
    ]
    assert "<span>Many (the first 3 of 5 rows)</span>" in html
    assert '<tr><td colspan="2">none</td></tr>' in table(rows.head(0), "Nothing")


def test_picture_has_its_size_so_that_the_page_does_not_jump():
    figure = figures.plot_p_values([0.5]).figure
    (image,) = Outline(picture(figure, "words")).all("img")
    width, height = figure.get_size_inches() * 160 / 1.5
    assert (int(image["width"]), int(image["height"])) == (round(width), round(height))
    assert base64.b64decode(image["src"].split(",")[1]) == figures.picture_png(figure)


def test_page_is_saved_as_it_is(tmp_path, novelty_html):
    save_page(novelty_html, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == novelty_html.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match="it is a folder"):
        save_page(novelty_html, tmp_path)


class CardReader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.words, self.styles = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs).get("class")))
        self.styles += [value for name, value in attrs if name == "style"]

    def handle_data(self, data):
        if data.strip():
            self.words.append(data.strip())


def read_cards(html):
    reader = CardReader()
    reader.feed(html)
    return reader


def test_a_card_shows_all_its_parts_as_text():
    card = Card("1. <b>fish</b>", "factor & more", [Bar('"x" < y', 0.256, "3, usually 1")], "near",
                marked=True)  # fmt: skip
    found = read_cards(cards([card, Card("2. other", "usual", [])]))
    assert found.words == ["1. <b>fish</b>", "factor & more", '"x" < y', "26 %", "3, usually 1",
                           "near", "2. other", "usual"]  # fmt: skip
    assert [css for tag, css in found.tags if tag == "article"] == ["marked", None]
    assert found.styles == ["width:26%"]
    assert cards([card]) in page("t", [Section("s", [cards([card])])])


@pytest.mark.parametrize(("fraction", "style"), [(1.7, "100%"), (-1.0, "0%"), (0.999, "100%")])
def test_bars_stay_inside_their_card(fraction, style):
    assert read_cards(cards([Card("a", "b", [Bar("c", fraction, "d")])])).styles == [
        f"width:{style}"
    ]
