"""Random numbers by counter, cosines and sines of turns, and Hadamard transforms of many rows.

The generator is Philox with four 32-bit words and ten rounds (Salmon et al., Parallel Random
Numbers: As Easy as 1, 2, 3, SC 2011): a function of a key and a counter, so that any number of any
stream is made without those before it.
"""

from math import factorial, inf, log, pi, sqrt

import numpy as np
from numpy import float32, float64, int32, uint32, uint64

from kmaps._loops.compiling import inner, loop

SINE = (6.28318529, -41.34166257, 81.59254287, -75.4016127)
"""sin(2πr)/r in powers of r², |r| ≤ 1/8: interpolated at Chebyshev nodes, error 2.4e-9."""

COSINE = (1.0, -19.73920865, 64.93931614, -85.44284467, 59.22016898)
"""cos(2πr) in powers of r², |r| ≤ 1/8: interpolated at Chebyshev nodes, error 5e-11."""

# Taylor series, whose next terms are below 1e-18.
_TAYLOR = [(-1) ** (k // 2) * (2 * pi) ** k / factorial(k) for k in range(20)]

# Sine and cosine, in each precision.
_SINGLE = (tuple(map(float32, SINE)), tuple(map(float32, COSINE)))
_DOUBLE = (tuple(map(float64, _TAYLOR[1::2])), tuple(map(float64, _TAYLOR[::2])))

LANES = 16  # rows that the Hadamard transform takes at once: float32 in a register of 512 bits
_LOW = uint64(0xFFFFFFFF)


@loop(inline="always")
def _philox(c0, c1, c2, c3, k0, k1):
    """Return the four words of a counter, all words as uint64 below 2³²."""
    for _ in range(10):
        a = uint64(0xD2511F53) * c0
        b = uint64(0xCD9E8D57) * c2
        c0 = (b >> uint64(32)) ^ c1 ^ k0
        c1 = b & _LOW
        c2 = (a >> uint64(32)) ^ c3 ^ k1
        c3 = a & _LOW
        k0 = (k0 + uint64(0x9E3779B9)) & _LOW
        k1 = (k1 + uint64(0xBB67AE85)) & _LOW
    return c0, c1, c2, c3


@loop()
def words(key, stream, rows, out):
    """Fill ``out`` (k, w), uint32, w a multiple of 4, with the words of some rows of a stream.

    The counter is (column // 4, row, stream, 0): row i of ``out`` depends on ``rows[i]`` alone.
    """
    k0 = uint64(key) & _LOW
    k1 = uint64(key) >> uint64(32)
    for i in range(len(rows)):
        line = out[i]
        for q in range(len(line) // 4):
            w = _philox(uint64(q), uint64(rows[i]), uint64(stream), uint64(0), k0, k1)
            line[4 * q] = uint32(w[0])
            line[4 * q + 1] = uint32(w[1])
            line[4 * q + 2] = uint32(w[2])
            line[4 * q + 3] = uint32(w[3])


@loop(inline="always")
def _polynomial(v, coefficients):
    value = coefficients[-1]
    for k in range(len(coefficients) - 2, -1, -1):
        value = coefficients[k] + v * value
    return value


@loop(inline="always")
def _cos_sin(turns, series):
    """Return cos and sin of 2π times a number, by polynomials on an eighth of a turn.

    Taking off whole turns, and then quarters, is exact in floating point.
    """
    rest = turns - np.rint(turns)
    quarter = np.rint(float32(4) * rest)
    r = rest - quarter * float32(0.25)
    v = r * r
    s = r * _polynomial(v, series[0])
    c = _polynomial(v, series[1])
    odd = (quarter == 1) | (quarter == -1)
    half = (quarter == 2) | (quarter == -2)
    cosine, sine = (s, c) if odd else (c, s)
    return (-cosine if (quarter == 1) | half else cosine, -sine if (quarter == -1) | half else sine)


@loop()
def normals(bits, out):
    """Turn ``bits`` (k, w), uint32, w even, into independent standard normal numbers, float32.

    Box and Muller: of each two words the first gives the length, the second the angle.
    """
    for i in range(len(bits)):
        line = bits[i]
        numbers = out[i]
        for j in range(0, len(line), 2):
            uniform = (float32(line[j]) + float32(0.5)) * float32(2.0**-32)
            length = sqrt(float32(-2) * log(uniform))
            cosine, sine = _cos_sin(float32(line[j + 1]) * float32(2.0**-32), _SINGLE)
            numbers[j] = length * cosine
            numbers[j + 1] = length * sine


@loop()
def _fill(turns, unit, series, out):
    n, m = turns.shape
    infinity = turns.dtype.type(inf)
    all_finite = True
    for i in range(n):
        row = turns[i]
        pairs = out[i]
        n_finite = int32(0)  # as narrow as a float32, so that one vector holds both
        for j in range(m):
            n_finite += int32(abs(row[j]) < infinity)
            cosine, sine = _cos_sin(row[j], series)
            pairs[2 * j] = unit * cosine
            pairs[2 * j + 1] = unit * sine
        all_finite &= n_finite == m
    return not all_finite


def cos_sin(turns, unit, out):
    """Fill ``out`` (n, 2m) with ``unit`` times cos, sin of 2π·``turns`` (n, m), pair by pair.

    All float32, or all float64. Returns whether some of the turns are not finite.
    """
    return _fill(turns, unit, _SINGLE if turns.dtype == np.float32 else _DOUBLE, out)


@inner()
def _hadamard(columns):
    """Multiply p columns of LANES rows, one after the other in a vector, by H (±1), in place.

    Two of the log₂ p steps at a time, which halves the passes over memory.
    """
    n = len(columns)
    h = LANES
    while 4 * h <= n:
        for start in range(0, n, 4 * h):
            a = columns[start : start + h]
            b = columns[start + h : start + 2 * h]
            c = columns[start + 2 * h : start + 3 * h]
            d = columns[start + 3 * h : start + 4 * h]
            for i in range(h):
                w = a[i] + b[i]
                x = a[i] - b[i]
                y = c[i] + d[i]
                z = c[i] - d[i]
                a[i] = w + y
                b[i] = x + z
                c[i] = w - y
                d[i] = x - z
        h *= 4
    if h < n:
        a = columns[:h]
        b = columns[h:]
        for i in range(h):
            a[i], b[i] = a[i] + b[i], a[i] - b[i]


@inner()
def _scale(source, order, factors, target):
    """Set each column of ``target`` to one of ``source``, in some order, times a factor."""
    for j in range(len(order)):
        start = LANES * order[j]
        column = source[start : start + LANES]
        scaled = target[LANES * j : LANES * (j + 1)]
        for lane in range(LANES):
            scaled[lane] = factors[j] * column[lane]


@inner()
def _load(X, columns):
    """Set ``columns`` to the columns of at most LANES rows of X (n, d), a tile at a time."""
    n, d = X.shape
    for tile in range(0, d, LANES):
        for lane in range(n):
            for j in range(tile, min(tile + LANES, d)):
                columns[LANES * j + lane] = X[lane, j]


@inner()
def _store(columns, places, lengths, out):
    """Fill ``out`` (n, m), at most LANES rows, with scaled ``columns``; a tile at a time."""
    n, m = out.shape
    for tile in range(0, m, LANES):
        for lane in range(n):
            for c in range(tile, min(tile + LANES, m)):
                out[lane, c] = lengths[c] * columns[LANES * places[c] + lane]


@loop()
def fastfood(X, flips, order, gains, starts, places, lengths, out):
    """Fill ``out`` (n, m) with the products of rows of X (n, d) and stacks of S H G Π H B.

    ``flips`` (B), ``order`` (Π) and ``gains`` (G) are (stacks, p), p ≥ d a power of two; stack s
    gives the outputs ``starts[s]`` … ``starts[s+1] - 1``, output c being row ``places[c]`` of the
    stack times ``lengths[c]`` (S).
    """
    n_stacks, p = flips.shape
    same = np.arange(p)
    rows = np.zeros(p * LANES, X.dtype)
    first = np.empty_like(rows)
    second = np.empty_like(rows)
    for top in range(0, len(X), LANES):
        bottom = min(top + LANES, len(X))
        _load(X[top:bottom], rows)
        for s in range(n_stacks):
            _scale(rows, same, flips[s], first)
            _hadamard(first)
            _scale(first, order[s], gains[s], second)
            _hadamard(second)
            outputs = slice(starts[s], starts[s + 1])
            _store(second, places[outputs], lengths[outputs], out[top:bottom, outputs])
