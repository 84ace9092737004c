"""Commands typed at the prompt of ``kernova discover --terminal``."""

import pytest

from kernova.cli.prompt import Command, parse_command, suggestion_for


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (" great  crested grebe ", Command("name", "great  crested grebe")),
        ("undo it", Command("name", "undo it")),
        ("allium", Command("name", "allium")),
        ("= undo", Command("name", "undo", is_exact=True)),
        ("All carp", Command("all", "carp")),
        ("all =all", Command("all", "all", is_exact=True)),
        ("UNDO", Command("undo")),
        ("exit", Command("quit")),
        ("rename a=b = c=d", Command("rename", "a=b", "c=d")),
        ("rename a=b", Command("rename", "a", "b")),
        ("change 3 =", Command("change", "3", "")),
        ("label = x", Command("incomplete", "label ID = NAME", "label = x")),
        ("change of state", Command("incomplete", "change 3 = NAME", "change of state")),
        ("changed", Command("name", "changed")),
    ],
)
def test_lines_are_parsed(line, command):
    assert parse_command(line) == command


@pytest.mark.parametrize(
    ("command", "matches"),
    [
        (Command("name", "CAR"), ("carp", "Carassius")),
        (Command("all", "ee"), ("eel",)),
        (Command("name", "eel"), None),
        (Command("name", "CAR", is_exact=True), None),
        (Command("name", "pike"), None),
        (Command("name", ""), None),
        (Command("delete", "car"), None),
    ],
)
def test_suggestions_are_the_categories_that_begin_with_a_new_name(command, matches):
    suggestion = suggestion_for(command, ["carp", "eel", "Carassius"])
    assert (suggestion and suggestion.matches) == matches


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("unsure", Command("unsure")),
        ("Flag", Command("flag")),
        ("flag it", Command("name", "flag it")),
        ("note", Command("note", "")),
        ("note torn  fin", Command("note", "torn  fin")),
        ("also blurred", Command("also", "blurred")),
        ("sure LOW carp", Command("name", "carp", "low")),
        ("sure high =undo", Command("name", "undo", "high", is_exact=True)),
        ("sure thing", Command("incomplete", "sure low NAME (or medium, or high)", "sure thing")),
        ("sure low", Command("incomplete", "sure low NAME (or medium, or high)", "sure low")),
    ],
)
def test_answers_of_more_kinds_are_parsed(line, command):
    assert parse_command(line) == command
