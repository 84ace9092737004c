"""Mean shift and its hierarchy, literally."""

import numpy as np


def mean_shift_climb(y, Z, weights, h, tol):
    """Where one point ends when it climbs, and how long its path was."""
    path = 0.0
    for _ in range(1000):
        squared = ((Z - y) ** 2).sum(axis=1)
        w = weights * np.exp(-(squared - squared.min()) / (2 * h * h))
        step = w @ Z / w.sum() - y
        y = y + step
        path += np.sqrt(step @ step)
        if np.sqrt(step @ step) <= tol * h:
            break
    return y, path


def connected(points, radius):
    """Lists of points linked by hops of at most the radius, each sorted, by smallest member."""
    groups = []
    left = set(range(len(points)))
    while left:
        group, fresh = set(), {min(left)}
        while fresh:
            group |= fresh
            fresh = {
                j
                for j in left - group
                if any(np.sqrt(((points[i] - points[j]) ** 2).sum()) <= radius for i in fresh)
            }
        left -= group
        groups.append(sorted(group))
    return groups


def smallest_distance(Z):
    """h_min: the smallest distance between two rows that is more than rounding."""
    distances = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    real = distances[distances > 1e-9 * np.ptp(Z, axis=0).max()]
    return real.min() if len(real) else 1.0


def compactness_and_isolation(Z, members, centers, j, h):
    """Both criteria of the cluster with these members and the j-th centre."""
    e = np.exp(-((Z[:, None] - centers[None]) ** 2).sum(axis=2) / (2 * h * h))
    own = e[members, j].sum()
    claimed, everyone = e[members].sum(), e[:, j].sum()
    return (own / claimed if claimed else 0.0), (own / everyone if everyone else 0.0)


def mean_shift_hierarchy(Z, growth=1.1, reference="data", tol=1e-4, merge=1e-2):
    """All nodes of the hierarchy as dictionaries, and the labels of the rows at each level."""
    n = len(Z)
    h = smallest_distance(Z) / growth
    nodes = [
        {"members": [i], "born": 0, "last": 0, "representative": i, "parent": -1} for i in range(n)
    ]
    centers, alive, path = [z for z in Z], list(range(n)), np.zeros(n)
    bandwidths, labels = [h], [list(range(n))]
    _judge(Z, nodes, alive, centers, h, level=0)
    for level in range(1, 10_000):
        if len(centers) == 1:
            break
        h *= growth
        rows, weights = _reference_rows(Z, nodes, alive, centers, reference)
        climbs = [mean_shift_climb(y, rows, weights, h, tol) for y in centers]
        for node, (_, length) in zip(alive, climbs, strict=True):
            path[nodes[node]["members"]] += length
        ends = np.array([end for end, _ in climbs])
        alive, centers = _merge(nodes, alive, centers, ends, merge * h, path, level)
        bandwidths.append(h)
        _judge(Z, nodes, alive, centers, h, level)
        owner = {row: nodes[a]["members"][0] for a in alive for row in nodes[a]["members"]}
        labels.append([owner[row] for row in range(n)])
    return {"nodes": nodes, "bandwidths": bandwidths, "labels": np.array(labels), "path": path}


def _reference_rows(Z, nodes, alive, centers, reference):
    if reference == "data":
        return Z, np.ones(len(Z))
    sizes = np.array([len(nodes[a]["members"]) for a in alive], dtype=float)
    return np.array(centers), sizes if reference == "weighted" else np.ones(len(alive))


def _merge(nodes, alive, centers, ends, radius, path, level):
    groups = connected(ends, radius)
    new_centers = [ends[group].mean(axis=0) for group in groups]
    members = [sorted(r for c in group for r in nodes[alive[c]]["members"]) for group in groups]
    survivors = []
    for group, rows in sorted(zip(groups, members, strict=True), key=lambda pair: pair[1][0]):
        if len(group) == 1:
            continue
        shortest = path[rows].min()
        shown = next(r for r in rows if path[r] <= shortest * (1 + 1e-9))
        for c in group:
            nodes[alive[c]]["parent"] = len(nodes)
        nodes.append({"members": rows, "born": level, "representative": shown, "parent": -1})
    for group, rows in zip(groups, members, strict=True):
        born_now = next((k for k, node in enumerate(nodes) if node["members"] == rows
                         and (len(group) == 1 or node["born"] == level)
                         and node["parent"] == -1), None)  # fmt: skip
        survivors.append(born_now)
        nodes[born_now]["last"] = level
    return survivors, new_centers


def _judge(Z, nodes, alive, centers, h, level):
    """Keep the largest compactness + isolation of each living node; of equal ones the later."""
    for j, node in enumerate(alive):
        nodes[node]["mode"] = centers[j]
        both = compactness_and_isolation(Z, nodes[node]["members"], np.array(centers), j, h)
        if sum(both) >= nodes[node].get("ci", -1.0):
            nodes[node].update(ci=sum(both), compactness=both[0], isolation=both[1])
