"""Where a discovery stands: categories, curve, advice, and who is there."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from kernova.discover.events import PriorLabels
from kernova.discover.random_baseline import curve_by_lot
from kernova.files import path_in_words
from kernova.progress import Step
from kernova.workbench.shared import BackgroundJob, Desk, Presence

# What lots would have found is worked out again when so many times as long has passed as it took.
_PATIENCE: Final = 20.0
_AHEAD: Final = 50


class Colours:
    """A number for each category that stays the same as long as the category does.

    Examples
    --------
    >>> from kernova.workbench.overview import Colours
    >>> colours = Colours()
    >>> colours.of(["carp", "eel"]), colours.of(["eel", "cod"])
    ([0, 1], [1, 0])
    """

    def __init__(self) -> None:
        self._of: dict[str, int] = {}

    def of(self, names: list[str]) -> list[int]:
        """Give each category's number; a new one takes the lowest that is free."""
        self._of = {name: colour for name, colour in self._of.items() if name in set(names)}
        for name in names:
            if name not in self._of:
                taken = set(self._of.values())
                free = next(place for place in range(len(taken) + 1) if place not in taken)
                self._of[name] = free
        return [self._of[name] for name in names]

    def rename(self, old: str, new: str) -> None:
        """Let a category keep its colour under another name."""
        if old in self._of and new not in self._of:
            self._of[new] = self._of.pop(old)


class Overview:
    """What the page shows beside the question.

    Parameters
    ----------
    desk : Desk
        The session.
    presence : Presence
        Who is there.
    preparation, learning : BackgroundJob
        What is being worked on.
    learning_state : callable
        Gives where learning stands, as plain values.
    media : str
        What rows have: "none", "picture", "sound" or "outline".
    """

    def __init__(
        self,
        desk: Desk,
        presence: Presence,
        preparation: BackgroundJob[Any],
        learning_state: Callable[[], dict[str, Any]],
        media: str,
    ) -> None:
        self._desk = desk
        self._presence = presence
        self._preparation = preparation
        self._learning_state = learning_state
        self._media = media
        self._colours = Colours()
        self._by_lot: list[float] = []
        self._lots_due = 0.0
        self._lots_lock = threading.Lock()
        self._kept: dict[str, Any] = {"version": -1}
        self._here: list[str] = []

    def session(self) -> dict[str, Any]:
        """Say what is asked about, and how."""
        discovery = self._desk.discovery
        with self._desk.lock:
            experts = self._experts()
        return {
            "version": self._desk.version,
            "data": discovery.table.source,
            "rows": self._desk.n_rows,
            "columns": discovery.table.features.shape[1],
            "strategy": discovery.head.strategy,
            "seed": discovery.head.seed,
            "project": path_in_words(discovery.project),
            "media": self._media,
            "preparation": self.preparation(),
            "is_resumed": discovery.is_resumed,
            "notes": discovery.notes,
            "experts": experts,
        }

    def preparation(self) -> dict[str, Any]:
        """Say how far the preparation of the first question is."""
        job = self._preparation
        step = job.step or Step("", 0, 0)
        names = {"none": "preparing", "running": "preparing"}
        return {
            "state": names.get(job.state, job.state),
            "task": step.task,
            "done": step.done,
            "total": step.total,
            "message": job.message,
        }

    def state(self, since: int | None, expert: str | None) -> dict[str, Any]:
        """Give everything that changes; nothing but that if it is as it was at ``since``."""
        if expert is not None:
            self._presence.heard_of(expert)
        self._notice_who_is_here()
        version = self._desk.version
        if since == version:
            return {"version": version, "unchanged": True, "preparation": self.preparation()}
        with self._desk.lock:
            version = self._desk.version
            if self._kept["version"] != version:
                self._kept = {"version": version, "unchanged": False, **self._found()}
            kept, experts = self._kept, self._experts()
        return {
            **kept,
            "preparation": self.preparation(),
            "learn": self._learning_state(),
            "experts": experts,
            "by_lot": self._lots(kept["asked"]),
        }

    def _notice_who_is_here(self) -> None:
        """Let it be something new that somebody came or went, though nobody said anything."""
        here = self._presence.here
        if here != self._here:
            self._here = here
            self._desk.changed()

    def rename(self, old: str, new: str) -> None:
        """Let a category keep its colour."""
        with self._desk.lock:
            self._colours.rename(old, new)

    def _found(self) -> dict[str, Any]:
        session, discovery = self._desk.session, self._desk.discovery
        categories, asked = session.categories_, set(session.asked_)
        colours = self._colours.of(list(categories))
        advice = discovery.advice
        return {
            "rows": self._desk.n_rows,
            "asked": session.n_questions_,
            "skipped": session.n_skipped_,
            "named": session.n_labelled_,
            "curve": session.curve_,
            "known_before": len({session.label_of(row) for row in self._prior_rows()} - {None}),
            "categories": [
                {
                    "name": name,
                    "rows": len(rows),
                    "asked": sum(row in asked for row in rows),
                    "first_row": rows[0],
                    "colour": colour,
                }
                for (name, rows), colour in zip(categories.items(), colours, strict=True)
            ],
            "advice": {
                "known": list(advice.known),
                "guessed": list(advice.guessed),
                "questions_left": advice.questions_left,
            },
            "disagreements": len(session.disagreements_),
        }

    def _experts(self) -> list[dict[str, Any]]:
        counts = self._desk.session.questions_by_expert_
        names = dict.fromkeys(
            [*(name for name in counts if name is not None), *self._presence.names]
        )
        return [
            {
                "name": name,
                "questions": counts.get(name, 0),
                "is_here": self._presence.is_here(name),
            }
            for name in names
        ]

    def _lots(self, n_asked: int) -> list[float]:
        """Give what asking by lot would be expected to have met after 1, 2 ... questions."""
        with self._lots_lock:
            return self._fresh_lots(n_asked)[:n_asked]

    def _fresh_lots(self, n_asked: int) -> list[float]:
        if time.monotonic() < self._lots_due and len(self._by_lot) >= n_asked:
            return self._by_lot
        began = time.monotonic()
        discovery = self._desk.discovery
        with self._desk.lock:
            labels, prior = discovery.session.labels_, self._prior_rows()
        # Further than asked, so that it need not be worked out anew with every answer.
        n_ahead = min(n_asked + _AHEAD, self._desk.n_rows - len(prior))
        curve = curve_by_lot(discovery.encoded, labels, n_ahead, prior_rows=prior)
        self._by_lot = [float(one) for one in curve]
        self._lots_due = time.monotonic() + _PATIENCE * (time.monotonic() - began)
        return self._by_lot

    def _prior_rows(self) -> tuple[int, ...]:
        records = self._desk.session.records_
        first = records[0].event if records else None
        return first.rows if isinstance(first, PriorLabels) else ()
