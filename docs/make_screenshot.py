"""Screenshot of the workbench for the guide: ``python docs/make_screenshot.py``.

It needs Playwright and an installed Chromium; :mod:`make_pictures` draws the other figures.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

from kernova.media.opening import rare_digits

PICTURES = Path(__file__).parent / "pictures"
EXPERT = "Ada"
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
N_ANSWERS = 40


def main() -> None:
    """Answer some questions of the demo by its true labels, and save a screenshot."""
    command = [sys.executable, "-m", "kernova", "discover", "--demo", "--no-browser", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [*command, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        try:
            page = json.loads(server.stdout.readline())
            answer_questions(page)
            save_screenshot(page["url"], PICTURES / "workbench.png")
        finally:
            server.terminate()
            server.communicate()


def answer_questions(page: dict[str, str]) -> None:
    """Label rows by their true digits."""
    digits = rare_digits().set_index("id")["digit"]

    def send(path: str, **body: object) -> dict[str, object]:
        request = urllib.request.Request(page["address"] + path, json.dumps(body).encode())
        request.add_header("Authorization", f"Bearer {page['token']}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request) as reply:
            content: dict[str, object] = json.load(reply)
            return content

    question = None
    while question is None:
        try:
            question = send("api/question", expert=EXPERT)["question"]
        except urllib.error.HTTPError as error:
            if error.code != 409:  # still preparing
                raise
    for _ in range(N_ANSWERS):
        label = WORDS[digits[question["id"]]]
        saved = send("api/answers", expert=EXPERT, row=question["row"], label=label)
        question = saved["question"]


def save_screenshot(url: str, picture: Path) -> None:
    """Open the page in a headless browser and save a screenshot."""
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(f"sessionStorage.setItem('kernova.expert', {json.dumps(EXPERT)})")
        page.goto(url)
        page.wait_for_selector("body[data-state='asking']", timeout=60_000)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
