"""What the page's files must never hold: markup from data, inline code, addresses elsewhere."""

import re
from pathlib import Path

import pytest

import kernova.web

STATIC = Path(kernova.web.__file__).parent / "static"
FILES = sorted(path for path in STATIC.rglob("*") if path.suffix in {".js", ".css", ".html"})
MODULES = [path for path in FILES if path.suffix == ".js"]
MOST_LINES = 400
GENERATED = {"types.js"}  # by web-tools/page_types.py


def _names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(STATIC)) for path in paths]


@pytest.mark.parametrize("path", FILES, ids=_names(FILES))
def test_files_are_short_and_speak_to_no_other_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES or path.name in GENERATED
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}", text))
    assert addresses <= {"http://www.w3.org"}  # the name of SVG, which is never asked for


@pytest.mark.parametrize("path", MODULES, ids=_names(MODULES))
def test_modules_never_turn_data_into_markup_or_code(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    forbidden = (
        r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser)\b"
        r"|\beval\(|new Function|javascript:|setAttribute\(\"(?:style|on)"
    )
    assert re.findall(forbidden, text) == []


@pytest.mark.parametrize("path", MODULES, ids=_names(MODULES))
def test_modules_import_what_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for names, source in re.findall(r"import \{([^}]*)\} from \"([^\"]+)\"", text):
        exported = (path.parent / source).read_text(encoding="utf-8")
        for name in (one.strip().split(" as ")[0] for one in names.split(",")):
            pattern = rf"export (?:async )?(?:function|const|let|class) {name}\b"
            assert re.search(pattern, exported), f"{source} has no {name}"
            local = text.split(f'from "{source}"', 1)[1]
            assert re.search(rf"\b{name}\b", local) or text.count(name) > 1, f"{name} is not used"


def test_the_page_holds_no_inline_code_or_style() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"\sstyle=|\son\w+=|<style|javascript:", page) == []
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
    for source in re.findall(r"(?:src|href)=\"/static/([^\"]+)\"", page):
        assert (STATIC / source).is_file()


def test_views_are_listed_in_one_file() -> None:
    table = (STATIC / "js" / "views.js").read_text(encoding="utf-8")
    views = re.findall(r"\bname: \"(\w+)\"", table)
    assert len(views) >= 7
    assert len(set(re.findall(r"\bkey: \"(\w)\"", table))) == len(views)
    for path in ("index.html", "js/main.js", "js/router.js", "js/start.js", "css/layout.css"):
        text = (STATIC / path).read_text(encoding="utf-8")
        # The page opens at the question, which has map and curve beside it on wide screens.
        others = [view for view in views if view not in ("question", "map", "curve")]
        named = [view for view in others if re.search(rf"(?:view-|tab-|#/|\./){view}\b", text)]
        assert named == [], path
