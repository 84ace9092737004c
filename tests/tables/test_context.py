"""Columns that are shown without being features, as written, and links of rows."""

import datetime

import pyarrow as pa
import pytest

from kernova.errors import InputError
from kernova.tables.context import Context, LinkTemplate

COLUMNS = pa.table(
    {
        "mass": [0.1, 2.0, None],
        "seen": [datetime.datetime(2024, 5, 1, 10, 30), None, None],
        "page": ["https://a.example/x y", "https://a.example/7", "javascript:alert(1)"],
        "many": [[1, 2], [], None],
        "number": [2**60 + 1, 3, 4],
    }
)


def test_values_are_shown_in_full():
    context = Context(COLUMNS, ["number", "seen", "mass", "many"])
    shown = [(one.name, one.text) for one in context.values(0)]
    assert shown == [
        ("number", "1152921504606846977"),
        ("seen", "2024-05-01 10:30:00"),
        ("mass", "0.1"),
        ("many", "[1, 2]"),
    ]
    assert [one.text for one in context.values(2)] == ["4", "", "", ""]


def test_only_addresses_of_the_web_are_links():
    context = Context(COLUMNS, ["page"])
    assert [context.values(row)[0].address for row in range(3)] == [
        None, "https://a.example/7", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "encoded"),
    [("a/b", "a%2Fb"), ("../x", "..%2Fx"), ("a b&c=d#e", "a%20b%26c%3Dd%23e"), ("ü", "%C3%BC")],
)
def test_values_in_links_are_percent_encoded(value, encoded):
    link = LinkTemplate("https://example.org/{id}", [], "fish.csv")
    assert link.address({"id": value}) == f"https://example.org/{encoded}"


@pytest.mark.parametrize(
    "template",
    [
        "ftp://example.org/{id}",
        "javascript:{id}",
        "{page}",
        "https://{id}.example.org/",
        "https://",
    ],
)
def test_a_link_that_leads_anywhere_is_rejected(template):
    with pytest.raises(InputError) as caught:
        LinkTemplate(template, ["page"], "fish.csv")
    assert str(caught.value) == (
        "link must be an address that begins with http:// or https:// and a host, such as "
        f"https://example.org/{{id}}; got '{template}'."
    )


def test_a_link_names_columns_that_there_are():
    with pytest.raises(InputError) as caught:
        LinkTemplate("https://example.org/{pag}", ["page"], "fish.csv")
    assert str(caught.value) == (
        "fish.csv has no column 'pag', which the link names. Did you mean 'page'? Its columns are "
        "'page'."
    )
    with pytest.raises(InputError) as caught:
        LinkTemplate("https://example.org/all", ["page"], "fish.csv")
    assert str(caught.value) == (
        "The link 'https://example.org/all' is the same for all rows; write {id} or the name of a "
        "column in braces where they differ."
    )


def test_a_row_without_a_value_has_no_link():
    link = LinkTemplate("https://example.org/{mass}/{id}", COLUMNS.column_names, "fish.csv")
    context = Context(COLUMNS, link=link)
    assert context.link(1, "b") == "https://example.org/2/b"
    assert context.link(2, "c") is None
