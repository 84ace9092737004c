"""Who is at the workbench: a question goes back when its expert has gone."""

import time
from collections.abc import Callable, Iterable
from typing import Final

LEASE_SECONDS: Final = 15 * 60.0
# A page in a tab behind others may be heard of once a minute only.
_HERE_SECONDS: Final = 150.0


class Presence:
    """When each expert was last heard of; may be asked from any thread.

    Parameters
    ----------
    lease_seconds : float
        How long a question waits for an expert who says nothing.
    clock : callable
        Gives the time in seconds.

    Examples
    --------
    >>> from kernova.studies.workbench.presence import Presence
    >>> now = 0.0
    >>> presence = Presence(900, clock=lambda: now)
    >>> presence.heard_of("Anna")
    >>> now = 901.0
    >>> presence.gone(["Anna"]), presence.is_here("Anna")
    (['Anna'], False)
    """

    def __init__(
        self, lease_seconds: float = LEASE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.lease_seconds = lease_seconds
        self._clock = clock
        self._last: dict[str | None, float] = {}

    def heard_of(self, expert: str | None) -> None:
        """Note a sign of life."""
        self._last[expert] = self._clock()

    @property
    def names(self) -> list[str]:
        """Everyone who was heard of by name, first come first."""
        # A list at once: signs of life come at any moment, also of those who are new.
        return [name for name in list(self._last) if name is not None]

    @property
    def here(self) -> list[str]:
        """Those of them who were heard of a moment ago."""
        return [name for name in self.names if self.is_here(name)]

    def is_here(self, expert: str | None) -> bool:
        """Tell whether someone was heard of a moment ago."""
        return self._silence(expert) <= _HERE_SECONDS

    def gone(self, experts: Iterable[str | None]) -> list[str | None]:
        """Give those whose questions are to go to others."""
        return [one for one in experts if self._silence(one) > self.lease_seconds]

    def _silence(self, expert: str | None) -> float:
        last = self._last.get(expert)
        return float("inf") if last is None else self._clock() - last
