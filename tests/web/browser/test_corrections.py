"""Putting categories and answers in order afterwards, by keyboard alone."""

import pytest

from tests.web.browser.screens import expect


@pytest.fixture
def corrector(screen, digits):
    """Give a screen of an expert with three answers, all to be taken back by the end."""
    question, named = digits.post("api/question", expert="Corrector")["question"], []
    for label in ("first kind", "second sort", "third"):
        named.append(question)
        said = {"expert": "Corrector", "row": question["row"], "label": label}
        question = digits.post("api/answers", **said)["question"]
    screen.open(digits, "Corrector")
    yield screen, named
    while any(_is_standing(entry) for entry in digits.get("api/history?limit=200")["entries"]):
        digits.post("api/undo", expert="Corrector")


def _is_standing(entry):
    return entry["by"] == "Corrector" and entry["counts"]


def _names(server):
    return [one["name"] for one in server.get("api/state")["categories"]]


def _category(screen, name):
    return screen.at("category-list").locator(f'li[data-name="{name}"]')


def test_categories_are_renamed_merged_and_deleted(corrector, digits):
    screen, _ = corrector
    at_first = _names(digits)
    screen.go("categories")
    screen.catch_up()
    screen.push(_category(screen, "first kind").get_by_test_id("rename"))
    screen.name("best kind")
    screen.wait_for_words("saved", "first kind was renamed to best kind.")
    expect(_category(screen, "best kind")).to_be_visible()
    expect(_category(screen, "first kind")).to_have_count(0)
    expect(_category(screen, "best kind").get_by_test_id("rename")).to_be_focused()

    screen.catch_up()
    screen.push(_category(screen, "best kind").get_by_test_id("merge-into"))
    dialog = screen.at("merge-dialog")
    screen.tab_to(dialog.get_by_role("checkbox", name="second sort"))
    screen.press("Space")
    expect(screen.at("merge-into-name")).to_have_value("best kind")
    screen.push(screen.at("merge-go"))
    screen.wait_for_words("saved", "second sort was merged into best kind.")
    expect(_category(screen, "second sort")).to_have_count(0)
    expect(_category(screen, "best kind")).to_contain_text("2 rows")

    screen.catch_up()
    screen.push(_category(screen, "third").get_by_test_id("delete"))
    expect(screen.at("confirm-no")).to_be_focused()
    screen.press("Escape")
    expect(screen.at("confirm")).to_have_count(0)
    expect(_category(screen, "third")).to_be_visible()
    screen.catch_up()
    screen.push(_category(screen, "third").get_by_test_id("delete"))
    screen.push(screen.at("confirm-yes"))
    screen.wait_for_words("saved", "The category third was deleted.")
    expect(_category(screen, "third")).to_have_count(0)

    for name, shown in (("third", 1), ("second sort", 1), ("first kind", 1)):
        screen.press("u")
        expect(_category(screen, name)).to_have_count(shown)
    assert _names(digits) == at_first


def test_a_rename_to_a_known_name_offers_a_merge(corrector, digits):
    screen, _ = corrector
    screen.go("categories")
    screen.catch_up()
    screen.push(_category(screen, "third").get_by_test_id("rename"))
    screen.name("second sort")
    expect(screen.at("confirm")).to_contain_text("Merge into “second sort”?")
    screen.press("Enter")
    screen.wait_for_words("saved", "third was merged into second sort.")
    expect(_category(screen, "second sort")).to_contain_text("2 rows")


def test_an_answer_is_found_in_the_history_and_changed(corrector, digits):
    screen, named = corrector
    screen.go("history")
    screen.tab_to(screen.at("history-find"))
    screen.type("second sort")
    entry = screen.at("history-list").locator("li:not(.undone)", has_text=named[1]["id"])
    screen.catch_up("history-list")
    screen.push(entry.get_by_test_id("change"))
    screen.name("first kind")
    screen.wait_for_words("saved", "was changed to: first kind.")
    expect(entry.get_by_test_id("label-now")).to_have_text("now “first kind”")
    expect(entry.get_by_test_id("change")).to_be_focused()
    assert digits.get(f"api/rows/{named[1]['row']}")["label"] == "first kind"
    screen.catch_up("history-list")
    screen.push(screen.at("history-undo"))
    screen.wait_for_words("saved", "Undone")
    assert digits.get(f"api/rows/{named[1]['row']}")["label"] == "second sort"
    # Once more, to nothing: it counts as skipped.
    screen.catch_up("history-list")
    screen.push(entry.get_by_test_id("change"))
    screen.push(screen.at("change-skip"))
    screen.wait_for_words("saved", "was changed to: skipped.")
    assert digits.get(f"api/rows/{named[1]['row']}")["label"] is None
    # Out of the field, single keys work again.
    screen.tab_to(screen.at("history-find"))
    screen.press("Escape")
    screen.press("c")
    expect(screen.page.locator("body")).to_have_attribute("data-view", "categories")
