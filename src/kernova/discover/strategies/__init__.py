"""Question strategies: ways of choosing the next row, by name.

===================  ===============================================================================
``hms-ci``           compact and isolated clusters of the hierarchy first (HMS-CI)
``hms-ci-had``       the same; ties go to the cluster farthest from the rows asked so far (HAD)
``hms-out``          small clusters that persist over many bandwidths first (HMS-Out)
``hms-out-had``      the same, with HAD
``novelty-groups``   novel rows and unmet groups of rows in turns; the default
``novelty-density``  far from labelled rows: in sparse regions, at times in dense ones
``nndm``             where the number of near rows drops (He and Carbonell 2007)
``interleave``       each component of a mixture proposes its least likely row (Pelleg and Moore)
``ms-interleave``    the same with mean shift at one bandwidth instead of a mixture
``random``           random sampling
===================  ===============================================================================

To add a strategy, write its module in this package and add a line to ``_MAKERS``.
"""

from collections.abc import Callable
from typing import Final

from kernova.discover.questions import Strategy
from kernova.discover.strategies.hierarchical import HierarchyOrder
from kernova.discover.strategies.interleave import Interleave
from kernova.discover.strategies.mean_shift_interleave import MeanShiftInterleave
from kernova.discover.strategies.nndm import DensityJumps
from kernova.discover.strategies.novelty_density import NoveltyDensityStrategy
from kernova.discover.strategies.novelty_groups import NoveltyGroupsStrategy
from kernova.discover.strategies.random import RandomOrder
from kernova.errors import InputError, quoted

_MAKERS: Final[dict[str, Callable[[], Strategy]]] = {
    "hms-ci": lambda: HierarchyOrder("compactness_isolation"),
    "hms-ci-had": lambda: HierarchyOrder("compactness_isolation", farthest=True),
    "hms-out": lambda: HierarchyOrder("outlierness"),
    "hms-out-had": lambda: HierarchyOrder("outlierness", farthest=True),
    "novelty-groups": NoveltyGroupsStrategy,
    "novelty-density": NoveltyDensityStrategy,
    "nndm": DensityJumps,
    "interleave": Interleave,
    "ms-interleave": MeanShiftInterleave,
    "random": RandomOrder,
}
# Names in projects and scripts of earlier versions, which stay valid.
_FORMER_NAMES: Final = {"strangers-and-crowds": "novelty-density"}

STRATEGIES: Final = tuple(_MAKERS)
DEFAULT_STRATEGY: Final = "novelty-groups"


def current_name(name: str) -> str:
    """Return the present name of a strategy, given that one or a former one.

    Examples
    --------
    >>> from kernova.discover.strategies import current_name
    >>> [current_name(name) for name in ("strangers-and-crowds", "random")]
    ['novelty-density', 'random']
    """
    return _FORMER_NAMES.get(name, name)


def strategy_named(name: str) -> Strategy:
    """Return a strategy by its name, with default settings.

    Examples
    --------
    >>> from kernova.discover.strategies import strategy_named
    >>> strategy_named("hms-ci-had").name
    'hms-ci-had'
    """
    maker = _MAKERS.get(current_name(name))
    if maker is None:
        raise InputError(
            f"There is no strategy named {quoted(name)}. Use one of {', '.join(STRATEGIES)}."
        )
    return maker()


def as_strategy(strategy: str | Strategy | None) -> Strategy:
    """Return a strategy given as an object or by name; None gives the default."""
    if strategy is None or isinstance(strategy, str):
        return strategy_named(DEFAULT_STRATEGY if strategy is None else strategy)
    return strategy
