"""Colleagues in several browsers: invitations, names, comparisons, undo, agreement and settling."""

import colorsys

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.web.browser.access import check_focus, check_standing
from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import PHONE, expect

WINDOWS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "narrow": PHONE}
N_ROWS = 40


@pytest.fixture
def fish(tmp_path):
    """Serve a table with pictures, of which nothing is labelled."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, N_ROWS)
    rows = pd.DataFrame({"id": [f"fish-{row:02}" for row in range(N_ROWS)]})
    rows["length"] = (9 * kinds + rng.normal(size=N_ROWS)).round(3)
    rows["width"] = (rng.normal(size=N_ROWS) - 7 * kinds).round(3)
    rows.to_csv(tmp_path / "fish.csv", index=False)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for row, kind in enumerate(kinds):
        red, green, blue = colorsys.hsv_to_rgb(kind / 3 + 0.004 * row % 0.1, 0.6, 0.8)
        colour = tuple(round(255 * part) for part in (red, green, blue))
        Image.new("RGB", (160, 100), colour).save(folder / f"fish-{row:02}.png")
    with nearby_workbench(tmp_path / "fish.csv", id_column="id", images=str(folder)) as server:
        yield server


def answers(server, expert, labels, **wish):
    """Let an expert answer by script; give the rows."""
    rows = []
    for label in labels:
        question = server.post("api/question", expert=expert, **wish)["question"]
        rows.append(question["row"])
        server.post("api/answers", expert=expert, row=question["row"], label=label)
    return rows


def test_a_colleague_is_invited_and_comes_in_by_the_link(fish, new_screen):
    host = new_screen().open(fish, "Anna")
    host.asked()
    host.go("experts")
    expect(host.at("reach-words")).to_contain_text("Other machines cannot reach this page")
    expect(host.at("reach-words")).to_contain_text("--host 0.0.0.0")
    host.tab_to(host.at("invite-name"))
    host.type("Bob")
    host.press("Enter")
    link = host.at("invitation-link").input_value()
    expect(host.at("invitation-link")).to_be_focused()
    expect(host.at("invitation-list")).to_contain_text("link not used yet")
    host.picture("invitation-link")
    guest = new_screen()
    guest.page.goto(link)
    expect(guest.page.get_by_role("heading", name="Welcome to kernova")).to_be_visible()
    guest.picture("invitation-page")
    guest.press("Enter")  # the button has the focus
    expect(guest.at("expert-button")).to_have_text("Bob")
    guest.asked()
    assert "code" not in guest.page.url
    guest.answer("carp")
    # The name stays, and so does the invitation of others with the host.
    guest.at("expert-button").click()
    guest.wait_for_words("saved", "You are here by an invitation, as Bob.")
    guest.go("experts")
    expect(guest.at("reach-words")).to_contain_text("You are here by an invitation, as Bob.")
    expect(guest.at("invite-name")).to_be_hidden()
    # Reloading changes nothing; the link is void.
    guest.page.reload()
    expect(guest.at("expert-button")).to_have_text("Bob")
    thief = new_screen()
    thief.watch.expect("status of 401")
    assert thief.page.goto(link).status == 401
    expect(thief.page.get_by_role("alert")).to_contain_text("This invitation has been used")
    expect(host.at("expert-list")).to_contain_text("Bob")
    expect(host.at("invitation-list")).to_contain_text("has logged in")
    guest.watch.expect("status of 401")
    host.push(host.at("revoke"))
    expect(host.at("invitation")).to_contain_text("The link of Bob is void")
    expect(host.at("invitation-list").locator("li")).to_have_count(0)
    guest.wait_for_words("trouble", "This page is no longer logged in.")


def test_a_name_in_use_elsewhere_is_noticed(fish, new_screen):
    first = new_screen().open(fish, "Anna")
    first.asked()
    second = new_screen().open(fish)
    expect(second.at("expert-name")).to_be_focused()
    second.type("Anna")
    second.press("Enter")
    words = "Anna is working here from another browser. Are you the same person?"
    expect(second.at("start-doubt")).to_contain_text(words)
    second.picture("name-in-use")
    second.push(second.at("doubt-another"))
    expect(second.at("expert-name")).to_be_focused()
    second.type("änna")
    second.press("Enter")
    expect(second.at("start-doubt")).to_contain_text("almost the same name: Anna.")
    second.push(second.at("doubt-other"))
    expect(second.at("expert-button")).to_have_text("änna")
    third = new_screen().open(fish, "Anna")  # confirms to be the same
    expect(third.at("expert-button")).to_have_text("Anna")
    assert third.asked().row == first.asked().row  # one expert, one question


def test_an_invitation_for_a_known_name_is_questioned(fish, new_screen):
    host = new_screen().open(fish, "Anna")
    host.asked()
    host.go("experts")
    host.tab_to(host.at("invite-name"))
    host.type("ANNA")
    host.press("Enter")
    expect(host.at("invitation")).to_contain_text("almost the same name: Anna.")
    expect(host.at("invite-same")).to_be_focused()
    host.push(host.at("invite-other"))
    expect(host.at("invitation")).to_contain_text("Send this link to ANNA.")


def test_planned_rows_are_compared_without_the_first_answer(fish, new_screen):
    host = new_screen().open(fish, "Anna")
    host.asked()
    host.go("experts")
    expect(host.at("overlap-words")).to_have_text("No overlap is planned.")
    host.tab_to(host.at("overlap-percent"))
    host.press("ControlOrMeta+a")
    host.type("100")
    host.press("Enter")
    host.wait_for_words("saved", "100 % of rows are asked to 2 experts from now on.")
    rows = answers(fish, "Anna", ["carp", "carp"])
    bob = new_screen().open(fish, "Bob")
    bob.asked()
    bob.go("experts")
    expect(bob.at("overlap-words")).to_contain_text("2 for you to compare")
    bob.push(bob.at("overlap-now"))
    expect(bob.at("for-comparison")).to_have_text("For comparison")
    asked = bob.asked()
    assert asked.row == rows[0]
    expect(bob.at("reason")).to_contain_text("That answer is shown after yours.")
    assert "carp" not in bob.page.locator(".asked .seen-side").inner_text()
    bob.picture("for-comparison")
    # Nor does the page show it elsewhere: in the row's own dialog.
    bob.go("map")
    bob.tab_to(bob.at("find-row"))
    bob.type(asked.id)
    bob.press("Enter")
    expect(bob.at("row-dialog")).to_contain_text("This is the current question.")
    expect(bob.at("row-dialog")).not_to_contain_text("carp")
    bob.press("Escape", "Escape")  # out of the dialog, then out of the field
    bob.go("question")
    bob.asked()
    bob.say("pike")
    bob.wait_for_words("saved", f"{asked.id} is “pike”. For comparison: Anna gave “carp”.")
    expect(bob.page.locator("#disagreement-badge")).to_have_text("1")
    bob.go("experts")
    expect(bob.at("agreement")).to_contain_text("1 row with answers of several experts: 0 % agree")
    expect(bob.at("confusion")).to_contain_text("pike")


@pytest.mark.parametrize("window", WINDOWS)
def test_an_undo_that_a_colleague_prevents_has_ways_on(fish, new_screen, window):
    [first, second] = answers(fish, "Anna", ["perch", "carp"])
    fish.post("api/categories/rename", expert="Bob", old="carp", new="common carp")
    anna = new_screen(**WINDOWS[window]).open(fish, "Anna")
    anna.asked()
    anna.watch.expect("status of 409")
    anna.go("history")
    anna.press("u")
    expect(anna.at("undo-ways")).to_contain_text("1 later step by Bob depends on it")
    expect(anna.at("undo-others")).to_contain_text("carp was renamed to common carp.")
    expect(anna.at("undo-change")).to_be_focused()
    assert anna.overflow() == 0
    check_standing(anna.page)
    anna.picture(f"undo-ways-{window}")
    anna.press("Enter")
    anna.name("roach")
    anna.wait_for_words("saved", "was changed to: roach.")
    assert fish.get(f"api/rows/{second}")["label"] == "roach"
    anna.press("u")  # the change itself can be undone
    anna.wait_for_words("saved", "Undone: The answer to question 2 was changed to: roach.")
    anna.press("u")
    anna.push(anna.at("undo-earlier"))
    anna.wait_for_words("saved", "perch.")
    assert fish.get(f"api/rows/{first}")["label"] is None
    anna.press("u")
    expect(anna.at("undo-ways")).to_be_visible()
    expect(anna.at("undo-earlier")).to_have_count(0)
    expect(anna.at("undo-all")).to_contain_text("This also takes back what Bob did")
    anna.push(anna.at("undo-all"))
    anna.wait_for_words("saved", "carp.")
    assert fish.get("api/state")["categories"] == []


@pytest.fixture
def disputed(fish):
    """Let two experts disagree on three of their rows, and agree on others."""
    fish.post("api/overlap", expert="Anna", fraction=1)
    rows = answers(fish, "Anna", ["carp"] * 4 + ["pike"] * 4 + ["eel"] * 3)
    given = ["carp"] * 3 + ["pike"] * 5 + ["carp", "eel", "pike"]
    answers(fish, "Bob", given, source="overlap")
    return fish, [rows[3], rows[8], rows[10]]


@pytest.mark.parametrize("window", WINDOWS)
def test_disputed_rows_are_settled_one_by_one_by_keys(disputed, new_screen, window):
    server, rows = disputed
    screen = new_screen(**WINDOWS[window]).open(server, "Cleo")
    screen.asked()
    screen.go("experts")
    expect(screen.at("pairs")).to_contain_text("Anna and Bob")
    expect(screen.at("agreement")).to_contain_text("11 rows with answers of several experts")
    assert screen.overflow() == 0
    screen.picture(f"agreement-{window}")
    check_standing(screen.page)
    screen.push(screen.at("settle-all"))
    expect(screen.at("settle-where")).to_have_text("1 of 3 disputed rows")
    expect(screen.at("settle-id")).to_have_text(f"fish-{rows[0]:02}")
    panel = screen.at("settle-panel")
    for words in ("Anna", "Bob", "carp, undisputed", "pike, undisputed", "without seeing others"):
        expect(panel).to_contain_text(words)
    for image in panel.locator("img").all():
        screen.wait_for_image(image)
    assert screen.overflow() == 0
    inside = screen.at("settle-dialog").evaluate("node => node.scrollWidth - node.clientWidth")
    assert inside == 0
    check_standing(screen.page)
    screen.picture(f"settle-{window}")
    screen.press("ArrowRight")
    expect(screen.at("settle-id")).to_have_text(f"fish-{rows[1]:02}")
    screen.press("ArrowLeft")
    expect(screen.at("settle-id")).to_have_text(f"fish-{rows[0]:02}")
    screen.press("2")
    expect(screen.at("settle-where")).to_have_text("1 of 2 disputed rows")
    assert server.get(f"api/rows/{rows[0]}")["label"] == "pike"
    screen.press("o")
    screen.name("roach")
    expect(screen.at("settle-where")).to_have_text("1 of 1 disputed row")
    assert server.get(f"api/rows/{rows[1]}")["label"] == "roach"
    screen.press("1")
    expect(screen.at("all-settled")).to_be_visible()
    screen.press("Escape")
    expect(screen.at("settle-all")).to_be_hidden()


def test_disputes_are_filtered_by_a_pair_of_categories(disputed, new_screen):
    server, rows = disputed
    screen = new_screen().open(server, "Cleo")
    screen.asked()
    screen.go("experts")
    screen.push(screen.at("settle-all"))
    expect(screen.at("settle-where")).to_have_text("1 of 3 disputed rows")
    screen.at("settle-filter").select_option(label="carp or eel (1)")
    expect(screen.at("settle-where")).to_have_text("1 of 1 disputed row")
    expect(screen.at("settle-id")).to_have_text(f"fish-{rows[1]:02}")
    screen.press("Escape")
    screen.at("confusion-pair").select_option(label="Anna and Bob")
    expect(screen.at("confusion")).to_contain_text("Lines: Anna. Columns: Bob")
    screen.go("question")
    screen.go("experts")
    assert check_focus(screen.page) > 10
