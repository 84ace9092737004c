"""Strategy: novel rows and unmet groups of rows take turns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached
from kernova.discover.questions import Need
from kernova.discover.strategies.novelty_groups.asker import NoveltyGroupsAsker
from kernova.discover.strategies.novelty_groups.groups import group_tree
from kernova.discover.strategies.spacing import BULK_NEIGHBOR, spacing_from

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation


@dataclass
class NoveltyGroupsStrategy:
    """Ask novel rows and unmet groups of rows in turns, those first that no category explains.

    An undiscovered category lies apart from all rows labelled so far, or it is a group of rows that
    lie closer together than the rows around them, inside a common category. Each kind has its
    turns, more of them the more it finds. Of both, rows that the classifier of the answers
    is undecided about come first. Nothing is told: neither the number of categories nor sizes.

    Parameters
    ----------
    standardize : {"sphere", "half-sphere", "zscore", "none"}
        How rows are standardised.

    Notes
    -----
    With the novelty v of a row (:class:`~kernova.discover.strategies.novelty.RowNovelty`), its
    spacing r, and the margin m between its two likeliest categories
    (:class:`~kernova.discover.strategies.novelty_groups.margins.Margins`), the next novel row has
    the largest v r^(1/2) (1.1 - m). The next group has the largest (1 + b) (1.1 - m), where b are
    the bits of surprise at finding it (:func:`~.groups.group_tree`), and m is the margin of the row
    that is asked, its densest. Where all groups are met, the row with the largest
    v r^(-2/3) (1.1 - m) is asked instead.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.preparation import Preparation
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty_groups import NoveltyGroupsStrategy
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0]])
    >>> asker = NoveltyGroupsStrategy().start(Preparation(X))
    >>> asker.propose().row
    1
    >>> asker.observe(Answer(1, "common"))
    >>> asker.propose().row
    4
    """

    standardize: Standardization = "half-sphere"
    name: str = "novelty-groups"
    needs: ClassVar[tuple[Need, ...]] = ("rows", "neighbors")

    def start(self, preparation: "Preparation") -> NoveltyGroupsAsker:
        """Return a fresh asker; neighbours, spacings and groups are computed once."""
        Z = preparation.rows(self.standardize)
        graph = preparation.neighbors(self.standardize, BULK_NEIGHBOR)
        spacing = cached(preparation, ("spacing", self.standardize), lambda: spacing_from(Z, graph))
        tree = cached(preparation, ("groups", self.standardize), lambda: group_tree(graph))
        return NoveltyGroupsAsker(preparation, spacing, graph.inverse, graph.firsts, tree)
