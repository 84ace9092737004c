"""The loops of the mean-shift climb, compiled by numba on first use and kept on disk.

Nothing else in the project imports numba, and this module is imported only when a climb begins.
What a centre can feel is chosen row by row and copied once, relative to the centre and in units
of the bandwidth: then a step reads memory in order, and single precision keeps seven digits of
what matters. A centre with few rows around it is climbed in double precision, because symmetric
pairs would break their ties by rounding otherwise.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

BLOCK = 64  # rows that are looked at together
BLOCKS_PER_GROUP = 16  # blocks that are passed over together
TILE = 256  # what is worked on at once stays in the first cache

# Sums may be taken in any order, and nothing here is ever infinite or undefined.
_SUMS_IN_ANY_ORDER = {"reassoc", "contract", "nsz", "nnan", "ninf", "arcp"}


def _half_power_polynomial(degree: int) -> np.ndarray:
    """Coefficients of 2^-f for f in [0, 1), by least squares on Chebyshev's points."""
    points = 0.5 + 0.5 * np.cos(np.pi * (np.arange(200) + 0.5) / 200)
    values = 2.0**-points
    fit = np.polynomial.Polynomial.fit(points, values, degree, domain=[0, 1], w=1 / values)
    return fit.convert().coef


# Globals with a type of their own: as arguments, or as Python floats, they would triple the time.
_A0, _A1, _A2, _A3, _A4, _A5 = (np.float32(c) for c in _half_power_polynomial(5))
_D1, _D2, _D3, _D4, _D5, _D6, _D7, _D8, _D9, _D10 = map(float, _half_power_polynomial(10)[1:])
_D0 = 1.0  # a row on the centre counts as one, exactly: ties at the top decide questions
# 2^-60 is nothing beside a sum of at least one; smaller weights would be slow, denormal numbers.
_LARGEST_SINGLE = np.float32(60.0)
_LARGEST_DOUBLE = 1022.0
_ZERO = np.float32(0.0)


