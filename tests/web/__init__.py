"""The page and its interface; every module here is skipped, with a reason, without its extra."""

import pytest

for _needed in ("fastapi", "uvicorn"):
    pytest.importorskip(_needed, reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")
