"""Descriptors of one small picture, pixel by pixel, as their definitions say."""

from math import atan2, ceil, cos, exp, floor, hypot, log, pi, sin, sqrt

SCALES = (1.0, 2.0, 4.0)


def lab(red, green, blue):
    """Return lightness, a and b of an sRGB colour of eight bits."""
    values = [channel / 255 for channel in (red, green, blue)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values)
    rows = [
        (0.4124564, 0.3575761, 0.1804375),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0193339, 0.1191920, 0.9503041),
    ]

    def root(t):
        return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29

    x, y, z = (root((m[0] * r + m[1] * g + m[2] * b) / sum(m)) for m in rows)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def mirrored(picture, y, x):
    """Return a pixel; beyond the border those before it follow in reverse, the last one twice."""
    height, width = len(picture), len(picture[0])
    y, x = y % (2 * height), x % (2 * width)
    return picture[min(y, 2 * height - 1 - y)][min(x, 2 * width - 1 - x)]


def edge(picture, y, x, sigma):
    """Return strength and orientation (in half turns) of the edge at a pixel."""
    radius = int(4 * sigma + 0.5)
    steps = range(-radius, radius + 1)
    weights = {k: exp(-(k**2) / (2 * sigma**2)) for k in steps}
    total = sum(weights.values())
    right = up = 0.0
    for down in steps:
        for across in steps:
            value = mirrored(picture, y + down, x + across)
            weight = weights[down] * weights[across] / total**2
            right += weight * across / sigma**2 * value
            up -= weight * down / sigma**2 * value
    return hypot(right, up), (atan2(up, right) / pi + 0.5) % 1.0


def orientation_histogram(edges, n_bins):
    """Return how much each orientation has of the given edges; between two bins, both count."""
    counts = [0.0] * n_bins
    for strength, turns in edges:
        place = (turns % 1.0) * n_bins
        below = floor(place)
        counts[below % n_bins] += strength * (1 - (place - below))
        counts[(below + 1) % n_bins] += strength * (place - below)
    return counts


def ring_of(picture, y, x, n_rings):
    """Return the ring of a pixel around the centre; ``n_rings`` beyond the circle."""
    height, width = len(picture), len(picture[0])
    away = hypot(y - (height - 1) / 2, x - (width - 1) / 2) / (min(height, width) / 2)
    return min(int(away * n_rings + 1e-9), n_rings)


def turned_edges(picture, sigma, n_rings=4, n_bins=8, n_angles=16, n_harmonics=4, faint=0.5):
    """Return the descriptors of one scale that do not depend on how a picture is turned."""
    height, width = len(picture), len(picture[0])
    of_rings = [[] for _ in range(n_rings)]
    of_all = []
    total = 0.0
    for y in range(height):
        for x in range(width):
            ring = ring_of(picture, y, x, n_rings)
            if ring == n_rings:
                continue
            strength, turns = edge(picture, y, x, sigma)
            radius = atan2((height - 1) / 2 - y, x - (width - 1) / 2) / pi
            of_rings[ring].append((strength, turns - radius))
            of_all.append((strength, turns))
            total += strength
    whole = total + faint * height * width
    found = [sqrt(n / whole) for edges in of_rings for n in orientation_histogram(edges, n_bins)]
    angles = [n / whole for n in orientation_histogram(of_all, n_angles)]
    for harmonic in range(1, n_harmonics + 1):
        turns = [2 * pi * harmonic * k / n_angles for k in range(n_angles)]
        real = sum(n * cos(turn) for n, turn in zip(angles, turns, strict=True))
        imaginary = sum(n * sin(turn) for n, turn in zip(angles, turns, strict=True))
        found.append(hypot(real, imaginary))
    return [*found, log(total / (height * width) + faint)]


def celled_edges(picture, sigma, n_cells, n_bins=8, faint=0.5):
    """Return the descriptors of one scale by cells of a grid."""
    height, width = len(picture), len(picture[0])
    of_cells = [[] for _ in range(n_cells**2)]
    total = 0.0
    for y in range(height):
        for x in range(width):
            found = edge(picture, y, x, sigma)
            of_cells[(y * n_cells // height) * n_cells + x * n_cells // width].append(found)
            total += found[0]
    whole = total + faint * height * width
    counts = [n for edges in of_cells for n in orientation_histogram(edges, n_bins)]
    return [*(sqrt(n / whole) for n in counts), log(total / (height * width) + faint)]


def binary_pattern(picture, y, x, radius, lighter_by=1.0):
    """Return which of eight points around a pixel are lighter than it."""
    bits = []
    for point in range(8):
        angle = 2 * pi * point / 8
        down, across = round(-radius * sin(angle), 9), round(radius * cos(angle), 9)
        top, left = floor(down), floor(across)
        value = sum(
            (1 - abs(down - row))
            * (1 - abs(across - column))
            * mirrored(picture, y + row, x + column)
            for row in {top, ceil(down)}
            for column in {left, ceil(across)}
        )
        bits.append(value - picture[y][x] > lighter_by)
    return bits


def n_changes(bits):
    return sum(bits[k] != bits[k - 1] for k in range(len(bits)))


def rotation_invariant_patterns(picture, radius):
    """Return the square roots of the frequencies of patterns: by lighter points, or mixed."""
    counts = [0] * 10
    for y in range(len(picture)):
        for x in range(len(picture[0])):
            bits = binary_pattern(picture, y, x, radius)
            counts[sum(bits) if n_changes(bits) <= 2 else 9] += 1
    return [sqrt(n / (len(picture) * len(picture[0]))) for n in counts]


def uniform_patterns(picture, radius):
    """Return frequencies by number of lighter points and the point where they begin."""
    counts = {}
    for y in range(len(picture)):
        for x in range(len(picture[0])):
            bits = binary_pattern(picture, y, x, radius)
            starts = [point for point in range(8) if bits[point] and not bits[point - 1]]
            key = "mixed" if n_changes(bits) > 2 else (sum(bits), starts[0] if starts else None)
            counts[key] = counts.get(key, 0) + 1
    return counts


def contrast(picture, radius, faint=0.5):
    """Return mean and spread of the logarithm of the local standard deviation."""
    values = []
    steps = range(-radius, radius + 1)
    for y in range(len(picture)):
        for x in range(len(picture[0])):
            around = [mirrored(picture, y + down, x + across) for down in steps for across in steps]
            mean = sum(around) / len(around)
            spread = sqrt(sum((value - mean) ** 2 for value in around) / len(around))
            values.append(log(spread + faint))
    mean = sum(values) / len(values)
    return mean, sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def lobes(picture, ring, number, n_rings=6, faint=2.0):
    """Return the strength of a wave of lightness around a ring."""
    height, width = len(picture), len(picture[0])
    inside = [
        (picture[y][x], atan2((height - 1) / 2 - y, x - (width - 1) / 2))
        for y in range(height)
        for x in range(width)
        if ring_of(picture, y, x, n_rings) == ring
    ]
    n = len(inside)
    real = sum(light * cos(number * angle) for light, angle in inside) / n
    imaginary = sum(light * sin(number * angle) for light, angle in inside) / n
    return hypot(real, imaginary) / (sum(light for light, _ in inside) / n + faint)
