"""FastAPI application of the workbench.

Access control (:mod:`kernova.web.access`) comes first. Then a request is validated
(:mod:`kernova.web.schemas`), routed (:mod:`kernova.web.routes`) and executed by
:mod:`kernova.workbench`, whose reply is returned as JSON.
"""

import mimetypes
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

from kernova._version import __version__
from kernova.web.access import Access, Hosts, add_error_handlers
from kernova.web.login import Key, Throttle
from kernova.web.routes import all_routes
from kernova.workbench import Workbench

STATIC: Final = Path(__file__).parent / "static"
# Some systems register .js as text/plain, and browsers then refuse to run it.
_KINDS: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_DESCRIPTION: Final = (
    "Everything that the page does can be scripted. Send the token that kernova was started with "
    "as `Authorization: Bearer TOKEN`. Rows are given by their index in the table, counted from 0. "
    "All errors have the same JSON form."
)


def create_app(
    workbench: Workbench, key: Key, hosts: Hosts | None = None, throttle: Throttle | None = None
) -> FastAPI:
    """Return the application for a workbench.

    Parameters
    ----------
    workbench : Workbench
        The workbench to serve.
    key : Key
        The accepted credentials.
    hosts : Hosts, optional
        Allowed values of the Host header; by default, the loopback names.
    throttle : Throttle, optional
        Delays after wrong tokens; by default there are none.

    Returns
    -------
    FastAPI
        The application; its description is at ``/api/openapi.json``.
    """
    app = FastAPI(
        title="kernova workbench",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # it would load scripts from another site
        redoc_url=None,
        redirect_slashes=False,
    )
    add_error_handlers(app)
    for router in all_routes(workbench):
        app.include_router(router, prefix="/api")
    for ending, kind in _KINDS.items():
        mimetypes.add_type(kind, ending)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    _describe_access(app)
    app.add_middleware(Access, key=key, hosts=hosts or Hosts(), throttle=throttle)
    return app


def _describe_access(app: FastAPI) -> None:
    """Add the token to the OpenAPI description."""
    made = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = made()
            schema.setdefault("components", {})["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"}
            }
            schema["security"] = [{"token": []}]
        return made()

    app.openapi = described  # type: ignore[method-assign]
