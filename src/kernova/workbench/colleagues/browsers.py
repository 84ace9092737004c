"""Names of experts and their browsers, so that two people do not share a name unnoticed."""

import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Final, Literal

_IN_USE_SECONDS: Final = 150.0  # as long as an expert counts as present
_MOST_KEPT: Final = 2000


@dataclass(frozen=True)
class Doubt:
    """Reason why a name may be the wrong one; the expert decides."""

    kind: Annotated[
        Literal["taken", "alike", "invited"],
        "In use in another browser now, almost the same as another name, or of an invited expert.",
    ]
    words: Annotated[str, "The sentence for people."]
    names: Annotated[list[str], "The names that may be meant."]


def plain_name(name: str) -> str:
    """Return a name without what is easily typed differently: capitals, accents, spaces, dots.

    Examples
    --------
    >>> from kernova.workbench.colleagues.browsers import plain_name
    >>> plain_name("Zoë  B."), plain_name("zoeb")
    ('zoeb', 'zoeb')
    """
    letters = unicodedata.normalize("NFKD", name).casefold()
    shown = "".join(one for one in letters if unicodedata.category(one)[0] in "LNS")
    return shown or name


def names_alike(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that look like a new one; none if exactly this name is known.

    Examples
    --------
    >>> from kernova.workbench.colleagues.browsers import names_alike
    >>> names_alike("anna", ["Anna", "Änna", "Hannah"]), names_alike("Anna", ["Anna", "anna"])
    (['Anna', 'Änna'], [])
    """
    others = list(dict.fromkeys(known))
    if name in others:
        return []
    wanted = plain_name(name)
    return [one for one in others if plain_name(one) == wanted]


class Browsers:
    """Browsers by the name of the expert who works in them; safe to use from any thread.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> from kernova.workbench.colleagues.browsers import Browsers
    >>> browsers = Browsers(lambda: 0.0)
    >>> browsers.mark("Anna", "first")
    >>> browsers.is_used_elsewhere("Anna", "first"), browsers.is_used_elsewhere("Anna", "second")
    (False, True)
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}  # by name and browser

    def mark(self, expert: str | None, browser: str | None) -> None:
        """Record that an expert works in a browser now; scripts are none."""
        if expert is None or browser is None:
            return
        self._last.pop((expert, browser), None)  # the latest last
        self._last[expert, browser] = self._clock()
        while len(self._last) > _MOST_KEPT:
            self._last.pop(next(iter(self._last)), None)

    def is_used_elsewhere(self, expert: str, browser: str | None) -> bool:
        """Return whether a name is in use now in another browser than this one."""
        return any(other != browser for other in self._browsers_of(expert))

    def n_browsers(self, expert: str) -> int:
        """Return in how many browsers a name is in use now."""
        return len(self._browsers_of(expert))

    def is_known(self, expert: str, browser: str | None) -> bool:
        """Return whether a name was used in this browser before."""
        return browser is not None and (expert, browser) in self._last

    def experts_in(self, browser: str | None) -> set[str]:
        """Return the names that were used in a browser."""
        return {expert for expert, one in list(self._last) if one == browser}

    def _browsers_of(self, expert: str) -> list[str]:
        now = self._clock()
        # Copied: other threads mark browsers meanwhile.
        return [
            browser
            for (name, browser), last in list(self._last.items())
            if name == expert and now - last <= _IN_USE_SECONDS
        ]

    def doubt(
        self,
        expert: str,
        browser: str | None,
        known: Iterable[str],
        invited: Collection[str] = (),
    ) -> Doubt | None:
        """Return why a name may be the wrong one in a browser; None where it is fine.

        Parameters
        ----------
        expert : str
            The name.
        browser : str or None
            The browser; None for a script, which is not questioned.
        known : iterable of str
            All names that were used on the project.
        invited : collection of str
            Names of invited experts, who log in by a link.
        """
        if browser is None or self.is_known(expert, browser):
            return None
        if expert in invited:
            return Doubt(
                "invited",
                f"{expert} was invited, and logs in by a link of their own. Open that link, or "
                "choose another name.",
                [],
            )
        if self.is_used_elsewhere(expert, browser):
            return Doubt(
                "taken",
                f"{expert} is working here from another browser. Are you the same person?",
                [expert],
            )
        alike = names_alike(expert, [*known, *invited])
        if alike:
            return Doubt(
                "alike",
                f"There is already an expert with almost the same name: {', '.join(alike)}. Are "
                "you the same person?",
                alike,
            )
        return None
