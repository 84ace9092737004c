"""Coming to the page by a link on another one, such as a terminal that is itself a page."""

from tests.web.browser.screens import expect


def test_a_link_on_another_page_leads_in(screen, digits):
    page = screen.page
    page.set_content(f'<a href="{digits.url}">the address that the terminal shows</a>')
    page.get_by_role("link").click()
    expect(page).to_have_title("Question · kernova workbench")
    assert "token" not in page.url
    page.reload()
    expect(page).to_have_title("Question · kernova workbench")
