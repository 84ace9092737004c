"""Names of experts: in use elsewhere, almost the same, or of an invited expert."""

import pytest

from kernova.workbench.colleagues.browsers import Browsers, Doubt, names_alike, plain_name


@pytest.mark.parametrize(
    ("name", "other"),
    [("Anna", "anna"), ("Anna B.", "anna b"), ("Zoë", "Zoe"), ("Anna  B", "AnnaB"),
     ("Straße", "STRASSE"), ("Anna-Lena", "Anna Lena"), ("ﬁn", "Fin")],
)  # fmt: skip
def test_names_that_are_typed_differently_are_alike(name, other):
    assert plain_name(name) == plain_name(other)
    assert names_alike(other, [name, "Bob"]) == [name]


def test_other_names_are_not_alike():
    assert names_alike("Anne", ["Anna", "Hannah", "An"]) == []
    assert names_alike("Anna", ["Anna", "anna"]) == []
    assert names_alike("?!", ["!?"]) == []  # nothing is left to compare


def test_doubts_about_a_name():
    now = 0.0
    browsers = Browsers(lambda: now)
    browsers.mark("Anna", "first")
    assert browsers.doubt("Anna", "first", []) is None
    assert browsers.doubt("Anna", None, []) is None  # a script
    assert browsers.doubt("Anna", "second", ["Anna"]) == Doubt(
        "taken", "Anna is working here from another browser. Are you the same person?", ["Anna"]
    )
    assert browsers.doubt("ANNA", "second", ["Anna"]) == Doubt(
        "alike",
        "There is already an expert with almost the same name: Anna. Are you the same person?",
        ["Anna"],
    )
    assert browsers.doubt("Cleo", "second", [], ["Cleo"]) == Doubt(
        "invited",
        "Cleo was invited, and logs in by a link of their own. Open that link, or choose another "
        "name.",
        [],
    )
    assert browsers.doubt("cleo", "second", [], ["Cleo"]).kind == "alike"
    now = 200.0  # Anna has left
    assert browsers.doubt("Anna", "second", ["Anna"]) is None


def test_the_number_of_browsers_is_bounded():
    browsers = Browsers(lambda: 0.0)
    for number in range(3000):
        browsers.mark("Anna", str(number))
    assert browsers.n_browsers("Anna") == 2000
    assert browsers.experts_in("2999") == {"Anna"}
    assert browsers.experts_in("0") == set()
