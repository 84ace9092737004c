"""Ways of choosing questions, by name.

========================  ==========================================================================
``hms-ci``                compact and isolated clusters of the hierarchy first (HMS-CI)
``hms-ci-had``            the same; ties go to the cluster farthest from what was asked (HAD)
``hms-out``               small clusters that live long in the hierarchy first (HMS-Out)
``hms-out-had``           the same, with HAD
``strangers-and-crowds``  far from what was named: sparse rows, now and then dense ones; default
``nndm``                  where the number of near rows falls off (He and Carbonell 2007)
``interleave``            each component of a mixture about the row it owns least (Pelleg, Moore)
``ms-interleave``         the same with mean shift at one bandwidth instead of a mixture
``random``                by lot
========================  ==========================================================================
"""

from collections.abc import Callable
from typing import Final

from kernova.discover.questions import Strategy
from kernova.discover.strategies.hierarchical import HierarchyOrder
from kernova.discover.strategies.interleave import Interleave
from kernova.discover.strategies.mean_shift_interleave import MeanShiftInterleave
from kernova.discover.strategies.nndm import DensityJumps
from kernova.discover.strategies.novelty_density import StrangersAndCrowds
from kernova.discover.strategies.random import RandomOrder
from kernova.errors import InputError

_MAKERS: Final[dict[str, Callable[[], Strategy]]] = {
    "hms-ci": lambda: HierarchyOrder("compactness_isolation"),
    "hms-ci-had": lambda: HierarchyOrder("compactness_isolation", farthest=True),
    "hms-out": lambda: HierarchyOrder("outlierness"),
    "hms-out-had": lambda: HierarchyOrder("outlierness", farthest=True),
    "strangers-and-crowds": StrangersAndCrowds,
    "nndm": DensityJumps,
    "interleave": Interleave,
    "ms-interleave": MeanShiftInterleave,
    "random": RandomOrder,
}

STRATEGIES: Final = tuple(_MAKERS)
DEFAULT_STRATEGY: Final = "strangers-and-crowds"


def strategy_named(name: str) -> Strategy:
    """Return a strategy by its name, with its usual settings.

    Examples
    --------
    >>> from kernova.discover.strategies import strategy_named
    >>> strategy_named("hms-ci-had").name
    'hms-ci-had'
    """
    if name not in _MAKERS:
        raise InputError(
            f"There is no strategy named {name!r}. Take one of {', '.join(STRATEGIES)}."
        )
    return _MAKERS[name]()
