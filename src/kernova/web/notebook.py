"""The page of a workbench opened from a program: in a frame of a notebook, or by a link.

``kernova.workbench.open`` is :func:`open_page`. The server runs in a thread of the program and
listens to this machine alone; its page may be shown in frames of pages of this machine, such as
Jupyter's, and of no others.
"""

import atexit
import sys
import threading
from collections.abc import Iterable, Mapping
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from kernova.discover.names import is_missing_label
from kernova.discover.notebook_view import summary_html
from kernova.errors import InputError, quoted
from kernova.media.given import GivenPictures
from kernova.media.row_media import RowMedia
from kernova.tables.identity import table_fingerprint
from kernova.tables.table import Table, read_table
from kernova.web.login import LINK_MINUTES
from kernova.web.serve import Endpoint, bind_endpoint, new_server
from kernova.workbench.discovery import open_discovery
from kernova.workbench.workbench import Workbench

_SOURCE: Final = "the table of this program"
_LOOPBACK: Final = ("http://localhost:*", "http://127.0.0.1:*")
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 10.0
# A link works once, so that the frame is given its address when its host is known.
_FRAME_SCRIPT: Final = (
    '{const frame = document.getElementById("NAME"), host = location.hostname;'
    'if (["localhost", "127.0.0.1"].includes(host)) '
    'frame.src = "LINK".replace("HOST", host); else frame.remove();}'
)
_opened: dict[Path, "WorkbenchPage"] = {}


class WorkbenchPage:
    """A workbench that is served to a browser; close it, or use it as a context manager.

    Parameters
    ----------
    workbench : Workbench
        The workbench.
    endpoint : Endpoint
        Where it is served.
    index : Index
        The index of the table, for :meth:`labels`.
    """

    def __init__(
        self,
        workbench: Workbench,
        endpoint: Endpoint,
        index: "pd.Index[Any]",
    ) -> None:
        self.workbench = workbench
        self._endpoint = endpoint
        self._index = index
        self._is_closed = False
        ready = threading.Event()
        self._server = new_server(
            workbench, endpoint, on_ready=ready.set, frame_ancestors=_LOOPBACK
        )
        self._thread = threading.Thread(target=self._server.run, name="kernova-page", daemon=True)
        self._thread.start()
        if not ready.wait(_START_SECONDS):
            self.close()
            raise InputError("The page did not start within a minute. Open it again.")
        workbench.prepare()
        atexit.register(self.close)

    @property
    def address(self) -> str:
        """URL of the page, without a login."""
        return self._endpoint.address

    @property
    def project(self) -> Path:
        """The file that stores the labels."""
        return self.workbench.discovery.project

    def link(self) -> str:
        """Return a new link to the page, which works once, within 15 minutes."""
        return self._endpoint.new_link()

    def labels(self) -> pd.DataFrame:
        """Return the labels so far, one line for each row of the table, with its index."""
        return self.workbench.exports.labels().set_axis(self._index, axis="index")

    def close(self) -> None:
        """Stop the server and close the project; every answer is on disk already."""
        if self._is_closed:
            return
        self._is_closed = True
        atexit.unregister(self.close)
        if _opened.get(self.project.absolute()) is self:
            del _opened[self.project.absolute()]
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS)
        self._endpoint.listener.close()
        self.workbench.close()

    def frame_html(self, height: int = 800) -> str:
        """Return a frame for a notebook, with a link below it.

        Browsers send the page's cookie only to a frame of the same site, so that the frame is
        opened under the name of this machine in the notebook's own address. Where that is another
        machine, there is no frame.
        """
        name = f"kernova-{self._endpoint.port}"
        link = self.link().replace("//127.0.0.1:", "//HOST:")
        script = _FRAME_SCRIPT.replace("NAME", name).replace("LINK", link)
        return (
            f'<iframe id="{name}" title="kernova workbench" width="100%" '
            f'height="{int(height)}" style="border:1px solid currentColor"></iframe>'
            f"<script>{script}</script><p>{self._link_words_html()}</p>"
        )

    def _link_words_html(self) -> str:
        link = escape(self.link())
        return (
            f'If nothing is shown above, <a href="{link}" target="_blank" rel="noopener">open the '
            f"workbench in a tab</a>: the link works once, within {LINK_MINUTES} minutes."
        )

    def _repr_html_(self) -> str:
        if self._is_closed:
            return summary_html("kernova workbench", ["It is closed."])
        state = self.workbench.discovery.summary
        return summary_html("kernova workbench", [state, f"Labels are saved in {self.project}."])

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else self.address
        return f"<kernova workbench, {state}, {self.project}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_page(
    X: Any,
    images: Iterable[Any] | None = None,
    ids: Iterable[Any] | None = None,
    labels: Mapping[Any, object] | Iterable[object] | None = None,
    project: str | Path | None = None,
    *,
    strategy: str | None = None,
    seed: int | None = None,
    height: int = 800,
    show: bool = True,
) -> WorkbenchPage:
    """Open the page of a workbench over a table in memory, from a notebook or a script.

    In a Jupyter notebook the page is shown in a frame below the cell, elsewhere a link is printed.
    Running the same cell again continues with the labels so far.

    Parameters
    ----------
    X : DataFrame or array of shape (n_rows, n_columns)
        The rows. Texts are categories, and missing values are filled.
    images : iterable, optional
        A picture for each row: arrays of shape (height, width) or (height, width, 3), images of
        PIL, or paths; or one array with a first axis for the rows. None for a row without one.
    ids : iterable, optional
        Distinct ids of the rows; by default the index of a DataFrame, or row numbers from 0.
    labels : mapping or iterable, optional
        Labels that are known: by id, or one for each row, None where there is none.
    project : str or path, optional
        File that stores the labels; an existing one is continued. By default a file in the working
        folder, whose name is made from the contents of the table.
    strategy : str, optional
        How questions are chosen; by default the one of the project, or the default strategy.
    seed : int, optional
        Seed of strategies that use random numbers.
    height : int, default=800
        Height of the frame in pixels.
    show : bool, default=True
        Whether to show the page, or the link to it.

    Returns
    -------
    WorkbenchPage
        Its ``labels()`` returns the labels as a DataFrame, and ``close()`` stops the server.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import kernova.workbench
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dots.kernova-project"
    >>> X = np.array([[0.0, 0.1], [0.1, 0.0], [9.0, 9.0]])
    >>> page = kernova.workbench.open(X, ids="abc", labels={"a": "low"}, project=path, show=False)
    >>> with page:
    ...     page.labels()["category"].tolist()
    ['low', <NA>, <NA>]
    """
    table, index = _table(X, ids, labels)
    media = RowMedia(table.ids.tolist()) if images is None else _pictures(table, images)
    path = Path(project) if project is not None else _default_project(table)
    earlier = _opened.get(path.absolute())
    if earlier is not None:
        earlier.close()  # the cell was run again
    discovery = open_discovery(
        table, path, strategy=strategy, seed=seed, missing="fill", notes=table.notes
    )
    page = WorkbenchPage(Workbench(discovery, media), bind_endpoint(port=0), index)
    _opened[path.absolute()] = page
    if show:
        _show(page, height)
    return page


