"""Two experts in two browsers: never the same row, and what they disagree about is settled."""

from tests.web.browser.screens import expect


def test_two_experts_are_never_asked_the_same(new_screen, digits):
    screens = [new_screen().open(digits, expert) for expert in ("Clara", "Dan")]
    before, rows = [None, None], []
    for turn in range(6):
        screen = screens[turn % 2]
        # Only now: while the next question came up here, the other expert was answering.
        screen.wait_for_another(before[turn % 2])
        asked = screen.asked()
        screen.say("two experts")
        before[turn % 2] = asked
        rows.append(asked.row)
    for screen, last in zip(screens, before, strict=True):
        screen.wait_for_another(last)
        rows.append(screen.asked().row)
    assert len(rows) == len(set(rows)) == 8
    for screen in screens:
        screen.go("experts")
        for expert in ("Clara", "Dan"):
            line = screen.at("expert-list").locator("li", has_text=expert)
            expect(line).to_contain_text("3 answers · online")
    _take_back(screens, 3)


def test_a_disagreement_is_listed_and_settled(new_screen, digits):
    eva, finn = (new_screen().open(digits, expert) for expert in ("Eva", "Finn"))
    asked = eva.answer("Eva's word")
    finn.go("map")
    finn.tab_to(finn.at("find-row"))
    finn.type(asked.id)
    finn.press("Enter")
    expect(finn.at("row-dialog")).to_contain_text("Eva's word")
    expect(finn.at("name-row")).to_be_focused()
    finn.press("Enter")
    finn.name("Finn's word")
    finn.wait_for_words("saved", f"{asked.id}: Finn's word, labelled directly.")
    expect(finn.page.locator("#disagreement-badge")).to_have_text("1")
    eva.go("experts")
    line = eva.at("disagreements").locator("li[data-row]")
    expect(line).to_contain_text("Eva: Eva's word")
    expect(line).to_contain_text("Finn: Finn's word")
    eva.catch_up("disagreements")
    eva.push(line.get_by_test_id("settle").filter(has_text="Eva's word"))
    expect(line).to_have_count(0)
    eva.wait_for_words("saved", f"The disagreement about {asked.id} was settled: Eva's word.")
    expect(finn.page.locator("#disagreement-badge")).to_be_hidden()
    assert digits.get(f"api/rows/{asked.row}")["label"] == "Eva's word"
    _take_back([eva], 2)
    _take_back([finn], 1)


def _take_back(screens, times):
    """Undo what these said: other tests share the server."""
    for screen in screens:
        for _ in range(times):
            digits = screen.server
            digits.post("api/undo", expert=screen.at("expert-button").inner_text())
