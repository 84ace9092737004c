"""Coming to the page: by a link on another one, through the private file, or by the token."""

import queue
import re
import socket

import pytest

from kernova.web import login
from kernova.web.serve import bind_endpoint
from tests.web.browser.conftest import find_browser
from tests.web.browser.screens import expect
from tests.web.in_process import TOKEN, fish, opened, served_at

TITLE = "Question · kernova workbench"


@pytest.fixture
def bench(tmp_path):
    fish(tmp_path)
    bench = opened(tmp_path, strategy="random")
    yield bench
    bench.close()


def test_a_link_on_another_page_leads_in(screen, digits):
    page = screen.page
    page.set_content(f'<a href="{digits.url}">the link that the terminal shows</a>')
    page.get_by_role("link").click()
    expect(page).to_have_title(TITLE)
    assert "code" not in page.url
    page.reload()
    expect(page).to_have_title(TITLE)


@pytest.fixture
def alone(bench):
    """Serve a bench that nobody has opened, longer than any window is open."""
    with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as server:
        yield server


def test_the_private_file_leads_in_once(alone, screen, new_screen, monkeypatch):
    given = queue.Queue()
    monkeypatch.setattr(login.webbrowser, "open", lambda url: given.put(url) or True)
    screen.watch.expect("request to elsewhere: file:///.*/open.html$")
    opening = login.open_browser(alone.endpoint.address, alone.endpoint.key)
    used = []
    screen.page.on("request", lambda request: used.append(request.url))
    screen.page.goto(given.get(timeout=60))
    expect(screen.page).to_have_title(TITLE)
    opening.join(60)
    assert not opening.is_alive()  # and the file is gone
    (link,) = [url for url in used if "/login?" in url]
    # Whoever finds the link in the history does not get in by it.
    other = new_screen()
    other.watch.expect("status of 401")
    assert other.page.goto(link).status == 401
    expect(other.page.get_by_role("alert")).to_contain_text("has already been used")
    assert other.page.context.cookies() == []


def test_the_token_is_typed_into_the_form(screen, digits):
    page = screen.page
    screen.watch.expect("status of 401")
    page.goto(f"{digits.address}#/history")
    expect(page.get_by_label("Token")).to_be_focused()
    screen.picture("login")
    screen.type("a wrong one")
    screen.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This token is wrong.")
    assert page.context.cookies() == []
    expect(page.get_by_label("Token")).to_be_focused()
    screen.type(TOKEN)
    screen.press("Enter")
    expect(page).to_have_title(re.compile("kernova workbench"))
    assert page.url.startswith(digits.address)
    assert "token" not in page.url
    page.reload()
    expect(page).to_have_title(re.compile("kernova workbench"))


@pytest.fixture
def colleague(browser):
    """A browser for which this machine has a name, as for a colleague in the network."""
    name = socket.gethostname()
    if name == "localhost":
        pytest.skip("this machine has no name")
    options = ["--no-sandbox", "--disable-gpu", "--no-proxy-server"]
    options.append(f"--host-resolver-rules=MAP {name} 127.0.0.1")
    program = find_browser()
    there = browser.browser_type.launch(executable_path=program, args=options)
    yield there.new_page()
    there.close()


def test_experts_on_other_machines_log_in_and_answer_without_https(colleague, bench):
    # Without HTTPS, browsers trust such a page less, and tell its server less about a request.
    with served_at(bench, bind_endpoint("0.0.0.0", port=0, token=TOKEN)) as server:
        address = server.endpoint.address_at(socket.gethostname())
        colleague.goto(server.endpoint.new_link().replace("127.0.0.1", socket.gethostname()))
        expect(colleague).to_have_title(TITLE)
        colleague.context.clear_cookies()
        colleague.goto(address)
        colleague.get_by_label("Token").fill(TOKEN)
        colleague.get_by_role("button", name="Log in").click()
        expect(colleague).to_have_title(TITLE)
        assert colleague.url.startswith(address)
        assert not colleague.evaluate("isSecureContext")
        colleague.get_by_test_id("expert-name").fill("Ada")
        colleague.keyboard.press("Enter")
        expect(colleague.locator("body")).to_have_attribute("data-accepts", "yes")
        colleague.keyboard.press("n")
        colleague.get_by_test_id("name-input").fill("carp")
        colleague.keyboard.press("Enter")
        expect(colleague.get_by_test_id("saved")).to_contain_text("“carp”, a new category")
