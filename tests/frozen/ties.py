"""Integers of a hierarchy that rounding decides, since what they are chosen by is equal.

A cluster far from all others has the largest compactness and isolation, 1 each, at several levels,
but for the last digit of their sums. Both rows of a micro-cluster of two rows are equally far from
its centre. Which level, and which row, follows from the order of sums: from the compiled code and
the processor.
"""

import numpy as np

from .storage import flatten

# Sums of compactness and isolation that differ by less are equal.
_TIE = 1e-12
_LARGEST = 2.0
_MOST_LEVELS = 2
_MOST_NODES = 0.02


def without_ties(hierarchies, packed):
    """Give the arrays of hierarchies, with integers of ties as they are in the packed ones.

    Everything else is left for comparison: what is no tie, too many nodes, levels too far apart.
    """
    flat = flatten(hierarchies)
    for name in hierarchies:
        nodes = f"{name}/nodes/"
        if f"{nodes}parent" not in packed or len(flat[f"{nodes}parent"]) != len(
            packed[f"{nodes}parent"]
        ):
            continue  # big tables are compared by their hash
        for column, tied in (("ci_level", _tied_levels), ("representative", _tied_rows)):
            now, then = (one[f"{nodes}{column}"] for one in (flat, packed))
            is_tied = (now != then) & tied(flat, packed, name)
            flat[f"{nodes}{column}"] = np.where(is_tied, then, now)
    return flat


def _tied_levels(flat, packed, name):
    """Tell which nodes may have another best level: few, near, and with the largest sum."""
    nodes = f"{name}/nodes/"
    apart = np.abs(flat[f"{nodes}ci_level"] - packed[f"{nodes}ci_level"])
    is_tied = (apart > 0) & (apart <= _MOST_LEVELS)
    for one in (flat, packed):
        is_tied &= one[f"{nodes}compactness_isolation"] >= _LARGEST - _TIE
    return is_tied & (is_tied.mean() <= _MOST_NODES)


def _tied_rows(flat, packed, name):
    """Tell which nodes are represented by either row of the same micro-cluster of two rows."""
    nodes = {key: packed[f"{name}/nodes/{key}"] for key in ("parent", "born", "size")}
    rows = np.arange(len(packed[f"{name}/labels"]))
    cluster = nodes["parent"][rows]
    # Only micro-clusters are born at level 0, where other clusters are single rows.
    is_pair = (cluster >= len(rows)) & (nodes["born"][cluster] == 0) & (nodes["size"][cluster] == 2)
    alike = np.where(is_pair, cluster, rows)
    now, then = (one[f"{name}/nodes/representative"] for one in (flat, packed))
    return alike[now] == alike[then]
