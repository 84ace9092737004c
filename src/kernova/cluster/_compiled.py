"""Compiled loops of the mean-shift climb, built by numba on first use and cached on disk.

No other module of this package imports numba, and this one is imported only when a climb begins.
The rows within reach of a centre are selected and copied once, relative to the centre and in units
of the bandwidth. A step then reads memory in order, and single precision keeps seven digits of the
differences. A centre with few rows around it climbs in double precision, because rounding would
otherwise break the ties of symmetric pairs.

Everything is in one file on purpose: numba's cache stays valid as long as the file of the outermost
function is unchanged, and would miss a change in another file.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

BLOCK = 64  # rows compared together
BLOCKS_PER_GROUP = 16  # blocks skipped together
TILE = 256  # rows per tile, which stays in the L1 cache

# Sums may be reordered, and no value is ever infinite or NaN.
_SUMS_IN_ANY_ORDER = {"reassoc", "contract", "nsz", "nnan", "ninf", "arcp"}


def _half_power_polynomial(degree: int) -> np.ndarray:
    """Return coefficients of 2^-f for f in [0, 1), by least squares on Chebyshev points."""
    points = 0.5 + 0.5 * np.cos(np.pi * (np.arange(200) + 0.5) / 200)
    values = 2.0**-points
    fit = np.polynomial.Polynomial.fit(points, values, degree, domain=[0, 1], w=1 / values)
    return fit.convert().coef


# Typed globals: as arguments, or as Python floats, they would triple the run time.
_A0, _A1, _A2, _A3, _A4, _A5 = (np.float32(c) for c in _half_power_polynomial(5))
_D1, _D2, _D3, _D4, _D5, _D6, _D7, _D8, _D9, _D10 = map(float, _half_power_polynomial(10)[1:])
_D0 = 1.0  # a row at the centre has weight exactly 1: ties at the top decide questions
# 2^-60 is negligible in a sum of at least 1; smaller weights would be slow denormal numbers.
_LARGEST_SINGLE = np.float32(60.0)
_LARGEST_DOUBLE = 1022.0
_ZERO = np.float32(0.0)
_NOWHERE = np.float32(1e4)  # far enough for a weight of 0
# Number and positions of the set bits of each byte.
_N_SET = np.array([bin(byte).count("1") for byte in range(256)])
_BIT_POSITIONS = np.array(
    [sorted(range(8), key=lambda bit: (byte >> bit) & 1 == 0) for byte in range(256)]
)


@intrinsic
def _half_power_single(typing_context, whole):
    """Return 2^-whole for an integer in single precision, by writing the exponent bits."""

    def generate(context, builder, signature, arguments):
        integer = ir.IntType(32)
        exponent = builder.sub(ir.Constant(integer, 127), builder.fptosi(arguments[0], integer))
        return builder.bitcast(builder.shl(exponent, ir.Constant(integer, 23)), ir.FloatType())

    return types.float32(types.float32), generate


@intrinsic
def _half_power_double(typing_context, whole):
    """Return 2^-whole for an integer in double precision."""

    def generate(context, builder, signature, arguments):
        # Through 32 bits, which the processor converts eight at a time, unlike 64.
        integer = ir.IntType(64)
        narrow = builder.fptosi(arguments[0], ir.IntType(32))
        exponent = builder.sub(ir.Constant(integer, 1023), builder.sext(narrow, integer))
        return builder.bitcast(builder.shl(exponent, ir.Constant(integer, 52)), ir.DoubleType())

    return types.float64(types.float64), generate


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _turn_single(q, reach, n):
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
def _turn_double(q, reach, n):
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


def _turn_into_weights(q, reach, n):
    """Replace each q by the weight 2^-(q + reach), and return their sum."""
    raise NotImplementedError("only compiled code calls this")


@overload(_turn_into_weights)
def _turn_by_precision(q, reach, n):
    if q.dtype == types.float32:
        return lambda q, reach, n: _turn_single(q, reach, n)
    return lambda q, reach, n: _turn_double(q, reach, n)


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _add_products(q, near, t, k, u, n):
    u0, u1, u2, u3 = u[k], u[k + 1], u[k + 2], u[k + 3]
    for j in range(n):
        a = near[t, k, j] * u0 + near[t, k + 1, j] * u1
        b = near[t, k + 2, j] * u2 + near[t, k + 3, j] * u3
        q[j] += a + b


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _add_weighted_sums(weight, near, t, k, n, sums):
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
def _weighted_mean(near, n, at, q, mean):
    """Write the kernel-weighted mean of the gathered rows around ``at``: the next position.

    |g - y|^2 = |g|^2 - 2 g.y + |y|^2; the last line of ``near`` holds |g|^2 and the rows' weight.
    """
    n_columns = near.shape[1] - 1
    reach = at[0] * at[0]  # in the precision of ``at``
    mean[0] = 0.0
    for k in range(1, n_columns):
        mean[k] = 0.0
        reach += at[k] * at[k]
    for k in range(n_columns):
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


_EIGHT = ir.VectorType(ir.FloatType(), 8)


def _data(context, builder, signature, arguments, position):
    kind = signature.args[position]
    return context.make_array(kind)(context, builder, arguments[position]).data


def _eight_times(builder, number):
    nothing = ir.Constant(_EIGHT, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
    return builder.shuffle_vector(first, nothing, zeros)


def _pointer_to_eight(builder, data, position):
    return builder.bitcast(builder.gep(data, [position]), _EIGHT.as_pointer())


@intrinsic
def _which_are_near(typing_context, offsets, start, y, n_columns, limit):
    """Return which of 32 rows are near y: bit j is set if |row j - y|^2 <= limit.

    ``offsets[start:]`` holds the 32 first coordinates, the 32 second ones, and so on. Eight are
    compared at once, four times, without writing to memory.
    """
    index = ir.IntType(64)

    def generate(context, builder, signature, arguments):
        rows, here = (_data(context, builder, signature, arguments, i) for i in (0, 2))
        zero = ir.Constant(_EIGHT, [0.0] * 8)
        squared = [cgutils.alloca_once_value(builder, zero) for _ in range(4)]
        with cgutils.for_range(builder, arguments[3]) as loop:
            position = builder.add(arguments[1], builder.mul(loop.index, ir.Constant(index, 32)))
            coordinate = _eight_times(builder, builder.load(builder.gep(here, [loop.index])))
            for part in range(4):
                at = builder.add(position, ir.Constant(index, 8 * part))
                eight = builder.load(_pointer_to_eight(builder, rows, at), align=4)
                apart = builder.fsub(eight, coordinate)
                square = builder.fmul(apart, apart, flags=["contract"])
                total = builder.fadd(builder.load(squared[part]), square, flags=["contract"])
                builder.store(total, squared[part])
        bits = ir.Constant(index, 0)
        for part in range(4):
            is_near = builder.fcmp_ordered(
                "<=", builder.load(squared[part]), _eight_times(builder, arguments[4])
            )
            byte = builder.zext(builder.bitcast(is_near, ir.IntType(8)), index)
            bits = builder.or_(bits, builder.shl(byte, ir.Constant(index, 8 * part)))
        return bits

    return types.int64(offsets, types.int64, y, types.int64, types.float32), generate


@intrinsic
def _copy_eight(typing_context, offsets, start, y, n_columns, scale, bias, first, near, position):
    """Copy eight rows, relative to y and scaled, to ``near[position:]``; bias + |g|^2 follows."""
    index = ir.IntType(64)

    def generate(context, builder, signature, arguments):
        rows, here, biases, target = (
            _data(context, builder, signature, arguments, i) for i in (0, 2, 5, 7)
        )
        start, n_columns, position = arguments[1], arguments[3], arguments[8]
        scales = _eight_times(builder, arguments[4])
        bias = builder.load(_pointer_to_eight(builder, biases, arguments[6]), align=4)
        squared = cgutils.alloca_once_value(builder, bias)
        with cgutils.for_range(builder, n_columns) as loop:
            source = builder.add(start, builder.mul(loop.index, ir.Constant(index, 32)))
            eight = builder.load(_pointer_to_eight(builder, rows, source), align=4)
            coordinate = _eight_times(builder, builder.load(builder.gep(here, [loop.index])))
            g = builder.fmul(builder.fsub(eight, coordinate), scales)
            to = builder.add(position, builder.mul(loop.index, ir.Constant(index, TILE)))
            builder.store(g, _pointer_to_eight(builder, target, to), align=4)
            square = builder.fmul(g, g, flags=["contract"])
            builder.store(builder.fadd(builder.load(squared), square, flags=["contract"]), squared)
        to = builder.add(position, builder.mul(n_columns, ir.Constant(index, TILE)))
        builder.store(builder.load(squared), _pointer_to_eight(builder, target, to), align=4)
        return context.get_dummy_value()

    arguments = (
        offsets, types.int64, y, types.int64, types.float32, bias, types.int64, near, types.int64
    )  # fmt: skip
    return types.void(*arguments), generate


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _is_out_of_reach(y, low, high, b, radius):
    """Return whether the box lies farther away than the radius."""
    squared = 0.0
    for k in range(len(y)):
        gap = max(max(low[b, k] - y[k], y[k] - high[b, k]), 0.0)
        squared += gap * gap
    return squared > radius * radius


@njit(cache=True, nogil=True)
def _blocks_in_reach(y, radius, blocks, found):
    """Write the numbers of the blocks that intersect the ball; return how many there are."""
    n_found = 0
    for g in range(len(blocks.group_low)):
        if _is_out_of_reach(y, blocks.group_low, blocks.group_high, g, radius):
            continue
        last = min(len(blocks.low), (g + 1) * BLOCKS_PER_GROUP)
        for b in range(g * BLOCKS_PER_GROUP, last):
            found[n_found] = b
            n_found += not _is_out_of_reach(y, blocks.low, blocks.high, b, radius)
    return n_found


@njit(cache=True, nogil=True)
def _choose(y, radius, blocks, scratch):
    """Write the indices of all rows within the radius; return how many there are.

    Distances are in single precision: rows in or out by rounding have negligible weight.
    """
    n_columns, local, chosen = len(y), scratch.local, scratch.chosen
    n_chosen = 0
    limit = np.float32(radius * radius)
    for f in range(_blocks_in_reach(y, radius, blocks, scratch.found)):
        b = scratch.found[f]
        for k in range(n_columns):
            local[k] = y[k] - blocks.center[b, k]
        for first in range(b * BLOCK, (b + 1) * BLOCK, 32):
            bits = _which_are_near(blocks.offsets, first * n_columns, local, n_columns, limit)
            while bits:
                byte = bits & 255
                for i in range(_N_SET[byte]):
                    chosen[n_chosen] = first + _BIT_POSITIONS[byte, i]
                    n_chosen += 1
                bits >>= 8
                first += 8
    return n_chosen


@njit(cache=True, nogil=True, inline="always")
def _copy_one(offsets, start, y, scale, bias, near, position):
    squared = bias
    for k in range(len(y)):
        g = (offsets[start + 32 * k] - y[k]) * scale
        near[position + TILE * k] = g
        squared += g * g
    near[position + TILE * len(y)] = squared


@njit(cache=True, nogil=True, inline="always")
def _next_tile(near, n, n_columns):
    """Pad a tile without room for eight rows by rows of weight 0; return the new end."""
    while n % TILE > TILE - 8:
        position = _position(n, n_columns)
        for k in range(n_columns):
            near[position + TILE * k] = _ZERO
        near[position + TILE * n_columns] = _NOWHERE
        n += 1
    return n


@njit(cache=True, nogil=True, inline="always")
def _position(n, n_columns):
    """Return the offset of the n-th gathered row: by tile, and within a tile by column."""
    return n // TILE * TILE * (n_columns + 1) + n % TILE


@njit(cache=True, nogil=True, inline="always")
def _copy_chosen(byte, first, start, scale, offsets, bias, n_rows, local, near, n):
    """Copy the selected ones of eight rows; return the number of rows gathered so far.

    Where most are selected, all eight are copied, which is faster.
    """
    n_marked = _N_SET[byte]
    n_columns = len(local)
    n = _next_tile(near, n, n_columns)
    position = _position(n, n_columns)
    if n_marked >= 5 and first + 8 <= n_rows:  # the last eight may not be full
        _copy_eight(offsets, start, local, n_columns, scale, bias, first, near, position)
        return n + 8
    for i in range(n_marked):
        j = _BIT_POSITIONS[byte, i]
        _copy_one(offsets, start + j, local, scale, bias[first + j], near, position + i)
    return n + n_marked


@njit(cache=True, nogil=True)
def _gather_near(y, radius, scale, blocks, scratch, near):
    """Select and copy in one pass, in single precision; return the number of gathered rows."""
    n_columns, local = len(y), scratch.local
    limit, scale = np.float32(radius * radius), np.float32(scale)
    offsets, bias, n_rows = blocks.offsets, blocks.bias_single, blocks.columns.shape[1]
    n = 0
    for f in range(_blocks_in_reach(y, radius, blocks, scratch.found)):
        b = scratch.found[f]
        for k in range(n_columns):
            local[k] = y[k] - blocks.center[b, k]
        for first in range(b * BLOCK, (b + 1) * BLOCK, 32):
            start = first * n_columns
            bits = _which_are_near(offsets, start, local, n_columns, limit)
            while bits:
                if bits & 255:
                    n = _copy_chosen(
                        bits & 255, first, start, scale, offsets, bias, n_rows, local, near, n
                    )
                bits >>= 8
                first += 8
                start += 8
    return n


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _gather_column(column, chosen, start, n, origin, scale, near, t, k):
    for c in range(n):
        near[t, k, c] = (column[chosen[start + c]] - origin) * scale


@njit(cache=True, nogil=True, fastmath=_SUMS_IN_ANY_ORDER)
def _add_squares_of_column(near, t, k, n, last):
    for c in range(n):
        near[t, last, c] += near[t, k, c] * near[t, k, c]


@njit(cache=True, nogil=True)
def _gather(y, scale, blocks, chosen, n, near):
    """Copy the selected rows relative to y and scaled, by column; the last line is |g|^2."""
    n_columns = len(y)
    for t in range((n + TILE - 1) // TILE):
        start = t * TILE
        m = min(TILE, n - start)
        for c in range(m):
            near[t, n_columns, c] = blocks.bias[chosen[start + c]]
        for k in range(n_columns):
            _gather_column(blocks.columns[k], chosen, start, m, y[k], scale, near, t, k)
            _add_squares_of_column(near, t, k, m, n_columns)


@njit(cache=True, nogil=True)
def _steps(y, near, n, n_steps, settings, mean, at, q):
    """Step from y, in place, until a step is short or the gathered rows are out of date.

    Return the length of the path, the number of steps so far, and whether the climb has ended.
    """
    unit = settings.bandwidth * math.sqrt(2.0 * math.log(2.0))
    n_columns = len(y)
    path = step = 0.0
    for k in range(n_columns):
        at[k] = 0
    while n_steps < settings.max_steps:
        _weighted_mean(near, n, at, q, mean)
        squared = drift = 0.0
        for k in range(n_columns):
            difference = mean[k] - at[k]
            squared += difference * difference
            drift += mean[k] * mean[k]
            at[k] = mean[k]
        step = math.sqrt(squared) * unit
        path += step
        n_steps += 1
        if step <= settings.shortest_step or math.sqrt(drift) * unit > settings.drift:
            break
    for k in range(n_columns):
        y[k] += mean[k] * unit
    return path, n_steps, step <= settings.shortest_step or n_steps == settings.max_steps


@njit(cache=True, nogil=True)
def _climb_double(y, n, blocks, settings, scratch):
    """Climb while few rows are near; return path length, steps, and whether it ended."""
    scale = 1.0 / (settings.bandwidth * math.sqrt(2.0 * math.log(2.0)))
    path, n_steps, is_done = 0.0, 0, False
    while n <= settings.few_rows and not is_done:
        _gather(y, scale, blocks, scratch.chosen, n, scratch.near_double)
        length, n_steps, is_done = _steps(
            y,
            scratch.near_double,
            n,
            n_steps,
            settings,
            scratch.mean,
            scratch.at_double,
            scratch.q_double,
        )
        path += length
        if not is_done:
            n = _choose(y, settings.radius_double, blocks, scratch)
    return path, n_steps, is_done


@njit(cache=True, nogil=True)
def climb(starts, first, last, blocks, settings, scratch, ends, paths):
    """Climb from the centres ``first``..``last - 1``; write their ends and path lengths."""
    y = scratch.y
    n_columns = starts.shape[1]
    scale = 1.0 / (settings.bandwidth * math.sqrt(2.0 * math.log(2.0)))
    flat = scratch.near.reshape(scratch.near.size)
    for centre in range(first, last):
        for k in range(n_columns):
            y[k] = starts[centre, k]
        path, n_steps, is_done = 0.0, 0, False
        n_near = _gather_near(y, settings.radius_single, scale, blocks, scratch, flat)
        if n_near <= settings.few_rows:
            n = _choose(y, settings.radius_double, blocks, scratch)
            path, n_steps, is_done = _climb_double(y, n, blocks, settings, scratch)
            if n_steps and not is_done:
                n_near = _gather_near(y, settings.radius_single, scale, blocks, scratch, flat)
        while not is_done:
            length, n_steps, is_done = _steps(
                y, scratch.near, n_near, n_steps, settings, scratch.mean, scratch.at, scratch.q
            )
            path += length
            if not is_done:
                n_near = _gather_near(y, settings.radius_single, scale, blocks, scratch, flat)
        paths[centre] = path
        for k in range(n_columns):
            ends[centre, k] = y[k]


@njit(cache=True, nogil=True)
def add_kernel_sums(
    centers, is_alone, first, last, bandwidth, radius, blocks, owner, scratch, own, everyone, by_row
):
    """Sum e(x, p) per centre over its own rows and over all rows, and per row over all centres."""
    scale = 1.0 / (bandwidth * math.sqrt(2.0 * math.log(2.0)))
    q = scratch.q_double
    n_columns = centers.shape[1]
    for centre in range(first, last):
        if is_alone[centre]:
            continue
        center = centers[centre]
        own_sum = sum_of_all = 0.0
        n = _choose(center, radius, blocks, scratch)
        for start in range(0, n, TILE):
            m = min(TILE, n - start)
            for j in range(m):
                row = scratch.chosen[start + j]
                squared = 0.0
                for k in range(n_columns):
                    difference = (blocks.columns[k, row] - center[k]) * scale
                    squared += difference * difference
                q[j] = squared
            _turn_double(q, 0.0, m)
            for j in range(m):
                row = scratch.chosen[start + j]
                by_row[row] += q[j]
                mass = q[j] * blocks.weight[row]
                sum_of_all += mass
                if owner[row] == centre:
                    own_sum += mass
        own[centre] = own_sum
        everyone[centre] = sum_of_all


@njit(cache=True, nogil=True)
def groups_of_close_points(points, order, radius):
    """Label each point by the smallest index in its component of points within ``radius``.

    ``order`` sorts the points by their first coordinate; only points in one strip are compared.
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
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
