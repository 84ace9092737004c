"""Cards: what they say, as a browser reads it."""

from html.parser import HTMLParser

import pytest

from kernova.report.page import Bar, Card, Section, cards, page


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.words, self.styles = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs).get("class")))
        self.styles += [value for name, value in attrs if name == "style"]

    def handle_data(self, data):
        if data.strip():
            self.words.append(data.strip())


def read(html):
    reader = Reader()
    reader.feed(html)
    return reader


def test_a_card_says_all_it_was_given_as_text():
    card = Card("1. <b>fish</b>", "factor & more", [Bar('"x" < y', 0.256, "3, usually 1")], "near",
                marked=True)  # fmt: skip
    found = read(cards([card, Card("2. other", "usual", [])]))
    assert found.words == ["1. <b>fish</b>", "factor & more", '"x" < y', "26 %", "3, usually 1",
                           "near", "2. other", "usual"]  # fmt: skip
    assert [css for tag, css in found.tags if tag == "article"] == ["marked", None]
    assert found.styles == ["width:26%"]
    assert cards([card]) in page("t", [Section("s", [cards([card])])])


@pytest.mark.parametrize(("share", "style"), [(1.7, "100%"), (-1.0, "0%"), (0.999, "100%")])
def test_bars_stay_inside_their_card(share, style):
    assert read(cards([Card("a", "b", [Bar("c", share, "d")])])).styles == [f"width:{style}"]
