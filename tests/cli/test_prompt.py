"""``kernova discover --terminal``: the dialogue, its JSON and its errors."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.cli.prompt import NOTHING_LEFT
from kernova.discover.events import Record, RowLabelled
from kernova.discover.stopping import stopping_advice
from kernova.discover.store import open_project
from tests.cli import messages
from tests.cli.twelve_fish import COLUMNS, N_ROWS, RANDOM, twelve_fish

folder = twelve_fish


def run(*arguments, said="", exit_code=0, data="fish.csv", columns=COLUMNS):
    words = ["discover", data, *columns, *arguments]
    result = CliRunner().invoke(app, words, input=said)
    assert result.exit_code == exit_code, result.output
    return result


def talk(*lines, more=(), **words):
    return run("--terminal", *RANDOM, *more, said="".join(f"{x}\n" for x in lines), **words).stdout


def rejected(*arguments, **words):
    result = run(*arguments, exit_code=2, **words)
    assert result.stdout == ""
    return result.stderr


def asked(text):
    return re.findall(r"^Question \d+: (\S+)$", text, re.M)


# --- text for people -------------------------------------------------------------------------


def test_a_session_and_its_continuation(folder):
    text = talk("carp", "  pike ", "skip", "carp")
    ids = asked(text)
    assert text.splitlines()[0] == messages.SAVED_IN
    assert f'Saved: {ids[0]} is "carp", a new category.\n' in text
    assert f'Saved: {ids[1]} is "pike", a new category.\n' in text
    assert f"Saved: {ids[2]} is skipped.\n" in text
    assert f'Saved: {ids[3]} is "carp".\n' in text
    end = text.splitlines()[text.splitlines().index("") :][-5:]
    assert end[0] == "4 questions asked (1 skipped), 3 rows of 12 labelled, 2 categories."
    assert end[1].startswith(
        "Of 12 rows, 4 were asked about: 2 categories, the last new one at question"
    )
    assert end[3] == messages.ESTIMATE_LATER
    assert end[4] == messages.ALL_SAVED
    again = talk("eel", "quit", more=["-o", "out.csv"])
    assert again.splitlines()[0] == messages.CONTINUING
    assert asked(again)[0] == ids[4]  # what was asked last, and not answered
    assert again.splitlines()[-1] == "output: out.csv"
    rows = pd.read_csv("out.csv", dtype=str, keep_default_na=False).set_index("fish")
    assert list(rows.index) == [f"{i:03d}" for i in range(N_ROWS)]
    assert rows.loc[ids[:5], "category"].tolist() == ["carp", "pike", "", "carp", "eel"]
    assert rows.loc[ids[:5], "question"].tolist() == ["1", "2", "", "4", "5"]
    assert (rows.drop(ids[:5]) == "").all(axis=None)
    assert {path.name for path in folder.iterdir()} == {
        "fish.csv", "out.csv", "fish.kernova-project",
    }  # fmt: skip


def test_answers_of_more_kinds(folder):
    more = ["--noun", "fish,fish", "--multiple-labels"]
    text = talk(
        "note torn fin", "flag", "also blurred", "sure low carp", "unsure", "flag", "flag",
        "note x", "note", more=more,
    )  # fmt: skip
    first, second, third = dict.fromkeys(asked(text))
    for sentence in (
        f"the note on {first} is saved.",
        f"{first} is flagged.",
        f'{first} is also "blurred".',
        f'{first} is "carp", a new category, with low confidence.',
        f"{second} is left undecided.",
        f"{third} is no longer flagged.",
        f"the note on {third} is removed.",
    ):
        assert f"Saved: {sentence}\n" in text
    assert "2 questions asked (1 undecided), 1 fish of 12 labelled, 1 category." in text
    assert "row" not in re.sub(r"\brow\d+", "", text)
    assert "One fish" not in text
    # Stored in the project: the noun and the option need not be given again.
    again = talk("also x", "undo", "change 1 = carp", "also carp")
    assert f'Saved: {third} is also "x".' in again
    assert "1 fish of 12 labelled" in again


def test_a_further_label_needs_the_option(folder):
    assert messages.ONE_LABEL in talk("also blurred", "also")


def test_a_noun_that_is_none_is_rejected(folder):
    assert rejected("--terminal", "--noun", "7") == messages.NO_NOUN


def test_a_question_shows_the_row_against_all_others(folder):
    text = talk(*["x"] * 12)
    card = text.split("Question ")[1 + asked(text).index("003")]
    lines = [line for line in card.splitlines() if "│" in line]
    assert lines[0].split("│")[1].strip() == "width"
    assert "-30" in lines[0]
    assert lines[0].endswith(" 4 │ ─●─────┼─────── │")
    sex = next(line for line in lines if " sex " in line)
    assert "50 % have it" in sex
    assert text.count(NOTHING_LEFT) == 1


def test_answers_can_be_undone_when_nothing_is_left_to_ask(folder):
    text = talk(*["x"] * 12, "y", "all y", "skip", "list", "change 2 = z")
    assert text.count(NOTHING_LEFT) == 5
    assert "12 rows of 12 labelled, 2 categories." in text
    again = talk("undo", "undo", "last")
    assert asked(again) == asked(text)[-1:]
    assert f'Saved: {asked(again)[0]} is "last", a new category.' in again


def test_the_cluster_and_the_reason_are_shown(folder):
    words = ["--terminal", "--strategy", "hms-ci", "--questions", "3"]
    text = run(*words, said="a\nall b\nc\n").stdout
    assert re.search(r"^It represents (only itself\.|itself and \d+ other rows?: 0)", text, re.M)
    assert re.search(r"^Saved: (1 row is|\d+ rows are) \"b\", a new category\.$", text, re.M)
    assert messages.LAST_QUESTION in text
    assert len(asked(text)) == 3


@pytest.mark.parametrize("lines", messages.PROMPT, ids=" / ".join)
def test_every_command(folder, lines):
    said = b"".join(line.encode(errors="surrogateescape") + b"\n" for line in lines)
    text = run("--terminal", *RANDOM, said=said).stdout
    for sentence in messages.PROMPT[lines]:
        assert sentence in text or re.search(sentence, text), text


def test_disagreements_are_listed_and_settled(folder):
    talk()
    with open_project("fish.kernova-project") as store:
        store.append(Record(RowLabelled(3, "carp"), "Anna"), Record(RowLabelled(3, "pike"), "Bob"))
    text = talk("list", "settle 003 = carp", "list")
    assert text.count(messages.DISAGREEMENT) == 1
    assert messages.SETTLED in text
    assert "Categories: carp (1)\n" in text


def test_a_correction_does_not_show_the_same_card_again(folder):
    text = talk("label 007 = eel" if asked(talk())[0] != "007" else "label 008 = eel", "x")
    first = asked(text)[0]
    assert f"\nQuestion 1 again: {first}\nCategories: eel (1)\n" in text


def test_the_advice_to_stop_is_printed_once(folder):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(200, 2)), columns=["u", "v"]).to_csv("many.csv", index=False)
    labels = ["carp"]
    while stopping_advice(labels, 200).questions_left:
        labels.append("pike")
    text = talk(*labels, "pike", data="many.csv", columns=[])
    assert len(asked(text.split(messages.STOP_NOW)[0])) == len(labels)
    assert "\n".join(stopping_advice(labels, 200).guessed) in text
    assert text.count(messages.STOP_NOW) == 2  # then, and at the end
    again = talk("eel", "undo", data="many.csv", columns=[])
    # It had been so; then again after the undo, and at the end.
    assert again.count(messages.STOP_NOW) == 2


# --- JSON for programs -----------------------------------------------------------------------


def test_a_summary_for_programs(folder):
    result = run("--terminal", *RANDOM, "--json", "-o", "out.csv", said="carp\nskip\neel\n")
    answer = json.loads(result.stdout)
    ids = asked(result.stderr)[:3]
    assert answer["asked"] == ids
    assert answer["categories"] == {"carp": [ids[0]], "eel": [ids[2]]}
    assert answer["curve"] == [1, 1, 2]
    assert 0 < answer["advice"]["questions_left"] <= 10
    assert len(answer["advice"]["known"]) == 2
    assert (answer["advice"]["guessed"], answer["advice"]["unmet"]) == (
        [messages.ESTIMATE_LATER], None,
    )  # fmt: skip
    assert (answer["questions"], answer["skipped"]) == (3, 1)
    assert answer["rows"] == [
        {"fish": ids[place], "category": name, "question": place + 1}
        for place, name in sorted([(0, "carp"), (2, "eel")], key=lambda pair: ids[pair[0]])
    ]
    assert answer["data"] == {"source": "fish.csv", "rows": 12}
    assert (answer["strategy"], answer["seed"]) == ("random", 0)
    assert answer["project"] == "fish.kernova-project"
    assert answer["files"] == {"output": "out.csv"}


def test_known_labels_are_no_features_and_are_not_asked(folder):
    columns = ["--id-column", "fish", "--label-column", "kind"]
    text = talk(*["x"] * 12, more=["-o", "out.csv"], columns=columns)
    assert "Categories: carp (1), [odd] (1)\n" in text
    assert sorted(asked(text)) == [f"{i:03d}" for i in range(N_ROWS) if i not in (0, 3)]
    rows = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert list(rows.columns) == ["fish", "category", "question", "kind"]
    assert rows.loc[[0, 3], "category"].tolist() == ["carp", "[odd]"]
    assert rows.loc[[0, 3], "question"].tolist() == ["", ""]
    assert "12 rows of 12 labelled" in talk()  # they need not be given again
    changed = pd.read_csv("fish.csv", dtype=str).assign(kind="cod")
    changed.to_csv("fish.csv", index=False)
    assert rejected("--terminal", columns=columns) == f"kernova: {messages.OTHER_LABELS}\n"


# --- errors ----------------------------------------------------------------------------------


def test_a_project_keeps_to_its_table_strategy_and_seed(folder):
    run("--terminal", "--strategy", "random", "--seed", "7", "--project", "mine", said="carp\n")
    text = run("--terminal", "--project", "mine", "--json").stdout  # it remembers both
    assert (json.loads(text)["strategy"], json.loads(text)["seed"]) == ("random", 7)
    words = ["--terminal", "--project", "mine"]
    assert rejected(*words, "--strategy", "hms-ci") == f"kernova: {messages.OTHER_STRATEGY}\n"
    assert rejected(*words, "--drop", "sex") == f"kernova: {messages.OTHER_COLUMNS}\n"
    pd.read_csv("fish.csv", dtype={"fish": str}).to_parquet("same.parquet")
    run("--terminal", "--project", "mine", data="same.parquet")  # however it is stored
    changed = pd.read_csv("fish.csv", dtype=str)
    changed.loc[11, "sex"] = "f"
    changed.to_csv("fish.csv", index=False)
    assert rejected(*words) == f"kernova: {messages.OTHER_VALUES}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--strategy", "guess"],
        ["--project", "fish.csv"],
        ["--project", "no/where"],
        ["--project", "p", "-o", "p"],
        ["--project", "p.csv", "-o", "p.csv"],
    ],
    ids=" ".join,
)
def test_bad_options_are_rejected_before_a_file_is_made(folder, words):
    assert rejected("--terminal", *words) == f"kernova: {messages.DISCOVER[' '.join(words)]}\n"
    assert {path.name for path in folder.iterdir()} == {"fish.csv"}


def test_a_project_is_open_in_one_process_only(folder):
    talk("carp")
    with open_project("fish.kernova-project"):
        assert rejected("--terminal") == f"kernova: {messages.OPEN_ELSEWHERE}\n"


def test_help_has_an_example():
    text = CliRunner().invoke(app, ["discover", "--help"]).stdout
    assert "kernova discover wines.csv --id-column wine --drop cultivar --terminal" in text
