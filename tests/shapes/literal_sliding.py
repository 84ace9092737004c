"""Sliding of one specimen as the papers write it, with whole matrices and no shortcut."""

import numpy as np


def literal_bending_energy(reference):
    """Invert the whole of Bookstein's matrix L, whose kernel is written point by point."""
    p, d = reference.shape
    kernel = np.zeros((p, p))
    for i in range(p):
        for j in range(p):
            r = np.linalg.norm(reference[i] - reference[j])
            kernel[i, j] = r if d == 3 else (r * r * np.log(r) if r > 0 else 0)
    affine = np.hstack([np.ones((p, 1)), reference])
    whole = np.vstack([np.hstack([kernel, affine]), np.hstack([affine.T, np.zeros((d + 1,) * 2)])])
    return np.linalg.inv(whole)[:p, :p]


def literal_slide(specimen, reference, sliders, criterion):
    """Minimise over the moves along all tangents: Y = Y0 + U T (Bookstein 1997; Rohlf 2010).

    The coordinates stand axis by axis in one vector. The energy is then the block diagonal
    matrix of L for each axis, or the identity for Procrustes distance.
    """
    p, d = specimen.shape
    tangents = np.zeros((p * d, len(sliders)))
    for column, (before, slide, after) in enumerate(sliders):
        chord = specimen[after] - specimen[before]
        for axis in range(d):
            tangents[axis * p + slide, column] = chord[axis] / np.linalg.norm(chord)
    energy = np.eye(p * d)
    if criterion == "bending":
        energy = np.kron(np.eye(d), literal_bending_energy(reference))
    apart = (specimen - reference).T.ravel()
    moves = -np.linalg.solve(tangents.T @ energy @ tangents, tangents.T @ energy @ apart)
    return (specimen.T.ravel() + tangents @ moves).reshape(d, p).T


def rotated(specimen, target):
    left, _, right = np.linalg.svd(specimen.T @ target)
    left[:, -1] *= np.sign(np.linalg.det(left @ right))
    return specimen @ left @ right


def literal_sliding(specimens, sliders, criterion, n_rounds):
    """Alternate sliding and rotating, one specimen after the other."""
    placed = []
    for specimen in specimens:
        centred = specimen - specimen.mean(axis=0)
        placed.append(centred / np.linalg.norm(centred))
    placed = [rotated(specimen, placed[0]) for specimen in placed]
    mean = np.mean(placed, axis=0)
    for _ in range(n_rounds):
        slid = [literal_slide(specimen, mean, sliders, criterion) for specimen in placed]
        placed = [rotated(specimen, mean) for specimen in slid]
        mean = np.mean(placed, axis=0)
        mean = mean / np.linalg.norm(mean - mean.mean(axis=0))
    return np.array(placed), mean
