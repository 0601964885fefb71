"""Sums over rows of codes that Newton's method needs: see `kmaps.svm.coded.code_design`.

Functions of codes are arrays (d, L) of float64, one value for each level of each feature; codes
that a row leaves out count as zero. The columns of the levels of all features lie in one flat
array: feature j has an array of L rows and ``widths[j]`` columns from ``starts[j]`` on.
"""

import numpy as np

from kmaps._loops.compiling import inner, loop


@loop(error_model="numpy")
def add_functions(codes, bounds, features, members, functions, out):
    """Add the sum of the functions' values at each member's row to ``out``."""
    for i in range(len(members)):
        begin, stop = bounds[members[i]], bounds[members[i] + 1]
        # Four sums at a time, because each addition waits for the previous one.
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        k = begin
        while k + 4 <= stop:
            if features is None:
                j = k - begin
                a += functions[j, codes[k]]
                b += functions[j + 1, codes[k + 1]]
                c += functions[j + 2, codes[k + 2]]
                d += functions[j + 3, codes[k + 3]]
            else:
                a += functions[features[k], codes[k]]
                b += functions[features[k + 1], codes[k + 1]]
                c += functions[features[k + 2], codes[k + 2]]
                d += functions[features[k + 3], codes[k + 3]]
            k += 4
        while k < stop:
            j = k - begin if features is None else np.int64(features[k])
            a += functions[j, codes[k]]
            k += 1
        out[i] += (a + b) + (c + d)


@loop(error_model="numpy")
def gather_columns(codes, bounds, features, members, usual, out):
    """Fill ``out`` (d, m) with the codes of the members' rows, feature by feature.

    ``usual`` is the code of what a row leaves out.
    """
    n_features = out.shape[0]
    for first in range(0, len(members), 64):  # rows whose columns share lines of the cache
        last = min(first + 64, len(members))
        if features is not None:
            for j in range(n_features):
                for i in range(first, last):
                    out[j, i] = usual
        for i in range(first, last):
            begin = bounds[members[i]]
            for k in range(begin, bounds[members[i] + 1]):
                j = k - begin if features is None else np.int64(features[k])
                out[j, i] = codes[k]


@loop(error_model="numpy")
def evaluate_columns(values, starts, widths, offsets, weights, functions):
    """Fill ``functions`` (d, L) with the columns of each feature times its weights."""
    n_features, n_levels = functions.shape
    for j in range(n_features):
        width = widths[j]
        for level in range(n_levels):
            total, place = 0.0, starts[j] + level * width
            for q in range(width):
                total += values[place + q] * weights[offsets[j] + q]
            functions[j, level] = total


@loop(error_model="numpy")
def project_sums(values, starts, widths, offsets, sums, out):
    """Fill ``out`` (m,) with the transposed columns of each feature times its sums (d, L)."""
    n_features, n_levels = sums.shape
    for j in range(n_features):
        width = widths[j]
        projected = out[offsets[j] : offsets[j] + width]
        projected[:] = 0
        for level in range(n_levels):
            factor = sums[j, level]
            if factor != 0:
                place = starts[j] + level * width
                for q in range(width):
                    projected[q] += factor * values[place + q]


@inner(error_model="numpy")
def _add_block(out, top, left, block):
    """Add a matrix to ``out``, from a row and a column on."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            out[top + i, left + j] += block[i, j]


@loop(error_model="numpy")
def add_pair_counts(columns, curvature, values, starts, widths, offsets, n_levels, j, out):
    """Add feature j's rows of Ψ'NΨ to ``out`` (m, m), up to the diagonal.

    N counts pairs of codes: N[(j, l), (k, l')] is the sum of ``curvature`` over the rows whose
    codes of j and k are l and l'. ``columns`` (d, rows) are their codes.
    """
    width = widths[j]
    if width == 0:
        return
    table = values[starts[j] : starts[j] + n_levels * width].reshape(n_levels, width)
    counts = np.zeros((n_levels, n_levels))
    single = np.zeros(n_levels)
    for i in range(len(curvature)):
        single[columns[j, i]] += curvature[i]
    scaled = np.empty_like(table)
    for level in range(n_levels):
        for q in range(width):
            scaled[level, q] = single[level] * table[level, q]
    _add_block(out, offsets[j], offsets[j], np.dot(table.T, scaled))
    for k in range(j):
        if widths[k] == 0:
            continue
        counts[:] = 0
        first, second = columns[j], columns[k]
        for i in range(len(curvature)):
            counts[first[i], second[i]] += curvature[i]
        other = values[starts[k] : starts[k] + n_levels * widths[k]].reshape(n_levels, widths[k])
        product = np.dot(table.T, np.dot(counts, other))
        _add_block(out, offsets[j], offsets[k], product)


@loop(error_model="numpy")
def expand_rows(columns, values, starts, widths, offsets, out):
    """Fill ``out`` (rows, m) with the columns of all features at the rows' codes."""
    n_features, n_rows = columns.shape
    for j in range(n_features):
        width = widths[j]
        for i in range(n_rows):
            place = starts[j] + columns[j, i] * width
            row = out[i]
            for q in range(width):
                row[offsets[j] + q] = values[place + q]
