"""Names of categories."""

import numpy as np
import pytest

from kernova.discover.names import category_name
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
