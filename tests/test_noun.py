"""The noun for rows in sentences."""

import pytest

from kernova.errors import InputError
from kernova.noun import ROWS, Noun, noun_from

GALAXY = Noun("galaxy", "galaxies")


@pytest.mark.parametrize(
    ("sentence", "now"),
    [
        ("One of 3 rows.", "One of 3 galaxies."),
        ("Rows and a row.", "Galaxies and a galaxy."),
        ("each row's own rows' mean", "each galaxy's own galaxies' mean"),
        ("The row 'row 7' and “rows”.", "The galaxy 'row 7' and “rows”."),
        ("Its 'rows' and its row_count.", "Its 'rows' and its row_count."),
        ("arrows grow", "arrows grow"),
    ],
)
def test_a_sentence_gets_the_noun_outside_quoted_names(sentence, now):
    assert GALAXY.in_sentence(sentence) == now
    assert ROWS.in_sentence(sentence) == sentence


def test_the_article_fits():
    assert Noun("eel", "eels").in_sentence("A row, a row.") == "An eel, an eel."


@pytest.mark.parametrize("text", ["", ",", "a,b,c", "7", " , b", "x" * 41, "a\nb\x00"])
def test_a_text_that_is_no_noun_is_rejected(text):
    with pytest.raises(InputError) as raised:
        noun_from(text)
    assert str(raised.value).startswith(
        "noun must say what a row is called, as in 'galaxy', or with its plural, as in "
        "'leaf,leaves'; got "
    )
