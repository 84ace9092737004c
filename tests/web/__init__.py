"""Tests of the server and the page; skipped if the extra `web` is not installed."""

import pytest

for _needed in ("fastapi", "uvicorn"):
    pytest.importorskip(_needed, reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")
