"""NumPy's versions of the compiled loops that a prediction needs, for where numba is not loaded.

Arguments and results are the same as in the loops of the same names, to the last bit where the
loops take no logarithm; tests compare the two.
"""

from math import factorial, lgamma, pi

import numpy as np

SINE = (6.28318529, -41.34166257, 81.59254287, -75.4016127)
"""sin(2πr)/r in powers of r², |r| ≤ 1/8: interpolated at Chebyshev nodes, error 2.4e-9."""

COSINE = (1.0, -19.73920865, 64.93931614, -85.44284467, 59.22016898)
"""cos(2πr) in powers of r², |r| ≤ 1/8: interpolated at Chebyshev nodes, error 5e-11."""

# Taylor series, whose next terms are below 1e-18.
_TAYLOR = [(-1) ** (k // 2) * (2 * pi) ** k / factorial(k) for k in range(20)]

SERIES = {  # sine and cosine, by the precision
    np.float32: (tuple(map(np.float32, SINE)), tuple(map(np.float32, COSINE))),
    np.float64: (tuple(map(np.float64, _TAYLOR[1::2])), tuple(map(np.float64, _TAYLOR[::2]))),
}

_LOW, _MAGNITUDE, _INFINITY = 0xFFFFFFFF, 0x7FFFFFFF, 0x7F800000
_BLOCK_VALUES = 1 << 18  # values of tables that are gathered at a time
_TAIL = 8.0  # standard deviations: all quantiles of 32 bits lie within
_BISECTIONS = 60


def nearest_uniform(values, low, high, origin, per_unit, last, offset, codes):
    """Code a value as ``floor((value - origin) * per_unit + offset)``, between 0 and ``last``."""
    position = (values.astype(np.float64) - origin) * per_unit + offset
    codes[...] = np.minimum(np.maximum(position, 0.0), last).astype(np.uint8)
    return int(values.size - np.count_nonzero((values >= low) & (values <= high)))


def nearest_sorted(values, low, high, start, edges, half, codes):
    """Code a value as how many of its feature's sorted edges it reaches."""
    if (start == start[0]).all():
        own = edges[start[0] : start[0] + 2 * half - 1]
        codes[...] = np.searchsorted(own, values, side="right")
    else:
        for j, first in enumerate(start.tolist()):
            own = edges[first : first + 2 * half - 1]
            codes[:, j] = np.searchsorted(own, values[:, j], side="right")
    return int(values.size - np.count_nonzero((values >= low) & (values <= high)))


def sum_rows(codes, usual, tables):
    """Return the sums (n, P) of the rows of tables (d, L, P) that codes (n, d) name.

    Without ``usual`` all codes count; else only those that are another. Every fourth number goes
    into one of four sums, as in `kmaps._loops.forms.sum_codes`.
    """
    size = max(1, _BLOCK_VALUES // (codes.shape[1] * tables.shape[2]))
    parts = [codes[start : start + size] for start in range(0, len(codes), size)]
    return np.concatenate([_sum_some(part, usual, tables) for part in parts])


def _sum_some(codes, usual, tables):
    (n, d), width = codes.shape, tables.shape[2]
    if usual is None:
        values = tables[np.arange(d), codes]
        whole = d // 4 * 4
        sums = values[:, :whole].reshape(n, -1, 4, width).sum(axis=1)
        for k in range(whole, d):
            sums[:, 0] += values[:, k]
    else:
        row, feature = np.nonzero(codes != usual)
        counts = np.bincount(row, minlength=n)
        place = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
        one = np.where(place < counts[row] // 4 * 4, place % 4, 0)
        sums = np.zeros((n, 4, width), tables.dtype)
        np.add.at(sums, (row, one), tables[feature, codes[row, feature]])
    return (sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3])


def unrolled(r):
    """Return the argument ``outputs`` of `interpolate_log`, which has no use for it here."""
    return None


def interpolate_log(bits, features, shift, table, out, outputs):
    """Encode float32 values given as their ``bits`` (uint32); return whether one is not finite."""
    r = table.shape[2] // 2
    cells = table[0][bits >> shift]
    fraction = (bits & np.uint32((1 << int(shift)) - 1)).astype(np.float32)[..., None]
    out[...] = (cells[..., :r] + fraction * cells[..., r:]).reshape(out.shape)
    return bool(((bits & np.uint32(_MAGNITUDE)) >= _INFINITY).any())


def words(key, stream, rows, out):
    """Fill ``out`` (k, w), uint32, w a multiple of 4, with the words of some rows of a stream."""
    low, half = np.uint64(_LOW), np.uint64(32)
    shape = out.shape[0], out.shape[1] // 4
    c0 = np.broadcast_to(np.arange(shape[1], dtype=np.uint64), shape)
    c1 = np.broadcast_to(np.asarray(rows).astype(np.uint64)[:, None], shape)
    c2, c3 = np.full(shape, stream, np.uint64), np.zeros(shape, np.uint64)
    k0, k1 = int(key) & _LOW, int(key) >> 32
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1 = (b >> half) ^ c1 ^ np.uint64(k0), b & low
        c2, c3 = (a >> half) ^ c3 ^ np.uint64(k1), a & low
        k0, k1 = (k0 + 0x9E3779B9) & _LOW, (k1 + 0xBB67AE85) & _LOW
    for place, word in enumerate((c0, c1, c2, c3)):
        out[:, place::4] = word


def _polynomial(v, coefficients):
    value = np.full_like(v, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = v.dtype.type(coefficient) + v * value
    return value


def _turned(turns, series):
    """Return cos and sin of 2π times numbers."""
    rest = turns - np.rint(turns)
    quarter = np.rint(4 * rest)
    r = rest - quarter * turns.dtype.type(0.25)
    v = r * r
    s, c = r * _polynomial(v, series[0]), _polynomial(v, series[1])
    odd, half = np.abs(quarter) == 1, np.abs(quarter) == 2
    cosine, sine = np.where(odd, s, c), np.where(odd, c, s)
    return (
        np.where((quarter == 1) | half, -cosine, cosine),
        np.where((quarter == -1) | half, -sine, sine),
    )


def normals(bits, out):
    """Turn ``bits`` (k, w), uint32, w even, into independent standard normal numbers, float32."""
    unit = np.float32(2.0**-32)
    uniform = (bits[:, ::2].astype(np.float32) + np.float32(0.5)) * unit
    length = np.sqrt(np.float32(-2) * np.log(uniform))
    cosine, sine = _turned(bits[:, 1::2].astype(np.float32) * unit, SERIES[np.float32])
    out[:, ::2], out[:, 1::2] = length * cosine, length * sine


def cos_sin(turns, unit, out):
    """Fill ``out`` (n, 2m) with ``unit`` times cos, sin of 2π·``turns`` (n, m), pair by pair."""
    with np.errstate(invalid="ignore"):
        cosine, sine = _turned(turns, SERIES[turns.dtype.type])
    out[:, ::2], out[:, 1::2] = unit * cosine, unit * sine
    return not np.isfinite(turns).all()


def _hadamard(columns):
    """Return the rows of an array (n, p) times H (±1)."""
    n, p = columns.shape
    h = 1
    while h < p:
        pairs = columns.reshape(n, -1, 2, h)
        a, b = pairs[:, :, 0], pairs[:, :, 1]
        columns = np.stack([a + b, a - b], axis=2).reshape(n, p)
        h *= 2
    return columns


def fastfood(X, flips, order, gains, starts, places, lengths, out):
    """Fill ``out`` (n, m) with the products of rows of X (n, d) and stacks of S H G Π H B."""
    p = flips.shape[1]
    rows = np.zeros((len(X), p), X.dtype)
    rows[:, : X.shape[1]] = X
    for s in range(len(flips)):
        first = _hadamard(flips[s] * rows)
        second = _hadamard(gains[s] * first[:, order[s]])
        part = slice(starts[s], starts[s + 1])
        out[:, part] = lengths[part] * second[:, places[part]]


def gammaincinv(a, p):
    """Return x at which the regularised lower incomplete gamma function P(a, x) is p.

    By bisection, with the series of P: all of its terms are positive.
    """
    low = np.full(np.shape(p), max(0.0, a - _TAIL * a**0.5))
    high = np.full(np.shape(p), a + _TAIL * a**0.5 + 4 * _TAIL)
    for _ in range(_BISECTIONS):
        x = (low + high) / 2
        below = _gammainc(a, x) < p
        low, high = np.where(below, x, low), np.where(below, high, x)
    return (low + high) / 2


def _gammainc(a, x):
    term = np.full(x.shape, 1 / a)
    total, k = term.copy(), a
    while (term > 1e-17 * total).any():
        k += 1
        term = term * (x / k)
        total += term
    return np.exp(a * np.log(x) - x - lgamma(a)) * total
