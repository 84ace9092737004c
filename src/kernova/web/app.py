"""The app: every address, what it takes and what it gives.

A request is read (:mod:`kernova.web.schemas`), the workbench does it
(:mod:`kernova.workbench`), and what comes of it is written
(:mod:`kernova.web.schemas`). Before all that stands the gate (:mod:`kernova.web.access`).
"""

import mimetypes
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

from kernova._version import __version__
from kernova.web.access import Access, Hosts, Key
from kernova.web.errors import tell_faults
from kernova.web.routes import asking_routes, file_routes, looking_routes
from kernova.workbench import Workbench

STATIC: Final = Path(__file__).parent / "static"
# Some systems take scripts for plain text, and browsers then run none of them.
_KINDS: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_DESCRIPTION: Final = (
    "Everything that the page does can be scripted. Send the token that kernova printed as "
    "`Authorization: Bearer TOKEN`. Rows go by their place in the table, counted from 0. Whatever "
    "goes wrong is told in one shape."
)


def create_app(
    workbench: Workbench, token: str, hosts: Hosts | None = None, port: int = 0
) -> FastAPI:
    """Make the app for a workbench.

    Parameters
    ----------
    workbench : Workbench
        What is worked on.
    token : str
        What must be known to speak to the app.
    hosts : Hosts, optional
        Names by which it may be addressed; by default, those of this machine for itself.
    port : int
        Where it will listen; the cookie's name holds it.

    Returns
    -------
    FastAPI
        The app; its description is at ``/api/openapi.json``.
    """
    app = FastAPI(
        title="kernova workbench",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    tell_faults(app)
    for router in (asking_routes(workbench), looking_routes(workbench), file_routes(workbench)):
        app.include_router(router, prefix="/api")
    for ending, kind in _KINDS.items():
        mimetypes.add_type(kind, ending)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    describe_access(app)
    app.add_middleware(Access, key=Key(token, port), hosts=hosts or Hosts())
    return app


def describe_access(app: FastAPI) -> None:
    """Say in the app's description how the token is sent."""
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