# --- the table -------------------------------------------------------------------------------


def _table(X: Any, ids: Iterable[Any] | None, labels: Any) -> "tuple[Table, pd.Index[Any]]":
    """Return the table of what a program gave, and the index of its rows."""
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    frame = frame.rename(columns=str)
    read = read_table(frame.reset_index(drop=True), missing="keep")
    names = [str(one) for one in (frame.index if ids is None else ids)]
    if len(names) != len(frame):
        raise InputError(
            f"There are {len(names)} ids for {len(frame)} rows; give one for each row."
        )
    of_rows = pd.Series(names, name="id", dtype=object)
    known = None if labels is None else _labels(labels, names)
    table = Table(
        read.features, of_rows, known, _SOURCE, columns=read.columns, notes=read.notes,
        readings=read.readings,
    )  # fmt: skip
    return table, frame.index


def _labels(labels: Any, ids: list[str]) -> "pd.Series[Any]":
    if isinstance(labels, Mapping):
        by_id = {str(one): label for one, label in labels.items()}
        unknown = [one for one in by_id if one not in set(ids)]
        if unknown:
            raise InputError(f"labels has {quoted(unknown[0])}, which is not the id of any row.")
        given = [by_id.get(one) for one in ids]
    else:
        given = list(labels)
        if len(given) != len(ids):
            raise InputError(
                f"There are {len(given)} labels for {len(ids)} rows; give one for each row, None "
                "where there is none, or a mapping of ids to labels."
            )
    plain = [None if is_missing_label(one) else one for one in given]
    return pd.Series(plain, name="label", dtype=object)


def _pictures(table: Table, images: Iterable[Any]) -> GivenPictures:
    return GivenPictures(table.ids.tolist(), images)


def _default_project(table: Table) -> Path:
    fingerprint = table_fingerprint(table.features, table.ids.tolist())
    return Path(f"labels-{fingerprint[:8]}.kernova-project")


# --- showing ---------------------------------------------------------------------------------


def _show(page: WorkbenchPage, height: int) -> None:
    """Show the page in a frame of a notebook, or print a link to it."""
    if _is_notebook():
        display: Any = import_module("IPython.display")
        display.display(display.HTML(page.frame_html(height)))
        return
    print(
        f"Open {page.link()} in a browser: the link works once, within {LINK_MINUTES} minutes. "
        f"Labels are saved in {page.project}.",
        flush=True,
    )


def _is_notebook() -> bool:
    """Return whether this is the kernel of a notebook, which can show HTML."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
