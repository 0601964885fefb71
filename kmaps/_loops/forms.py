"""Functions of codes: evaluated and changed, row by row.

The weights of all features lie in one float32 array, ``size`` consecutive ones per feature. A
`Form` says what a code does with the weights of its feature.

`CodeRows` are the rows.
"""

from typing import NamedTuple

import numpy as np
from numba import int64

from kmaps._loops.compiling import inner, loop
from kmaps._loops.vectors import (
    add,
    aligned_zeros,
    fill,
    item,
    load,
    multiply_add,
    prefetch,
    store,
    total,
    widened,
)

_LINE = 64  # bytes of a cache line
_ROWS_A_BLOCK = 128  # rows that are added up in single precision


class CodeRows(NamedTuple):
    """Rows of codes: row i has the codes ``codes[bounds[i] : bounds[i + 1]]``.

    ``features`` names the feature of each of them; None: all features in order. A code that is left
    out belongs to a level that maps to zero.
    """

    codes: np.ndarray  # uint8
    bounds: np.ndarray  # int64
    features: np.ndarray | None  # uint16 or uint32


class Form(NamedTuple):
    """The effect of a code c on the ``size`` weights of its feature.

    The function's value is the product of row c of ``basis`` with as many weights, from
    ``first[c]`` on. Without a basis there is nothing to multiply: the weights are a table, of
    which row c is the value. A change adds a multiple of row c of ``rows`` to as many weights,
    from ``origin[c]`` on.

    A row has ``*_blocks`` times ``*_lanes`` values (see `vectors`; no blocks: one). Without
    ``first`` or ``origin`` they are zero; with blocks, of which there are then two, the first block
    goes to the beginning and the second one there. A stride that is not zero says that each feature
    has a table of its own, and how far apart they are. ``scale`` holds factors on the changes, one
    for each feature (``scale_stride`` 1) or one for all of them (0).
    """

    size: int
    basis: np.ndarray | None
    basis_stride: int
    basis_lanes: tuple
    basis_blocks: int | None
    first: np.ndarray | None  # int64
    rows: np.ndarray
    rows_stride: int
    rows_lanes: tuple
    rows_blocks: int | None
    origin: np.ndarray | None  # int64
    scale: np.ndarray  # float32
    scale_stride: int

    @property
    def width(self) -> int:
        """The number of values in a row of ``rows``."""
        return len(self.rows_lanes) * (self.rows_blocks or 1)

    @property
    def n_codes(self) -> int:
        """The number of codes of a feature."""
        return (self.rows_stride or len(self.rows)) // self.width


@inner()
def _apply(codes, features, k, begin, weights, sums, size, basis, stride, lanes, blocks, first):
    """Add the product of the k-th code and its weights to ``sums``; its row begins at ``begin``."""
    j = k - begin if features is None else int64(item(features, k))
    code = int64(item(codes, k))
    if basis is None:
        return add(sums, load(weights, j * size + code * len(lanes), lanes))
    at = j * size
    if blocks is None:
        if first is not None:
            at += item(first, code)
        row = load(basis, j * stride + code * len(lanes), lanes)
        return multiply_add(row, load(weights, at, lanes), sums)
    row = j * stride + code * len(lanes) * blocks
    if first is not None:
        sums = multiply_add(load(basis, row, lanes), load(weights, at, lanes), sums)
        second = load(basis, row + len(lanes), lanes)
        at = at + item(first, code)
        return multiply_add(second, load(weights, at, lanes), sums)
    for b in range(blocks):
        row_block = load(basis, row + b * len(lanes), lanes)
        sums = multiply_add(row_block, load(weights, at + b * len(lanes), lanes), sums)
    return sums


@inner()
def sum_codes(codes, features, begin, stop, weights, size, basis, stride, lanes, blocks, first):
    """Return the sums of the products of one row's codes, ``begin`` … ``stop`` - 1, and weights."""
    # Four sums at a time, because each addition waits for the previous one.
    a = b = c = d = fill(weights.dtype.type(0), lanes)
    form = size, basis, stride, lanes, blocks, first
    k = begin
    while k + 4 <= stop:
        a = _apply(codes, features, k, begin, weights, a, *form)
        b = _apply(codes, features, k + 1, begin, weights, b, *form)
        c = _apply(codes, features, k + 2, begin, weights, c, *form)
        d = _apply(codes, features, k + 3, begin, weights, d, *form)
        k += 4
    while k < stop:
        a = _apply(codes, features, k, begin, weights, a, *form)
        k += 1
    return add(add(a, b), add(c, d))


@loop(inline="always")
def evaluate(rows, i, form, weights):
    """Return the function's value at row i."""
    sums = sum_codes(
        rows.codes,
        rows.features,
        rows.bounds[i],
        rows.bounds[i + 1],
        weights,
        form.size,
        form.basis,
        form.basis_stride,
        form.basis_lanes,
        form.basis_blocks,
        form.first,
    )
    return total(sums)


@loop()
def look_up(rows, tables, size, lanes, out):
    """Fill ``out`` (n, lanes), flat, with the sums of the rows of tables (d, codes, lanes)."""
    codes, bounds, features = rows
    for i in range(len(bounds) - 1):
        begin = bounds[i]
        stop = bounds[i + 1]
        sums = sum_codes(codes, features, begin, stop, tables, size, None, 0, lanes, None, None)
        store(out, i * len(lanes), sums)


