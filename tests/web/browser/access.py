"""What those need who listen, or have no mouse: names, headings, and a focus that is seen."""

# Whoever has one of these roles must say what it is.
_NAMED_ROLES = {
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "listbox",
    "option",
    "image",
    "progressbar",
    "dialog",
    "alertdialog",
    "application",
    "region",
    "navigation",
    "group",
}

_STANDS_ALONE = """() => ({
    mains: document.querySelectorAll("main").length,
    headings: [...document.querySelectorAll("h1")]
        .filter((one) => one.checkVisibility() && one.ariaLevel !== "2").length,
    live: document.querySelectorAll("[aria-live=polite]").length,
    alerts: document.querySelectorAll("[role=alert]").length,
    language: document.documentElement.lang,
    title: document.title,
    twice: [...document.querySelectorAll("[id]")].map((one) => one.id)
        .filter((id, place, all) => all.indexOf(id) !== place),
})"""

_LISTEN_TO_FOCUS = """() => {
    const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        && one.getClientRects().length > 0;
    const wanted = "a[href], button:not(:disabled), input:not(:disabled), select, [tabindex='0']";
    window.reached = new Map();
    document.addEventListener("focusin", ({ target }) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(target);
        window.reached.set(target, outlineStyle !== "none" && parseFloat(outlineWidth) > 0);
    });
    const all = [...document.querySelectorAll(wanted)].filter(seen);
    window.wanted = all;
    document.activeElement.blur();
    return all.length;
}"""

_WHAT_FOCUS_DID = """() => {
    const words = (one) => one.outerHTML.slice(0, 160);
    return {
        missed: window.wanted.filter((one) => one.isConnected)
            .filter((one) => !window.reached.has(one)).map(words),
        unseen: [...window.reached].filter(([one, isShown]) => !isShown).map(([one]) => words(one)),
    };
}"""


def nameless(page):
    """Give what has a role that needs a name, and none, as the browser tells screen readers."""
    line = page.context.new_cdp_session(page)
    nodes = line.send("Accessibility.getFullAXTree")["nodes"]
    line.detach()
    return [
        f"{node['role']['value']}: {node.get('properties', [])}"
        for node in nodes
        if not node["ignored"]
        and node["role"]["value"] in _NAMED_ROLES
        and not node.get("name", {}).get("value", "").strip()
    ]


def check_standing(page):
    """One heading leads, one main part, and what changes is spoken."""
    found = page.evaluate(_STANDS_ALONE)
    assert found["mains"] == found["headings"] == 1, found
    assert found["live"] >= 2
    assert found["alerts"] >= 1
    assert found["language"] == "en"
    assert "kernova" in found["title"]
    assert found["twice"] == []
    assert nameless(page) == []


def check_focus(page):
    """Tab comes to everything that can be used, and one sees where it is."""
    n_wanted = page.evaluate(_LISTEN_TO_FOCUS)
    # Tab goes round from wherever the focus was, through the browser's own frame.
    for _ in range(3):
        for _ in range(n_wanted):
            page.keyboard.press("Tab")
        found = page.evaluate(_WHAT_FOCUS_DID)
        if not found["missed"]:
            break
    assert found == {"missed": [], "unseen": []}, found
    return n_wanted
