"""Fuzzing: the server conforms to its OpenAPI description."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.running import TOKEN, workbench

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
)


@pytest.mark.soak
def test_replies_conform_to_the_description(tmp_path, long_bar):
    if importlib.util.find_spec("schemathesis") is None:
        pytest.skip("schemathesis is not installed")
    with workbench(tmp_path, "--demo") as server:
        command = [
            *(Path(sys.executable).with_name("schemathesis"), "run"),
            f"{server.address}api/openapi.json",
            *("--header", f"Authorization: Bearer {TOKEN}"),
            *("--checks", ",".join(CHECKS)),
            # The coverage phase has no limit on requests; fuzzing samples randomly.
            *("--phases", "coverage,fuzzing" if long_bar(10) > 1 else "fuzzing"),
            *("--max-examples", str(long_bar(80))),
            *("--seed", "1", "--no-shrink", "--suppress-health-check", "all", "--no-color"),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=1800
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert server.get("api/session")["preparation"]["state"] == "ready"
    sent = int(re.search(r"(\d+) generated", done.stdout)[1])
    print(f"\nfuzzing: {sent} requests, seed 1")
    assert sent >= long_bar(2000)