@loop(inline="always")
def change(rows, i, form, step, weights):
    """Add ``step`` times the features of row i to the weights, float32 or float64."""
    _change(
        rows.codes,
        rows.features,
        rows.bounds[i],
        rows.bounds[i + 1],
        weights.dtype.type(step),
        weights,
        form.size,
        form.rows,
        form.rows_stride,
        form.rows_lanes,
        form.rows_blocks,
        form.origin,
        form.scale,
        form.scale_stride,
    )


@inner()
def _change(
    codes,
    features,
    begin,
    stop,
    step,
    weights,
    size,
    table,
    stride,
    lanes,
    blocks,
    origin,
    scale,
    scale_stride,
):
    form = size, table, stride, lanes, blocks, origin, scale, scale_stride
    for k in range(begin, stop):
        j = k - begin if features is None else int64(item(features, k))
        _change_by_code(j, int64(item(codes, k)), step, weights, *form)


@inner()
def _change_by_code(
    j, code, step, weights, size, table, stride, lanes, blocks, origin, scale, scale_stride
):
    """Add ``step`` times what a code of feature j stands for to the weights."""
    at = j * size
    steps = fill(weights.dtype.type(step * item(scale, j * scale_stride)), lanes)
    if blocks is None:
        if origin is not None:
            at += item(origin, code)
        _change_block(weights, at, table, j * stride + code * len(lanes), steps, lanes)
        return
    row = j * stride + code * len(lanes) * blocks
    if origin is not None:
        _change_block(weights, at, table, row, steps, lanes)
        at += item(origin, code)
        _change_block(weights, at, table, row + len(lanes), steps, lanes)
        return
    for b in range(blocks):
        shift = b * len(lanes)
        _change_block(weights, at + shift, table, row + shift, steps, lanes)


@inner()
def _change_block(weights, at, table, row, steps, lanes):
    values = widened(load(table, row, lanes), weights)
    changed = multiply_add(values, steps, load(weights, at, lanes))
    store(weights, at, changed)


@loop()
def evaluate_rows(rows, members, form, weights, out):
    """Fill ``out`` with the function's values at the members' rows."""
    for i in range(len(out)):
        out[i] = evaluate(rows, members[i], form, weights)


@loop()
def count_stored(bounds, members, factors):
    """Return how many codes the members' rows have, of those whose factor is not zero."""
    n_codes = 0
    for i in range(len(members)):
        if factors[i] != 0:
            n_codes += bounds[members[i] + 1] - bounds[members[i]]
    return n_codes


@loop()
def sum_in_order(values):
    """Return the sum of the values, added up one after the other."""
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return total


@loop()
def add_up_rows(rows, members, factors, form, weights):
    """Set the weights to the sum of the features of the members' rows, each times its factor.

    A long sum in single precision over the rows of one class would be cancelled by the next class,
    and leave rounding. So blocks of rows are added up in single precision, and the blocks in double
    precision.
    """
    sums = aligned_zeros(len(weights), np.float64)
    weights[:] = 0
    n_summed = 0
    for i in range(len(members)):
        if factors[i] == 0:
            continue
        if n_summed == _ROWS_A_BLOCK:
            for k in range(len(weights)):
                sums[k] += weights[k]
                weights[k] = 0
            n_summed = 0
        change(rows, members[i], form, factors[i], weights)
        n_summed += 1
    for k in range(len(weights)):
        weights[k] = sums[k] + weights[k]


@loop()
def change_by_codes(of_codes, form, weights):
    """Add ``of_codes[feature, code]`` times what each code stands for to the weights."""
    _change_by_codes(
        of_codes,
        weights,
        form.size,
        form.rows,
        form.rows_stride,
        form.rows_lanes,
        form.rows_blocks,
        form.origin,
        form.scale,
        form.scale_stride,
    )


@inner()
def _change_by_codes(
    of_codes, weights, size, table, stride, lanes, blocks, origin, scale, scale_stride
):
    form = size, table, stride, lanes, blocks, origin, scale, scale_stride
    for j in range(of_codes.shape[0]):
        for code in range(of_codes.shape[1]):
            if of_codes[j, code] != 0:
                _change_by_code(j, code, of_codes[j, code], weights, *form)


@inner()
def approach(codes, features, start, stop):
    """Ask for codes that are needed soon: rows are visited in no order that can be foreseen."""
    for k in range(start, stop, _LINE):
        prefetch(codes, k)
    if features is not None:
        for k in range(start, stop, _LINE // features.itemsize):
            prefetch(features, k)


@loop()
def square_norms(codes, bounds, features, diagonal, stride, scale, out):
    """Fill ``out`` with k(row, row), from the ``diagonal``: k(level, level) for each level."""
    for i in range(len(out)):
        start = bounds[i]
        norm = 0.0
        for k in range(start, bounds[i + 1]):
            j = k - start if features is None else int64(item(features, k))
            value = diagonal[j * stride + int64(item(codes, k))]
            norm += value if scale is None else scale[j] * value
        out[i] = norm
