"""The loops of the mean-shift climb, compiled by numba on first use and kept on disk.

Nothing else in the project imports numba, and this module is imported only when a hierarchy is
built. Rows come in tree order, in runs of eight neighbours: a run is near a centre or it is not,
and eight numbers fill two or one of the processor's registers. What a centre can feel is copied
once, relative to the centre and in units of the bandwidth, so that single precision keeps seven
digits of what matters; a centre with few rows around it is climbed in double precision, because
symmetric pairs would break their ties by rounding otherwise.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

RUN = 8  # rows that are kept or dropped together
_RUNS = 32  # runs in a tile
_TILE = RUN * _RUNS  # what is worked on at once stays in the first cache
RUNS_PER_GROUP = 16  # runs that are looked at together before each is

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
_LARGEST_SINGLE = np.float32(126.0)
_LARGEST_DOUBLE = 1022.0
_ZERO = np.float32(0.0)
_TWO = np.float32(2.0)


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


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER, inline="always")
def _half_power(q):  # type: ignore[no-untyped-def]
    """2^-q for q >= 0 in double precision, to about 4 units in the last place."""
    q = min(q, _LARGEST_DOUBLE)
    whole = float(np.int32(q))
    f = q - whole
    p = _D6 + f * (_D7 + f * (_D8 + f * (_D9 + f * _D10)))
    p = _D0 + f * (_D1 + f * (_D2 + f * (_D3 + f * (_D4 + f * (_D5 + f * p)))))
    return p * _half_power_double(whole)


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _turn_into_weights(q, reach, n):  # type: ignore[no-untyped-def]
    """Replace each exponent q - reach by the weight 2^-(q + reach); return their sum."""
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
def _start_products(q, bias, a, b, c, d, y0, y1, y2, y3, n):  # type: ignore[no-untyped-def]
    for j in range(n):
        q[j] = bias[j] + (a[j] * y0 + b[j] * y1) + (c[j] * y2 + d[j] * y3)


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _add_products(q, a, b, c, d, y0, y1, y2, y3, n):  # type: ignore[no-untyped-def]
    for j in range(n):
        q[j] += (a[j] * y0 + b[j] * y1) + (c[j] * y2 + d[j] * y3)


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _weighted_sums(weight, a, b, c, d, n):  # type: ignore[no-untyped-def]
    sum_a = sum_b = sum_c = sum_d = _ZERO
    for j in range(n):
        w = weight[j]
        sum_a += w * a[j]
        sum_b += w * b[j]
        sum_c += w * c[j]
        sum_d += w * d[j]
    return sum_a, sum_b, sum_c, sum_d


@njit(cache=True, nogil=True)
def _weighted_mean_single(near, n, y, minus_two_y, q, mean):  # type: ignore[no-untyped-def]
    """The mean-shift step: the mean of the gathered rows under the kernel at ``y``.

    |g - y|^2 = |g|^2 - 2 g.y + |y|^2, with |g|^2 (and the rows' weights) gathered as last line.
    """
    n_columns = len(y)
    reach = _ZERO
    for k in range(n_columns):
        mean[k] = 0.0
        reach += y[k] * y[k]
        minus_two_y[k] = -_TWO * y[k]
    total = 0.0
    for t in range((n + _TILE - 1) // _TILE):
        tile = near[t]
        m = min(_TILE, n - t * _TILE)
        u = minus_two_y
        _start_products(
            q, tile[n_columns], tile[0], tile[1], tile[2], tile[3], u[0], u[1], u[2], u[3], m
        )
        for k in range(4, n_columns, 4):
            _add_products(
                q, tile[k], tile[k + 1], tile[k + 2], tile[k + 3],
                u[k], u[k + 1], u[k + 2], u[k + 3], m,
            )  # fmt: skip
        total += _turn_into_weights(q, reach, m)
        for k in range(0, n_columns, 4):
            s0, s1, s2, s3 = _weighted_sums(q, tile[k], tile[k + 1], tile[k + 2], tile[k + 3], m)
            mean[k] += s0
            mean[k + 1] += s1
            mean[k + 2] += s2
            mean[k + 3] += s3
    for k in range(n_columns):
        mean[k] /= total


@njit(cache=True, nogil=True)
def _runs_within(center, radius, runs, found):  # type: ignore[no-untyped-def]
    """Write the numbers of all runs that reach into the ball; return how many there are."""
    n_found = 0
    n_runs = len(runs.radius)
    n_columns = runs.center.shape[1]
    for g in range(len(runs.group_radius)):
        reach = radius + runs.group_radius[g]
        squared = 0.0
        for k in range(n_columns):
            difference = center[k] - runs.group_center[g, k]
            squared += difference * difference
        if squared > reach * reach:
            continue
        for r in range(g * RUNS_PER_GROUP, min(n_runs, (g + 1) * RUNS_PER_GROUP)):
            reach = radius + runs.radius[r]
            squared = 0.0
            for k in range(n_columns):
                difference = center[k] - runs.center[r, k]
                squared += difference * difference
            if squared <= reach * reach:
                found[n_found] = r
                n_found += 1
    return n_found


@njit(cache=True, nogil=True)
def _gather_single(anchor, scale, runs, found, n_found, near):  # type: ignore[no-untyped-def]
    """Copy the found runs relative to the anchor, scaled; the last line takes |g|^2 + bias."""
    n_columns = runs.rows.shape[1]
    for c in range(n_found):
        r = found[c]
        t, place = c // _RUNS, c % _RUNS
        for i in range(RUN):
            near[t, n_columns, place, i] = np.float32(runs.bias[r, i])
        for k in range(n_columns):
            origin = anchor[k]
            for i in range(RUN):
                g = np.float32((runs.rows[r, k, i] - origin) * scale)
                near[t, k, place, i] = g
                near[t, n_columns, place, i] += g * g


@njit(cache=True, nogil=True)
def _step_double(y, scale, runs, found, n_found, mean):  # type: ignore[no-untyped-def]
    """The same step in double precision, straight from the rows; the mean is relative to y."""
    n_columns = runs.rows.shape[1]
    total = 0.0
    for k in range(n_columns):
        mean[k] = 0.0
    for c in range(n_found):
        r = found[c]
        for i in range(RUN):
            squared = 0.0
            for k in range(n_columns):
                difference = (runs.rows[r, k, i] - y[k]) * scale
                squared += difference * difference
            exponent = squared + runs.bias[r, i]
            if exponent < _LARGEST_DOUBLE:
                weight = 2.0**-exponent
                total += weight
                for k in range(n_columns):
                    mean[k] += weight * (runs.rows[r, k, i] - y[k])
    for k in range(n_columns):
        mean[k] /= total


@njit(cache=True, nogil=True)
def _climb_double(y, runs, found, n_found, settings, mean):  # type: ignore[no-untyped-def]
    """Climb from y, in place, until a step is short; return the length of the path.

    Leaves early, with a negative length, when y has left the ball its runs were found for.
    """
    scale = 1.0 / (settings.bandwidth * math.sqrt(2.0 * math.log(2.0)))
    path = 0.0
    drift = 0.0
    for _ in range(settings.max_steps):
        _step_double(y, scale, runs, found, n_found, mean)
        squared = 0.0
        for k in range(len(y)):
            y[k] += mean[k]
            squared += mean[k] * mean[k]
        step = math.sqrt(squared)
        path += step
        drift += step
        if step <= settings.shortest_step:
            break
        if drift > settings.drift:
            drift = 0.0
            n_found = _runs_within(y, settings.radius_double + settings.drift, runs, found)
    return path


@njit(cache=True, nogil=True)
def _climb_single(y, runs, found, n_found, settings, desk):  # type: ignore[no-untyped-def]
    """As in double precision, in coordinates relative to where the runs were gathered."""
    unit = settings.bandwidth * math.sqrt(2.0 * math.log(2.0))
    n_columns = len(y)
    at, mean = desk.at, desk.mean
    farthest = (settings.drift / unit) ** 2
    path = 0.0
    n_steps = 0
    while n_steps < settings.max_steps:
        _gather_single(y, 1.0 / unit, runs, found, n_found, desk.near)
        tiles = desk.near.reshape(desk.near.shape[0], desk.near.shape[1], _TILE)
        for k in range(n_columns):
            at[k] = _ZERO
        step = drift = 0.0
        while n_steps < settings.max_steps:
            _weighted_mean_single(tiles, n_found * RUN, at, desk.minus_two_at, desk.q, mean)
            squared = drift = 0.0
            for k in range(n_columns):
                difference = mean[k] - at[k]
                squared += difference * difference
                drift += mean[k] * mean[k]
                at[k] = np.float32(mean[k])
            step = math.sqrt(squared) * unit
            path += step
            n_steps += 1
            if step <= settings.shortest_step or drift > farthest:
                break
        for k in range(n_columns):
            y[k] += mean[k] * unit
        if step <= settings.shortest_step:
            break
        n_found = _runs_within(y, settings.radius_single + settings.drift, runs, found)
    return path


@njit(cache=True, nogil=True)
def climb(starts, first, last, runs, settings, desk, ends, paths):  # type: ignore[no-untyped-def]
    """Let the centres ``first``..``last - 1`` climb; write where each ends and how far it went."""
    y = desk.y
    n_columns = starts.shape[1]
    for centre in range(first, last):
        for k in range(n_columns):
            y[k] = starts[centre, k]
        n_found = _runs_within(y, settings.radius_double + settings.drift, runs, desk.found)
        if n_found * RUN <= settings.few_rows:
            paths[centre] = _climb_double(y, runs, desk.found, n_found, settings, desk.mean)
        else:
            n_found = _runs_within(y, settings.radius_single + settings.drift, runs, desk.found)
            paths[centre] = _climb_single(y, runs, desk.found, n_found, settings, desk)
        for k in range(n_columns):
            ends[centre, k] = y[k]


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _kernel_values(run, center, scale, values):  # type: ignore[no-untyped-def]
    for i in range(RUN):
        values[i] = 0.0
    for k in range(len(center)):
        origin = center[k]
        for i in range(RUN):
            difference = (run[k, i] - origin) * scale
            values[i] += difference * difference
    for i in range(RUN):
        values[i] = _half_power(values[i])


@njit(cache=True, nogil=True)
def add_kernel_sums(  # type: ignore[no-untyped-def]
    centers, first, last, bandwidth, radius, runs, owner, found, values, own, everyone, by_row
):
    """Sum e(x, p) per centre over its own rows and over all rows, and per row over all centres."""
    scale = 1.0 / (bandwidth * math.sqrt(2.0 * math.log(2.0)))
    for centre in range(first, last):
        own_sum = 0.0
        sum_of_all = 0.0
        n_found = _runs_within(centers[centre], radius, runs, found)
        for c in range(n_found):
            r = found[c]
            _kernel_values(runs.rows[r], centers[centre], scale, values)
            for i in range(RUN):
                by_row[r, i] += values[i]
                mass = values[i] * runs.count[r, i]
                sum_of_all += mass
                if owner[r, i] == centre:
                    own_sum += mass
        own[centre] = own_sum
        everyone[centre] = sum_of_all


@njit(cache=True, nogil=True)
def groups_of_close_points(points, order, radius):  # type: ignore[no-untyped-def]
    """Connected components of "at most ``radius`` apart", named by their smallest number.

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