@intrinsic
def _half_power_single(typing_context, whole):  # type: ignore[no-untyped-def]
    """2^-whole for a whole number in single precision, by writing the exponent's bits."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        integer = ir.IntType(32)
        exponent = builder.sub(ir.Constant(integer, 127), builder.fptosi(arguments[0], integer))
        return builder.bitcast(builder.shl(exponent, ir.Constant(integer, 23)), ir.FloatType())

    return types.float32(types.float32), generate


@intrinsic
def _half_power_double(typing_context, whole):  # type: ignore[no-untyped-def]
    """2^-whole for a whole number in double precision."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        # Through 32 bits: the processor converts those, but not 64, eight at a time.
        integer = ir.IntType(64)
        narrow = builder.fptosi(arguments[0], ir.IntType(32))
        exponent = builder.sub(ir.Constant(integer, 1023), builder.sext(narrow, integer))
        return builder.bitcast(builder.shl(exponent, ir.Constant(integer, 52)), ir.DoubleType())

    return types.float64(types.float64), generate


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _turn_single(q, reach, n):  # type: ignore[no-untyped-def]
    total = _ZERO
    for j in range(n):
        x = min(max(q[j] + reach, _ZERO), _LARGEST_SINGLE)
        whole = np.float32(np.int32(x))
        f = x - whole
        p = _A0 + f * (_A1 + f * (_A2 + f * (_A3 + f * (_A4 + f * _A5))))
        weight = p * _half_power_single(whole)
        q[j] = weight
        total += weight
    return total


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _turn_double(q, reach, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(n):
        x = min(max(q[j] + reach, 0.0), _LARGEST_DOUBLE)
        whole = float(np.int32(x))
        f = x - whole
        p = _D6 + f * (_D7 + f * (_D8 + f * (_D9 + f * _D10)))
        p = _D0 + f * (_D1 + f * (_D2 + f * (_D3 + f * (_D4 + f * (_D5 + f * p)))))
        weight = p * _half_power_double(whole)
        q[j] = weight
        total += weight
    return total


def _turn_into_weights(q, reach, n):  # type: ignore[no-untyped-def]
    """Replace each q by the weight 2^-(q + reach), and return their sum."""
    raise NotImplementedError("only compiled code calls this")


@overload(_turn_into_weights)
def _turn_by_precision(q, reach, n):  # type: ignore[no-untyped-def]
    if q.dtype == types.float32:
        return lambda q, reach, n: _turn_single(q, reach, n)
    return lambda q, reach, n: _turn_double(q, reach, n)


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _add_products(q, near, t, k, u, n):  # type: ignore[no-untyped-def]
    u0, u1, u2, u3 = u[k], u[k + 1], u[k + 2], u[k + 3]
    for j in range(n):
        a = near[t, k, j] * u0 + near[t, k + 1, j] * u1
        b = near[t, k + 2, j] * u2 + near[t, k + 3, j] * u3
        q[j] += a + b


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _add_weighted_sums(weight, near, t, k, n, sums):  # type: ignore[no-untyped-def]
    sum_a = sum_b = sum_c = sum_d = weight[0] - weight[0]
    for j in range(n):
        w = weight[j]
        sum_a += w * near[t, k, j]
        sum_b += w * near[t, k + 1, j]
        sum_c += w * near[t, k + 2, j]
        sum_d += w * near[t, k + 3, j]
    sums[k] += sum_a
    sums[k + 1] += sum_b
    sums[k + 2] += sum_c
    sums[k + 3] += sum_d


@njit(cache=True, nogil=True)
def _weighted_mean(near, n, at, q, mean):  # type: ignore[no-untyped-def]
    """Write the mean of the rows near by, under the kernel around ``at``: where the step leads.

    |g - y|^2 = |g|^2 - 2 g.y + |y|^2; the last line of ``near`` holds |g|^2 and the rows' weight.
    """
    n_columns = near.shape[1] - 1
    reach = q[0] * 0
    for k in range(n_columns):
        mean[k] = 0.0
        reach += at[k] * at[k]
        at[n_columns + k] = -2 * at[k]
    u = at[n_columns:]
    total = 0.0
    for t in range((n + TILE - 1) // TILE):
        m = min(TILE, n - t * TILE)
        for j in range(m):
            q[j] = near[t, n_columns, j]
        for k in range(0, n_columns, 4):
            _add_products(q, near, t, k, u, m)
        total += _turn_into_weights(q, reach, m)
        for k in range(0, n_columns, 4):
            _add_weighted_sums(q, near, t, k, m, mean)
    for k in range(n_columns):
        mean[k] /= total


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _add_squares(squared, offsets, b, k, y):  # type: ignore[no-untyped-def]
    y0, y1, y2, y3 = y[k], y[k + 1], y[k + 2], y[k + 3]
    for j in range(BLOCK):
        d0, d1 = offsets[b, k, j] - y0, offsets[b, k + 1, j] - y1
        d2, d3 = offsets[b, k + 2, j] - y2, offsets[b, k + 3, j] - y3
        squared[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)


@njit(cache=True, nogil=True)
def _is_out_of_reach(y, center, radius):  # type: ignore[no-untyped-def]
    squared = 0.0
    for k in range(len(y)):
        difference = y[k] - center[k]
        squared += difference * difference
    return squared > radius * radius


@njit(cache=True, nogil=True)
def _choose(y, radius, blocks, scratch, chosen):  # type: ignore[no-untyped-def]
    """Write the places of all rows within the radius; return how many there are.

    Distances are taken in single precision: what is left out or let in by rounding weighs nothing.
    """
    n_chosen = 0
    n_columns = len(y)
    squared, local = scratch[:BLOCK], scratch[BLOCK:]
    limit = np.float32(radius * radius)
    for g in range(len(blocks.group_radius)):
        if _is_out_of_reach(y, blocks.group_center[g], radius + blocks.group_radius[g]):
            continue
        last = min(len(blocks.radius), (g + 1) * BLOCKS_PER_GROUP)
        for b in range(g * BLOCKS_PER_GROUP, last):
            if _is_out_of_reach(y, blocks.center[b], radius + blocks.radius[b]):
                continue
            for k in range(n_columns):
                local[k] = np.float32(y[k] - blocks.center[b, k])
            for j in range(BLOCK):
                squared[j] = _ZERO
            for k in range(0, n_columns, 4):
                _add_squares(squared, blocks.offsets, b, k, local)
            for j in range(BLOCK):
                chosen[n_chosen] = b * BLOCK + j
                n_chosen += squared[j] <= limit
    return n_chosen


@njit(cache=True, nogil=True)
def _gather(y, scale, blocks, chosen, n, near):  # type: ignore[no-untyped-def]
    """Copy the chosen rows relative to y and scaled, columns apart."""
    n_columns = len(y)
    for c in range(n):
        row = chosen[c]
        t, place = c // TILE, c % TILE
        squared = blocks.bias[row]
        for k in range(n_columns):
            g = (blocks.rows[row, k] - y[k]) * scale
            near[t, k, place] = g
            squared += g * g
        near[t, n_columns, place] = squared


@njit(cache=True, nogil=True)
def _climb_from(y, n, radius, blocks, settings, desk, near, at, q):  # type: ignore[no-untyped-def]
    """Climb from y, in place, until a step is short; return the path's length and True.

    False when so many rows came near on the way that they do not fit into ``near``.
    """
    unit = settings.bandwidth * math.sqrt(2.0 * math.log(2.0))
    n_columns = len(y)
    mean = desk.mean
    path = 0.0
    n_steps = 0
    while True:
        _gather(y, 1.0 / unit, blocks, desk.chosen, n, near)
        for k in range(n_columns):
            at[k] = 0
        step = drift = 0.0
        while n_steps < settings.max_steps:
            _weighted_mean(near, n, at, q, mean)
            squared = drift = 0.0
            for k in range(n_columns):
                difference = mean[k] - at[k]
                squared += difference * difference
                drift += mean[k] * mean[k]
                at[k] = mean[k]
            step = math.sqrt(squared) * unit
            drift = math.sqrt(drift) * unit
            path += step
            n_steps += 1
            if step <= settings.shortest_step or drift > settings.drift:
                break
        for k in range(n_columns):
            y[k] += mean[k] * unit
        if step <= settings.shortest_step or n_steps == settings.max_steps:
            return path, True
        n = _choose(y, radius, blocks, desk.scratch, desk.chosen)
        if n > TILE * near.shape[0]:
            return path, False


@njit(cache=True, nogil=True)
def climb(starts, first, last, blocks, settings, desk, ends, paths):  # type: ignore[no-untyped-def]
    """Let the centres ``first``..``last - 1`` climb; write where each ends and how far it went."""
    y = desk.y
    n_columns = starts.shape[1]
    for centre in range(first, last):
        for k in range(n_columns):
            y[k] = starts[centre, k]
        path, is_done = 0.0, False
        n = _choose(y, settings.radius_single, blocks, desk.scratch, desk.chosen)
        if n <= settings.few_rows:
            n = _choose(y, settings.radius_double, blocks, desk.scratch, desk.chosen)
            if n <= settings.few_rows:
                path, is_done = _climb_from(
                    y, n, settings.radius_double, blocks, settings, desk,
                    desk.near_double, desk.at_double, desk.q_double,
                )  # fmt: skip
            if not is_done:
                n = _choose(y, settings.radius_single, blocks, desk.scratch, desk.chosen)
        if not is_done:
            more, _ = _climb_from(
                y, n, settings.radius_single, blocks, settings, desk, desk.near, desk.at, desk.q
            )
            path += more
        paths[centre] = path
        for k in range(n_columns):
            ends[centre, k] = y[k]


@njit(cache=True, nogil=True)
def add_kernel_sums(  # type: ignore[no-untyped-def]
    centers, is_alone, first, last, bandwidth, radius, blocks, owner, desk, own, everyone, by_row
):
    """Sum e(x, p) per centre over its own rows and over all rows, and per row over all centres."""
    scale = 1.0 / (bandwidth * math.sqrt(2.0 * math.log(2.0)))
    q = desk.q_double
    n_columns = centers.shape[1]
    for centre in range(first, last):
        if is_alone[centre]:
            continue
        center = centers[centre]
        own_sum = sum_of_all = 0.0
        n = _choose(center, radius, blocks, desk.scratch, desk.chosen)
        for start in range(0, n, TILE):
            m = min(TILE, n - start)
            for j in range(m):
                row = desk.chosen[start + j]
                squared = 0.0
                for k in range(n_columns):
                    difference = (blocks.rows[row, k] - center[k]) * scale
                    squared += difference * difference
                q[j] = squared
            _turn_double(q, 0.0, m)
            for j in range(m):
                row = desk.chosen[start + j]
                by_row[row] += q[j]
                mass = q[j] * blocks.weight[row]
                sum_of_all += mass
                if owner[row] == centre:
                    own_sum += mass
        own[centre] = own_sum
        everyone[centre] = sum_of_all


@njit(cache=True, nogil=True)
def groups_of_close_points(points, order, radius):  # type: ignore[no-untyped-def]
    """Name each point by the smallest number in its component of "at most ``radius`` apart".

    ``order`` sorts the points by their first coordinate; only those in one strip are compared.
    """
    n = len(points)
    parent = np.arange(n)
    for a in range(n):
        i = order[a]
        for b in range(a + 1, n):
            j = order[b]
            if points[j, 0] - points[i, 0] > radius:
                break
            root_i, root_j = _root(parent, i), _root(parent, j)
            if root_i == root_j:
                continue
            squared = 0.0
            for k in range(points.shape[1]):
                difference = points[i, k] - points[j, k]
                squared += difference * difference
            if squared <= radius * radius:
                parent[max(root_i, root_j)] = min(root_i, root_j)
    for i in range(n):
        parent[i] = _root(parent, i)
    return parent


@njit(cache=True, nogil=True)
def _root(parent, i):  # type: ignore[no-untyped-def]
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
