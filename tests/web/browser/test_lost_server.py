"""The server is killed while an expert works: the page says so, goes on trying, loses nothing."""

import pytest

from tests.web.browser.screens import expect
from tests.web.browser.tables import write_groups
from tests.web.running import workbench


@pytest.fixture
def table(tmp_path):
    write_groups(tmp_path / "rows.csv")
    return tmp_path


def test_a_killed_server_loses_nothing(table, screen):
    command = ("rows.csv", "--id-column", "id")
    # Nobody listens for a while: that is what the console will say.
    screen.watch.expect(r"net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)")
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
        screen.wait_for_another(before)
        expect(screen.at("trouble")).to_be_hidden()
        screen.wait_for_words(
            "saved", f"Saved: {before.id} is “while it was gone”, a new category."
        )
        after = screen.answer("after the crash")
        # And a page that is opened anew stands where the other stopped.
        screen.page.reload()
        screen.asked()
        screen.catch_up()
        assert screen.categories() == ["before the crash", "while it was gone", "after the crash"]
        entries = reversed(second.get("api/history")["entries"])
        assert [entry["row"] for entry in entries] == [*saved, before.row, after.row]
