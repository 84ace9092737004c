"""``kernova discover`` as an expert, a pipe and a program meet it."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.cli.prompt_commands import HELP, Saying, understood
from kernova.discover.events import Record, RowLabelled
from kernova.discover.store import open_project
from tests.cli.twelve_fish import COLUMNS, N_ROWS, RANDOM, twelve_fish

folder = twelve_fish


def run(*arguments, said="", exit_code=0, data="fish.csv", columns=COLUMNS):
    words = ["discover", data, *columns, *arguments]
    result = CliRunner().invoke(app, words, input=said)
    assert result.exit_code == exit_code, result.output
    return result


def talk(*lines, more=(), **words):
    return run("--terminal", *RANDOM, *more, said="".join(f"{x}\n" for x in lines), **words).stdout


def refused(*arguments, **words):
    result = run(*arguments, exit_code=2, **words)
    assert result.stdout == ""
    return result.stderr


def asked(text):
    return re.findall(r"^Question \d+: (\S+)$", text, re.M)


# --- what people see -------------------------------------------------------------------------


def test_a_sitting_and_the_next_one(folder):
    text = talk("carp", "  pike ", "skip", "carp")
    ids = asked(text)
    assert text.splitlines()[0] == "Answers are kept in fish.kernova-project."
    assert f'Saved: {ids[0]} is "carp", a new category.\n' in text
    assert f'Saved: {ids[1]} is "pike", a new category.\n' in text
    assert f"Saved: {ids[2]} is skipped.\n" in text
    assert f'Saved: {ids[3]} is "carp".\n' in text
    end = text.splitlines()[text.splitlines().index("") :][-6:]
    assert end[0] == "4 questions asked (1 skipped), 3 rows of 12 named, 2 categories."
    assert end[1].startswith("Of 12 rows, 4 were asked: 2 categories, the last new one at question")
    assert end[3].startswith("Guess: ")
    assert end[5] == (
        "Everything is saved in fish.kernova-project; the same command goes on from here."
    )
    again = talk("eel", "quit", more=["-o", "out.csv"])
    assert again.splitlines()[0] == (
        "Going on with fish.kernova-project: 4 questions asked (1 skipped), 3 rows of 12 named, "
        "2 categories."
    )
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


def test_a_question_shows_the_row_against_all_others(folder):
    text = talk(*["x"] * 12)
    card = text.split("Question ")[1 + asked(text).index("003")]
    lines = [line for line in card.splitlines() if "│" in line]
    assert lines[0].split("│")[1].strip() == "width"
    assert "-30" in lines[0]
    assert lines[0].endswith(" 4 │ ─●─────┼─────── │")
    sex = next(line for line in lines if " sex " in line)
    assert "50 % have it" in sex
    assert text.count("There is nothing left to ask: every row was asked or named.") == 1


def test_what_was_said_can_be_undone_when_nothing_is_left_to_ask(folder):
    text = talk(*["x"] * 12, "y", "all y", "skip", "list", "change 2 = z")
    assert text.count("There is nothing left to ask: every row was asked or named.") == 5
    assert "12 rows of 12 named, 2 categories." in text
    again = talk("undo", "undo", "last")
    assert asked(again) == asked(text)[-1:]
    assert f'Saved: {asked(again)[0]} is "last", a new category.' in again


def test_the_cluster_and_the_reason_are_told(folder):
    words = ["--terminal", "--strategy", "hms-ci", "--questions", "3"]
    text = run(*words, said="a\nall b\nc\n").stdout
    assert re.search(r"^It stands for itself (alone\.|and \d+ other rows?: 0)", text, re.M)
    assert re.search(r"^Saved: (1 row is|\d+ rows are) \"b\", a new category\.$", text, re.M)
    assert "That was question 3, the last of this sitting." in text
    assert len(asked(text)) == 3


@pytest.mark.parametrize(
    ("lines", "sentences"),
    [
        (["?"], [HELP]),
        (["HELP"], [HELP]),
        ([""], ["Type the name of a category, skip, or ? for help."]),
        (["list"], ["No category has been named yet."]),
        (["carp", "list"], [r"│ carp     │    1 │ 0\d\d   │"]),
        (["undo"], ["There is nothing to undo."]),
        (["carp", "undo"], ["Saved: what was said last counts no more."]),
        (["=skip", "list"], [r'is "skip", a new category\.']),
        (["all"], ["It goes like this: all NAME. For a category of that name: =all"]),
        (["all =all of them"], [r'Saved: 1 row is "all of them", a new category\.']),
        (["carp", "change 1 = pike"], [r'Saved: 0\d\d, question 1, is "pike" now\.']),
        (["carp", "change 1 ="], [r"Saved: 0\d\d, question 1, is skipped now\."]),
        (["change 1 = x"], ["There is no question 1 to change: nothing was asked yet."]),
        (["change one = x"], ['A question goes by its number; got "one".']),
        (
            ["change 1"],
            ["It goes like this: change 3 = NAME. For a category of that name: =change 1"],
        ),
        (["label 007 = eel", "label 007 = cod"], ['Saved: 007 is "eel".', 'Saved: 007 is "cod".']),
        (["label 7 = eel"], ["No row has the id '7'."]),
        (
            ["label 007 ="],
            ["A category needs a name; got ''. To pass over the row, skip the question."],
        ),
        (
            ["carp", "rename carp = Carp"],
            ['Saved: "carp" is called "Carp" now.', r"Categories: Carp \(1\)"],
        ),
        (
            ["carp", "pike", "rename carp = pike"],
            ["There is a category 'pike' already. To make one of both, merge 'carp' into it."],
        ),
        (["rename carp = x"], ["There is no category 'carp'. None has been named yet."]),
        (
            ["a", "b", "c", "merge a = b, c"],
            ['Saved: b, c is part of "a" now.', r"Categories: a \(3\)"],
        ),
        (
            ["a", "b", "delete a"],
            ['Saved: there is no category "a" any more.', r"Categories: b \(1\)"],
        ),
        (["delete"], ["It goes like this: delete NAME. For a category of that name: =delete"]),
        (["delete a"], ["There is no category 'a'. None has been named yet."]),
        (
            ["settle 003 = a"],
            [
                "There is nothing to settle about the row '003': fewer than two experts have named "
                "it."
            ],
        ),
        (["a", "merge a ="], ["Nothing to merge into 'a': name at least one other category."]),
        (["\udce9"], ["A category's name is readable text; got '\\udce9'. Type it again."]),
        (["\x1b[A"], ["A category's name is readable text; got '\\x1b[A'. Type it again."]),
        (["[bold]x[/]"], [r'is "\[bold\]x\[/\]", a new category\.']),
    ],
)
def test_everything_that_can_be_said(folder, lines, sentences):
    said = b"".join(line.encode(errors="surrogateescape") + b"\n" for line in lines)
    text = run("--terminal", *RANDOM, said=said).stdout
    for sentence in sentences:
        assert sentence in text or re.search(sentence, text), text


def test_experts_who_disagree_are_listed_and_settled(folder):
    talk()
    with open_project("fish.kernova-project") as store:
        store.append(Record(RowLabelled(3, "carp"), "Anna"), Record(RowLabelled(3, "pike"), "Bob"))
    text = talk("list", "settle 003 = carp", "list")
    assert text.count("Experts disagree about 003: Anna says carp, Bob says pike.\n") == 1
    assert 'Saved: 003 is settled, it is "carp".\n' in text
    assert "Categories: carp (1)\n" in text


def test_a_correction_does_not_show_the_same_card_again(folder):
    text = talk("label 007 = eel" if asked(talk())[0] != "007" else "label 008 = eel", "x")
    first = asked(text)[0]
    assert f"\nQuestion 1 again: {first}\nCategories: eel (1)\n" in text


def test_the_rule_of_thumb_is_told_once_when_it_would_stop(folder):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(90, 2)), columns=["u", "v"]).to_csv("many.csv", index=False)
    text = talk("carp", *["pike"] * 70, data="many.csv", columns=[])
    # The second category came with question 2, and 2 + 50 more brought no other.
    assert len(asked(text.split("Guess: ")[0])) == 54
    assert text.count("Guess: ") == 2  # then, and at the end
    again = talk("pike", "eel", "undo", data="many.csv", columns=[])
    assert again.count("Guess: ") == 2  # it had been so; then again after the undo, and at the end


@pytest.mark.parametrize(
    ("line", "saying"),
    [
        (" great  crested grebe ", Saying("name", "great  crested grebe")),
        ("undo it", Saying("name", "undo it")),
        ("allium", Saying("name", "allium")),
        ("= undo", Saying("name", "undo", is_exact=True)),
        ("All carp", Saying("all", "carp")),
        ("all =all", Saying("all", "all", is_exact=True)),
        ("UNDO", Saying("undo")),
        ("exit", Saying("quit")),
        ("rename a=b = c=d", Saying("rename", "a=b", "c=d")),
        ("rename a=b", Saying("rename", "a", "b")),
        ("change 3 =", Saying("change", "3", "")),
        ("label = x", Saying("puzzle", "label ID = NAME", "label = x")),
        ("change of state", Saying("puzzle", "change 3 = NAME", "change of state")),
        ("changed", Saying("name", "changed")),
    ],
)
def test_what_a_line_means(line, saying):
    assert understood(line) == saying


# --- what programs get -----------------------------------------------------------------------


def test_a_summary_for_programs(folder):
    result = run("--terminal", *RANDOM, "--json", "-o", "out.csv", said="carp\nskip\neel\n")
    answer = json.loads(result.stdout)
    ids = asked(result.stderr)[:3]
    assert answer["asked"] == ids
    assert answer["categories"] == {"carp": [ids[0]], "eel": [ids[2]]}
    assert answer["curve"] == [1, 1, 2]
    assert 0 < answer["advice"]["questions_left"] <= 10
    assert len(answer["advice"]["known"]) == len(answer["advice"]["guessed"]) == 2
    assert (answer["questions"], answer["skipped"]) == (3, 1)
    assert answer["rows"] == [
        {"fish": ids[place], "category": name, "question": place + 1}
        for place, name in sorted([(0, "carp"), (2, "eel")], key=lambda pair: ids[pair[0]])
    ]
    assert answer["data"] == {"source": "fish.csv", "rows": 12}
    assert (answer["strategy"], answer["seed"]) == ("random", 0)
    assert answer["project"] == "fish.kernova-project"
    assert answer["files"] == {"output": "out.csv"}


def test_labels_known_before_are_no_features_and_are_not_asked(folder):
    columns = ["--id-column", "fish", "--label-column", "kind"]
    text = talk(*["x"] * 12, more=["-o", "out.csv"], columns=columns)
    assert "Categories: carp (1), [odd] (1)\n" in text
    assert sorted(asked(text)) == [f"{i:03d}" for i in range(N_ROWS) if i not in (0, 3)]
    rows = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert list(rows.columns) == ["fish", "category", "question", "kind"]
    assert rows.loc[[0, 3], "category"].tolist() == ["carp", "[odd]"]
    assert rows.loc[[0, 3], "question"].tolist() == ["", ""]
    assert "12 rows of 12 named" in talk()  # they need not be given again
    changed = pd.read_csv("fish.csv", dtype=str).assign(kind="cod")
    changed.to_csv("fish.csv", index=False)
    assert refused("--terminal", columns=columns) == (
        "kernova: The prior labels are not those that the project was begun with. Give the same "
        "ones, or none, or begin another project.\n"
    )


# --- what is refused -------------------------------------------------------------------------


def test_a_project_keeps_to_its_table_strategy_and_seed(folder):
    run("--terminal", "--strategy", "random", "--seed", "7", "--project", "mine", said="carp\n")
    text = run("--terminal", "--project", "mine", "--json").stdout  # it remembers both
    assert (json.loads(text)["strategy"], json.loads(text)["seed"]) == ("random", 7)
    assert refused("--terminal", "--project", "mine", "--strategy", "hms-ci") == (
        "kernova: The project mine chooses questions by 'random' with the seed 7; got 'hms-ci' "
        "and 7. Go on with those, or name another project.\n"
    )
    assert refused("--terminal", "--project", "mine", "--drop", "sex") == (
        "kernova: The project mine is about another table: the column 'sex' is gone. Give the "
        "table that the project was begun with, or name another project.\n"
    )
    pd.read_csv("fish.csv", dtype={"fish": str}).to_parquet("same.parquet")
    run("--terminal", "--project", "mine", data="same.parquet")  # however it is stored
    changed = pd.read_csv("fish.csv", dtype=str)
    changed.loc[11, "sex"] = "f"
    changed.to_csv("fish.csv", index=False)
    assert refused("--terminal", "--project", "mine") == (
        "kernova: The project mine is about another table: the row '011' has other values in "
        "'sex'. Give the table that the project was begun with, or name another project.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--strategy", "guess"], "There is no strategy named 'guess'. Take one of "),
        (["--project", "fish.csv"], "fish.csv is no kernova project, or the start of it is lost."),
        (["--project", "no/where"], "Cannot begin a project at no/where: there is no folder no."),
        (["--project", "p", "-o", "p"], "Cannot write a table to p: its ending is ''."),
        (["--project", "p.csv", "-o", "p.csv"], "Cannot write p.csv: it is one of the tables"),
    ],
)
def test_what_cannot_be_is_refused_before_a_file_is_made(folder, words, sentence):
    assert refused("--terminal", *words).startswith(f"kernova: {sentence}")
    assert {path.name for path in folder.iterdir()} == {"fish.csv"}


def test_a_second_program_is_turned_away(folder):
    talk("carp")
    with open_project("fish.kernova-project"):
        assert refused("--terminal") == (
            "kernova: The project fish.kernova-project is open in another process. Leave that one "
            "first.\n"
        )


def test_help_has_an_example():
    text = CliRunner().invoke(app, ["discover", "--help"]).stdout
    assert "kernova discover wines.csv --id-column wine --drop cultivar --terminal" in text
