"""The map of all rows: at once by their axes, then by their neighbours, coloured by category."""

from typing import Any, Final

import numpy as np

from kernova.studies.discovery_map import RowMap, axes_map, neighbours_map
from kernova.studies.workbench.background import BackgroundJob
from kernova.studies.workbench.desk import Desk

SKIPPED: Final = 65535  # how a row that was passed over is coloured


class MapOfRows:
    """Places and colours of all rows.

    Parameters
    ----------
    desk : Desk
        The session.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._axes: RowMap | None = None
        self._better: BackgroundJob[RowMap | None] = BackgroundJob(desk.changed)

    def prepare(self, after: BackgroundJob[Any]) -> None:
        """Draw the better map in the background, when what is more urgent is done."""

        def work() -> RowMap | None:
            after.wait()
            return neighbours_map(self._desk.discovery.encoded)

        self._better.start(work)

    def description(self) -> dict[str, Any]:
        """Say what the map shows, and whether a better one is being drawn."""
        shown = self._shown()
        step = self._better.step
        return {
            "kind": shown.kind,
            "words": shown.words,
            "rows": len(shown.points),
            "version": self._desk.version,
            "better": {
                "state": self._better_state(),
                "done": 0 if step is None else step.done,
                "total": 0 if step is None else step.total,
            },
        }

    def points(self, kind: str | None = None) -> bytes:
        """Give x and y of each row, as 32-bit floats, the lowest byte first."""
        shown = self._axes_map() if kind == "axes" else self._shown()
        return np.ascontiguousarray(shown.points, dtype="<f4").tobytes()

    def labels(self) -> tuple[bytes, int]:
        """Give each row's category: 0 none, else 1 and its place; and the version that holds."""
        with self._desk.lock:
            session, version = self._desk.session, self._desk.version
            codes = np.zeros(self._desk.n_rows, dtype="<u2")
            codes[session.asked_] = SKIPPED
            for place, rows in enumerate(session.categories_.values(), start=1):
                codes[list(rows)] = min(place, SKIPPED - 1)
        return codes.tobytes(), version

    def _axes_map(self) -> RowMap:
        if self._axes is None:
            self._axes = axes_map(self._desk.discovery.encoded)
        return self._axes

    def _shown(self) -> RowMap:
        return self._better.result or self._axes_map()

    def _better_state(self) -> str:
        if self._better.state == "ready" and self._better.result is None:
            return "none"  # too many rows for a better one
        return self._better.state
