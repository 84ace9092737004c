"""Lengths, angles and areas of one specimen by school geometry: one loop, one formula."""

import math


def length(points, a, b):
    return math.sqrt(sum((p - q) ** 2 for p, q in zip(points[a - 1], points[b - 1], strict=True)))


def direction(points, a, b):
    return [q - p for p, q in zip(points[a - 1], points[b - 1], strict=True)]


def angle(u, v):
    """The slope of v in a frame that lies along u; in the plane only."""
    along = u[0] * v[0] + u[1] * v[1]
    across = u[0] * v[1] - u[1] * v[0]
    return abs(math.degrees(math.atan2(across, along)))


def area(points, *corners):
    """The shoelace formula, with each edge of the polygon in turn; in the plane only."""
    total = 0.0
    for k, corner in enumerate(corners):
        x, y = points[corner - 1]
        next_x, next_y = points[corners[(k + 1) % len(corners)] - 1]
        total += x * next_y - next_x * y
    return abs(total) / 2


def triangle_area(points, a, b, c):
    """Heron's formula, in the plane or in space."""
    sides = length(points, a, b), length(points, b, c), length(points, c, a)
    half = sum(sides) / 2
    return math.sqrt(max(0.0, half * math.prod(half - side for side in sides)))
