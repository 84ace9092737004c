"""The page in a frame of a notebook's page, as the browser allows it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import kernova.workbench
from tests.web.browser.screens import expect


@pytest.fixture
def notebook(tmp_path):
    """Serve a page of this machine, at another port, that shows the workbench in a frame."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    page = kernova.workbench.open(
        rows, images=rng.random((40, 8, 8)), project=tmp_path / "p", show=False
    )
    assert page.workbench.preparation.wait(120)
    html = f"<!doctype html><title>Notebook</title><h1>Notebook</h1>{page.frame_html()}"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/" else 204)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.path == "/":
                self.wfile.write(html.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", page
    server.shutdown()
    thread.join()
    server.server_close()
    page.close()


def test_rows_are_labelled_in_a_frame(notebook, screen):
    address, page = notebook
    screen.page.goto(address)
    frame = screen.page.frame_locator("iframe")
    expect(frame.get_by_test_id("expert-name")).to_be_visible()
    frame.get_by_test_id("expert-name").fill("Anna")
    screen.press("Enter")
    expect(frame.get_by_test_id("question-id")).to_be_visible()
    screen.picture("notebook-frame")
    expect(frame.locator("body")).to_have_attribute("data-accepts", "yes")
    frame.locator("body").press("n")
    frame.get_by_test_id("name-input").fill("bright")
    screen.press("Enter")
    expect(frame.get_by_test_id("saved")).to_contain_text("Saved")
    assert page.labels()["category"].dropna().tolist() == ["bright"]
