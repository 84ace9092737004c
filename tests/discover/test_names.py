"""Names of categories and experts."""

import numpy as np
import pytest

from kernova.discover.names import category_name, check_new_category, expert_name
from kernova.discover.session import CategoryDiscovery
from kernova.errors import quoted
from tests.discover import messages
from tests.discover.sessions import rejected


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("  great   crested\tgrebe\n", "great crested grebe"),
        (3, "3"),
        (np.int64(3), "3"),
        (3.0, "3"),
        (np.float32(0.5), "0.5"),
        (10**400, str(10**400)),
        (True, "True"),
        (np.True_, "True"),
        (np.str_("carp"), "carp"),
        ("cafe\u0301", "caf\u00e9"),
        ("Größe 名", "Größe 名"),
        ("nan", "nan"),
        ("<NA>", "<NA>"),
    ],
)
def test_a_label_becomes_a_readable_name(label, name):
    assert category_name(label) == name
    assert type(category_name(label)) is str


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("\x1b[A", messages.UNREADABLE_NAME.format(label="\x1b[A")),
        ("a\x00b", messages.UNREADABLE_NAME.format(label="a\x00b")),
        ("caf\udce9", messages.UNREADABLE_NAME.format(label="caf\udce9")),
        (["carp"], messages.NOT_A_NAME.format(label=["carp"], kind="list")),
        (b"carp", messages.NOT_A_NAME.format(label=b"carp", kind="bytes")),
    ],
)
def test_a_label_that_is_not_text_is_rejected(label, sentence):
    assert rejected(category_name, label) == sentence


def test_a_number_of_thousands_of_digits_is_rejected():
    sentence = "A category name must be readable text; got a number of 5,001 digits. Type it again."
    assert rejected(category_name, 10**5000) == sentence


# Texts as people write them, some with joiners and selectors that their scripts need.
GENUINE = {
    "Arabic": "\u0635\u0642\u0631",
    "Persian with a non-joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Persian, a vowel mark before it": "\u0645\u06cc\u0651\u200c\u062e",
    "Hebrew with points": "\u05e6\u05b4\u05e4\u05bc\u05d5\u05b9\u05e8",
    "Hindi with a joiner": "\u0915\u094d\u200d\u0937",
    "Hindi with a non-joiner": "\u0915\u094d\u200c\u0937",
    "Kannada, a joiner before the virama": "\u0cb0\u200d\u0ccd\u0c95",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "Malayalam, an old final letter": "\u0d28\u0d4d\u200d",
    "emoji with joiners": "\U0001f469\u200d\U0001f52c",
    "emoji with a skin tone": "\U0001f469\U0001f3fd\u200d\U0001f52c",
    "emoji with a selector": "\u2764\ufe0f\u200d\U0001f525",
    "keycap": "1\ufe0f\u20e3",
    "ideograph with a selector": "\u845b\U000e0100",
    "Mongolian with a vowel separator": "\u1820\u180e",
    "a number sign": "\u0600\u0661",
    "punctuation": "?",
}

UNCLEAR = {
    "zero-width space": "ca\u200brp",
    "zero-width joiner in Latin": "ca\u200drp",
    "zero-width non-joiner at the end": "carp\u200c",
    "word joiner": "ca\u2060rp",
    "byte order mark": "\ufeffcarp",
    "soft hyphen": "ca\u00adrp",
    "right-to-left override": "\u202ecarp",
    "left-to-right override": "ca\u202drp",
    "isolate": "\u2067carp\u2069",
    "right-to-left mark": "carp\u200f",
    "Arabic letter mark": "carp\u061c",
    "Hangul filler": "\u3164",
    "grapheme joiner": "ca\u034frp",
    "selector behind a Latin letter": "carp\ufe0f",
    "tag letters": "carp\U000e0061",
    "only a joiner": "\u200d",
}


@pytest.mark.parametrize("name", GENUINE.values(), ids=GENUINE)
def test_every_script_can_name_a_category_and_an_expert(name):
    assert category_name(name) == name
    check_new_category(name)
    assert expert_name(name) == name


@pytest.mark.parametrize("name", UNCLEAR.values(), ids=UNCLEAR)
def test_invisible_characters_are_rejected_in_new_names(name):
    shown = "".join(
        letter if letter.isascii() else letter.encode("unicode_escape").decode() for letter in name
    )
    assert rejected(check_new_category, name) == messages.INVISIBLE_NAME.format(label=shown)
    assert rejected(expert_name, name) == messages.BAD_EXPERT.format(name=quoted(name))


def test_marks_alone_are_no_name():
    shown = quoted("\u0301\u0302")
    assert shown == "'\u25cc\u0301\u0302'"
    assert rejected(check_new_category, "\u0301\u0302") == (
        f"A category name must be readable text; got {shown}. Type it again."
    )
    assert rejected(expert_name, "\u0301") == messages.BAD_EXPERT.format(name=quoted("\u0301"))


def test_a_name_of_a_megabyte_is_rejected_with_its_length():
    assert rejected(check_new_category, "x" * 10**6) == messages.LONG_NAME.format(n="1,000,000")
    sentence = rejected(expert_name, "x" * 10**6)
    assert sentence == messages.BAD_EXPERT.format(name=quoted("x" * 10**6))
    assert len(sentence) < 200


@pytest.mark.parametrize("name", UNCLEAR.values(), ids=UNCLEAR)
def test_names_of_earlier_versions_stay_usable(name, tmp_path, monkeypatch):
    """Write a project with an unclear name past the check, as 1.0 did; open it and work on."""
    rows = np.arange(12.0).reshape(6, 2)
    path = tmp_path / "old.kernova-project"
    with CategoryDiscovery("random", random_state=0) as session:
        session.start(rows, project=path)
        question = session.next_question()
        with monkeypatch.context() as earlier:
            earlier.setattr("kernova.discover.session.check_new_names", lambda *_: None)
            session.answer(name)
    assert expert_name(name, is_stored=True) == name
    with CategoryDiscovery("random", random_state=0) as session:
        session.start(rows, project=path)
        assert session.results_.categories == {name: (question.id,)}
        session.next_question()
        session.answer(name)
        assert rejected(session.rename, name, f"{name}\u200b") == (
            rejected(check_new_category, f"{name}\u200b")
        )
        session.rename(name, "carp")
        assert list(session.results_.categories) == ["carp"]
