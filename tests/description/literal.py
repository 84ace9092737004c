"""Slow, literal versions of possibilistic neighbours and of one round of a map."""

import math

import numpy as np


def keller_memberships(prototypes, owners, rows, codes, n_neighbors):
    """u_c = .51 [own class] + .49 n_c / K over the K rows nearest to a prototype."""
    memberships = []
    for prototype, owner in zip(prototypes, owners, strict=True):
        by_distance = sorted(range(len(rows)), key=lambda i: math.dist(prototype, rows[i]))
        near = by_distance[:n_neighbors]
        memberships.append(
            [
                0.51 * (owner == c) + 0.49 * sum(codes[i] == c for i in near) / len(near)
                for c in range(max(codes) + 1)
            ]
        )
    return np.array(memberships)


def typical_distance(rows, codes, prototypes, owners):
    """eta1, eta2: mean and deviation of the distance to the closest prototype of the own class."""
    closest = [
        min(math.dist(row, p) for p, owner in zip(prototypes, owners, strict=True) if owner == code)
        for row, code in zip(rows, codes, strict=True)
    ]
    mean = sum(closest) / len(closest)
    return mean, math.sqrt(sum((d - mean) ** 2 for d in closest) / len(closest))


def possibilities(x, prototypes, memberships, eta1, eta2, n_neighbors):
    """The mean over the K nearest prototypes of u_c exp(-max(0, distance - eta1) / eta2)."""
    near = sorted(range(len(prototypes)), key=lambda p: math.dist(x, prototypes[p]))[:n_neighbors]
    total = np.zeros(memberships.shape[1])
    for p in near:
        weight = math.exp(-max(0.0, math.dist(x, prototypes[p]) - eta1) / eta2)
        total += weight * memberships[p]
    return total / len(near)


def batch_map_round(rows, prototypes, nodes, radius):
    """One round of a batch self-organizing map: weighted means around each row's winner."""
    winners = [min(range(len(prototypes)), key=lambda p: math.dist(row, prototypes[p]))
               for row in rows]  # fmt: skip
    moved = []
    for node in nodes:
        weights = [
            math.exp(-(math.dist(node, nodes[winner]) ** 2) / (2 * radius**2)) for winner in winners
        ]
        total = sum(weight * row for weight, row in zip(weights, rows, strict=True))
        moved.append(total / sum(weights))
    return np.array(moved)
