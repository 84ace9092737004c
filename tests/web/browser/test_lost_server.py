"""The server is killed while an expert works: the page says so, goes on trying, loses nothing.

The new server knows no login: one is enough, and the page stays as it is.
"""

import pytest

from tests.web.browser.screens import expect
from tests.web.browser.tables import write_groups
from tests.web.running import TOKEN, workbench


@pytest.fixture
def table(tmp_path):
    write_groups(tmp_path / "rows.csv")
    return tmp_path


def log_in_by_token(screen, server):
    screen.tab_to(screen.at("login-token"))
    screen.type("a wrong token")
    screen.press("Enter")
    screen.wait_for_words("login-problem", "This token is wrong.")
    screen.press("ControlOrMeta+a")
    screen.type(TOKEN)
    screen.press("Enter")


def log_in_by_link(screen, server):
    other = screen.page.context.new_page()
    other.goto(server.url)
    expect(other).to_have_title("Question · kernova workbench")
    other.close()


@pytest.mark.parametrize("log_in", [log_in_by_token, log_in_by_link])
def test_a_killed_server_loses_nothing(table, screen, log_in):
    command = ("rows.csv", "--id-column", "id")
    # Nobody listens for a while: that is what the console will say.
    screen.watch.expect(r"net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)")
    screen.watch.expect("status of 401")
    with workbench(table, *command) as first:
        screen.open(first, "Anna")
        saved = [screen.answer("before the crash").row for _ in range(3)]
        before = screen.asked()
        first.kill()
        screen.press("n")
        screen.name("while it was gone")
        expect(screen.at("trouble")).to_contain_text("Not saved yet, trying again")
        expect(screen.at("trouble")).to_contain_text("Nothing is lost")
        expect(screen.at("try-again")).to_be_visible()
    with workbench(table, *command, port=first.port) as second:
        screen.server = second
        expect(screen.at("trouble")).to_contain_text("no longer logged in")
        expect(screen.at("trouble")).to_contain_text("Nothing is lost")
        log_in(screen, second)
        screen.wait_for_another(before)
        expect(screen.at("trouble")).to_be_hidden()
        # Whichever tab comes first sends it; it counts once.
        screen.wait_for_words("saved", f"Saved: {before.id} is “while it was gone”")
        after = screen.answer("after the crash")
        # And a page that is opened anew stands where the other stopped.
        screen.page.reload()
        screen.asked()
        screen.catch_up()
        assert screen.categories() == ["before the crash", "while it was gone", "after the crash"]
        entries = reversed(second.get("api/history")["entries"])
        assert [entry["row"] for entry in entries] == [*saved, before.row, after.row]
