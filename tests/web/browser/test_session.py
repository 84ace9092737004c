"""A whole session at the page, by keyboard alone, and the keys that it is made of."""

import pytest

from tests.web.browser.digits import WORDS, digit_words
from tests.web.browser.screens import expect
from tests.web.running import workbench


@pytest.fixture
def server(tmp_path):
    with workbench(tmp_path, "--demo") as running:
        yield running


def test_all_ten_digits_are_met_by_keyboard_alone(server, screen):
    truth, rows, met = digit_words(), [], set()
    screen.open(server, "Anna")
    while len(met) < len(WORDS):
        asked = screen.asked()
        screen.answer(truth[asked.id])
        rows.append(asked.row)
        met.add(truth[asked.id])
        assert len(rows) < 200
    n_asked = len(rows)
    print(f"\nten digits after {n_asked} questions")
    expect(screen.at("progress-words")).to_have_text(
        f"{n_asked} questions asked, {n_asked} of 750 rows labelled, 10 categories."
    )
    assert sorted(screen.categories()) == sorted(WORDS)
    # What the server wrote down is what the expert meant, row by row.
    said = server.get("api/history?limit=200")["entries"]
    assert [entry["row"] for entry in reversed(said)] == rows
    assert all(truth[entry["id"]] == entry["label"] for entry in said)
    screen.go("curve")
    screen.wait_for_words("curve-words", f"After {n_asked} questions: 10 categories discovered.")
    expect(screen.at("curve").get_by_role("img")).to_be_visible()
    expect(screen.at("curve").locator("path.band")).to_be_visible()
    expect(screen.at("advice")).to_contain_text("Known")


def test_two_presses_of_a_key_do_not_answer_two_questions(screen, digits):
    screen.open(digits, "Quick fingers")
    before = screen.asked()
    # Twice at once; once more when the next question comes up, before anybody can have seen it.
    screen.page.evaluate(
        """() => {
            const view = document.getElementById("view-question");
            const press = () => document.body.dispatchEvent(
                new KeyboardEvent("keydown", { key: "1", bubbles: true, cancelable: true }));
            new MutationObserver(press).observe(view, { childList: true });
            press();
            press();
        }"""
    )
    screen.wait_for_another(before)
    after = screen.asked()
    # A key that is held down repeats itself; that is no second answer either.
    screen.page.keyboard.down("2")
    for _ in range(5):
        screen.page.keyboard.down("2")
    screen.page.keyboard.up("2")
    screen.wait_for_another(after)
    screen.asked()
    said = [entry for entry in _said_by(digits, "Quick fingers") if entry["kind"] == "answer"]
    assert [entry["row"] for entry in said] == [after.row, before.row]


def test_undo_takes_back_step_by_step(screen, digits):
    screen.open(digits, "Undoer")
    first = screen.answer("four")
    before = screen.asked()
    screen.press("s")
    screen.wait_for_words("saved", f"{before.id} is skipped")
    screen.wait_for_another(before)
    for row in (before.row, first.row):
        last = screen.asked()
        screen.press("u")
        screen.wait_for_another(last)
        assert screen.asked().row == row
    screen.go("history")
    undone = screen.at("history-list").locator("li", has_text=f"{first.id}: four")
    expect(undone.locator("s")).to_be_visible()
    assert [entry["counts"] for entry in _said_by(digits, "Undoer")] == [False] * 4


def test_a_nearly_known_name_is_offered_and_not_decided(screen, digits):
    screen.open(digits, "Typist")
    first = screen.asked()
    screen.press("n")
    expect(screen.at("name-input")).to_be_focused()
    screen.type("Fuor")
    screen.press("Enter")
    expect(screen.at("did-you-mean")).to_contain_text("Did you mean “four”?")
    expect(screen.at("meant-0")).to_be_focused()
    screen.press("Enter")
    screen.wait_for_words("saved", f"Saved: {first.id} is “four”.")
    screen.wait_for_another(first)
    second = screen.asked()
    screen.press("n")
    expect(screen.at("name-input")).to_be_focused()
    screen.type("fours")
    screen.press("Enter")
    screen.push(screen.at("meant-none"))
    screen.wait_for_words("saved", f"Saved: {second.id} is “fours”, a new category.")
    screen.wait_for_another(second)
    for _ in range(2):
        last = screen.asked()
        screen.press("u")
        screen.wait_for_another(last)
    screen.catch_up()
    assert "fours" not in screen.categories()


def test_a_cluster_is_named_in_one_step_and_undone_in_one(screen, digits):
    screen.open(digits, "Namer")
    while not screen.cluster():
        screen.press("s")
        screen.wait_for_another(screen.asked())
    asked, others = screen.asked(), screen.cluster()
    screen.press("a")
    expect(screen.at("name-all")).to_have_attribute("aria-pressed", "true")
    screen.press("Escape")
    expect(screen.at("name-all")).to_have_attribute("aria-pressed", "false")
    screen.press("a")
    # The last one is different: it is unticked, and stays without a name.
    box = screen.at("cluster").get_by_role("checkbox").last
    screen.tab_to(box)
    screen.press("Space")
    screen.press("n")
    screen.name("cluster name")
    like_it = f" and {len(others) - 1} other row" if len(others) > 1 else " is"
    screen.wait_for_words("saved", f"Saved: {asked.id}{like_it}")
    screen.wait_for_another(asked)
    (category,) = [one for one in _categories(digits) if one["name"] == "cluster name"]
    assert category["rows"] == len(others)
    last = screen.asked()
    screen.press("u")
    screen.wait_for_another(last)
    assert screen.asked() == asked
    assert all(one["name"] != "cluster name" for one in _categories(digits))


def _categories(server):
    return server.get("api/state")["categories"]


def _said_by(server, expert):
    entries = server.get("api/history?limit=200")["entries"]
    return [entry for entry in entries if entry["by"] == expert]
