"""What tests leave alone where an extra is not installed: examples in modules that import it."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("fastapi") and find_spec("uvicorn") else ["src/kernova/web/*"]
