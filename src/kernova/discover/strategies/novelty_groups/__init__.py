"""Novelty-groups strategy: novel rows and unmet groups of rows take turns; the default."""

from kernova.discover.strategies.novelty_groups.asker import NoveltyGroupsAsker
from kernova.discover.strategies.novelty_groups.strategy import NoveltyGroupsStrategy

__all__ = ["NoveltyGroupsAsker", "NoveltyGroupsStrategy"]
