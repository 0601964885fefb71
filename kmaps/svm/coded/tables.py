r"""The tables of a map on levels, made small.

A model sees of a map only the kernel matrix of the levels of each feature. So levels with equal
rows may share one, features whose kernels are multiples of each other may share a table, and
columns may be replaced by fewer.

The second derivative of a function may have a price: with :math:`u` a feature's values taken to 0 …
1, the penalty on its function f gets :math:`\frac s2 \int_0^1 f''(u)^2 du` more, as for a smoothing
spline (lac Sect. 3 penalises the differences of spline weights alike). On the levels
:math:`f = B w` for the columns B of a table, the integral is a sum of squares :math:`|D B w|^2` of
divided differences, and

.. math:: |w|^2 + s |D B w|^2 = |v|^2, \qquad f = B (I + s (DB)^\top DB)^{-1/2} v:

the same problem with other columns.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from kmaps.kernels import ScalarKernel, get_kernel
from kmaps.maps.capabilities import LocallyTabulated, Regularized, Tabulated
from kmaps.mercer import check_mercer

_ROUNDING = 1e-9  # part of the largest value that counts as the same
_NEGLIGIBLE = 1e-6  # part of the largest kernel value: the columns left out add up to less
_LAST_DIGITS = 1e-14  # part of the largest kernel value that is rounding
_WIDE = 16  # fewer columns cost almost nothing
_WIDEST_ROTATION = 32  # columns: wider tables, one per feature, are not rotated


@dataclass(frozen=True)
class LocalTables:
    """B-splines on the codes, the same for all features up to the scale of `Tables`."""

    first: NDArray[np.intp]  # (L,): the first of the splines that are not zero
    basis: NDArray[np.float64]  # (L, p + 1): their values
    # (m, m): the inverse of the penalty on the weights of the m splines; None: the identity
    kernel: NDArray[np.float64] | None

    @property
    def dense(self) -> NDArray[np.float64]:
        """The values of all splines, (L, m)."""
        last = int(self.first.max()) + self.basis.shape[1]
        m = last if self.kernel is None else len(self.kernel)
        values = np.zeros((len(self.first), m))
        columns = self.first[:, None] + np.arange(self.basis.shape[1])
        np.put_along_axis(values, columns, self.basis, axis=1)
        return values


@dataclass(frozen=True)
class TwoLevelTables:
    """Features of the ends of blocks of levels, and of the levels between the ends."""

    ends: NDArray[np.float64]  # (L, lanes): the features of each level that all blocks share
    inside: NDArray[np.float64]  # (L, lanes): the features that only the levels of one block have
    block: NDArray[np.intp]  # (L,): the block of each level


@dataclass(frozen=True)
class Tables:
    """Outputs of the codes."""

    values: NDArray[np.float64]  # (1 or d, L, r)
    # (d,): factor of each feature on the kernel of a table that all share
    scale: NDArray[np.float64] | None = None
    # (1 or d, levels): the row of each level when some share one
    cells: NDArray[np.uint8] | None = None
    local: LocalTables | None = None

    @property
    def zero(self) -> NDArray[np.intp]:
        """A row that is zero for all features, or none."""
        return np.flatnonzero(~self.values.any(axis=(0, 2)))[:1]

    @cached_property
    def two_level(self) -> TwoLevelTables | None:
        """The same kernel in two levels, if it has this form and more columns than are cheap."""
        n_tables, m, r = self.values.shape
        if n_tables > 1 or r <= _WIDE:
            return None
        lanes = 8 if m <= 64 else 16
        block = np.arange(m) // lanes
        kernel = self.values[0] @ self.values[0].T
        last = np.flatnonzero(np.diff(block, append=block[-1] + 1))
        # The ends explain a part of the kernel; the rest must stay inside its block.
        rounding = _LAST_DIGITS * np.diagonal(kernel).max()
        ends = kernel[:, last] @ np.linalg.pinv(_columns(kernel[np.ix_(last, last)], rounding)).T
        rest = kernel - ends @ ends.T
        own = block[:, None] == block[None, :]
        if np.abs(rest[~own]).max() > _NEGLIGIBLE * np.diagonal(kernel).max():
            return None
        inside = np.zeros((m, lanes))
        for b in range(block[-1] + 1):
            members = np.flatnonzero(block == b)
            columns = _columns(rest[np.ix_(members, members)], rounding)
            inside[members, : columns.shape[1]] = columns
        inside[~self.values[0].any(axis=1)] = 0
        # The kernel of the ends may have fewer columns than there are ends.
        ends = np.pad(ends, [(0, 0), (0, lanes - ends.shape[1])])
        return TwoLevelTables(ends, inside, block)


def tabulate(map: Tabulated | ScalarKernel | str, levels: NDArray) -> Tables:
    """Return the tables of a fitted map, or of a kernel, on levels (f, L)."""
    if not isinstance(map, Tabulated):
        kernels = [_exact(map, row) for row in levels]
        columns = [_columns(kernel, _NEGLIGIBLE * np.diagonal(kernel).max()) for kernel in kernels]
        widest = max(own.shape[1] for own in columns)
        values = np.stack([np.pad(own, [(0, 0), (0, widest - own.shape[1])]) for own in columns])
        return shared(Tables(values))
    levels = levels if len(levels) > 1 else levels[0]
    if isinstance(map, LocallyTabulated):
        local = _local(*map.tabulate_local(levels))
        if local is not None:
            return local
    values = np.asarray(map.tabulate(levels), np.float64)
    if isinstance(map, Regularized):
        neighbours = _neighbours(values)
        if neighbours is not None:
            local = _local(*neighbours, np.linalg.inv(map.regularizer_))
            if local is not None:
                return local
        # With H = C Cᵀ, the features C⁻¹φ go with the plain square of the weights.
        values = values @ np.linalg.inv(np.linalg.cholesky(map.regularizer_)).T
    return narrowed(shared(merged(values)))


def padded(r: int) -> tuple[int, int]:
    """Return lanes and blocks that make room for r columns."""
    lanes = next((lanes for lanes in (4, 8) if r <= lanes), 16)
    return lanes, -(-r // lanes)


def _exact(kernel: ScalarKernel | str, levels: NDArray) -> NDArray:
    """Return the kernel matrix (L, L) of the levels (L,) of a feature."""
    if isinstance(kernel, str):
        return get_kernel(kernel)(levels[:, None], levels[None, :])
    different, places = np.unique(levels, return_inverse=True)
    return check_mercer(kernel, different)[np.ix_(places, places)]


def _neighbours(values: NDArray) -> tuple[NDArray[np.intp], NDArray] | None:
    """Return the first of the two neighbours that are not zero, (f, L), and both, (f, L, 2).

    None if more than two neighbours are.
    """
    if values.shape[2] < 2:
        return None
    # At the end of a bin one spline is zero except for rounding, for every feature the same.
    values = np.where(np.abs(values) > _ROUNDING * np.abs(values).max(), values, 0)
    first = np.minimum((values != 0).argmax(axis=2), values.shape[2] - 2)
    both = np.take_along_axis(values, first[..., None] + np.arange(2), axis=2)
    return (first, both) if np.count_nonzero(both) == np.count_nonzero(values) else None


def _local(first: NDArray, basis: NDArray, kernel: NDArray) -> Tables | None:
    """Return the tables of B-splines if they are the same for all features, up to a scale."""
    squares = np.einsum("jlq,jlq->j", basis, basis)
    reference = int(squares.argmax())
    if squares[reference] == 0:
        return None
    scale = squares / squares[reference]
    varies = scale > 0
    expected = np.sqrt(scale)[:, None, None] * basis[reference]
    same_splines = (first[varies] == first[reference]).all()
    if not same_splines or np.abs(basis - expected).max() > _ROUNDING * np.abs(expected).max():
        return None
    plain = np.array_equal(kernel, np.eye(len(kernel)))
    local = LocalTables(first[reference], basis[reference], None if plain else kernel)
    splines = local.dense
    matrix = splines @ kernel[: splines.shape[1], : splines.shape[1]] @ splines.T
    columns = _columns(matrix, _NEGLIGIBLE * np.diagonal(matrix).max())
    return Tables(columns[None], None if len(scale) == 1 else scale, None, local)


def merged(values: NDArray) -> Tables:
    """Give equal neighbours one row, if that leaves at most half of them."""
    weights = np.random.default_rng(0).random(values.shape[2])
    projected = values @ weights  # differs where any output does
    steps = np.diff(projected, axis=1) != 0
    cells = np.concatenate([np.zeros((len(values), 1), np.intp), steps.cumsum(axis=1)], axis=1)
    n_cells = int(cells.max()) + 1
    if 2 * n_cells > values.shape[1]:
        return Tables(values)
    rows = np.repeat(values[:, -1:], n_cells, axis=1)
    rows[np.arange(len(values))[:, None], cells] = values
    return Tables(rows, cells=cells.astype(np.uint8))


def shared(tables: Tables) -> Tables:
    """Keep one table if the kernels of all features are multiples of one."""
    values = tables.values
    if len(values) == 1:
        return tables
    traces = np.einsum("jlr,jlr->j", values, values)
    reference = int(traces.argmax())
    if traces[reference] == 0:
        return Tables(values[:1], tables.scale, tables.cells)
    scale = traces / traces[reference]
    # Matrices with equal products with random vectors are equal.
    probes = np.random.default_rng(0).random((values.shape[1], 3))
    products = values @ (values.swapaxes(1, 2) @ probes)
    expected = products[reference]
    difference = np.abs(products - scale[:, None, None] * expected).max()
    if difference > _ROUNDING * np.abs(expected).max():
        return tables
    return Tables(values[[reference]], scale, tables.cells)


def narrowed(tables: Tables) -> Tables:
    """Return as few columns as possible with the same kernel, without negligible ones."""
    values = tables.values
    if len(values) == 1:
        kernel = values[0] @ values[0].T
        columns = _columns(kernel, _NEGLIGIBLE * np.diagonal(kernel).max())[None]
        return Tables(columns, tables.scale, tables.cells)
    if values.shape[2] > _WIDEST_ROTATION:
        return tables
    rows = values @ np.linalg.eigh(values.swapaxes(1, 2) @ values)[1][:, :, ::-1]
    left_out = np.cumsum(rows[:, :, ::-1] ** 2, axis=2)[:, :, ::-1].max(axis=(0, 1))
    r = prod(padded(max(1, int((left_out > _NEGLIGIBLE * left_out[0]).sum()))))
    rotated = np.ascontiguousarray(rows[:, :, :r]) * values.any(axis=2, keepdims=True)
    return Tables(rotated, tables.scale, tables.cells)


def _columns(kernel: NDArray, tolerance: float) -> NDArray:
    """Return columns C (L, r) with C Cᵀ the kernel matrix, up to ``tolerance`` on its diagonal.

    By Cholesky's factorisation, always on the level that is explained least: for small, smooth
    matrices these are nearly as few columns as there can be, and sooner found than eigenvectors.
    The last vector is filled as long as there is something to explain.
    """
    rest = np.diagonal(kernel).copy()
    rounding = _LAST_DIGITS * rest.max()
    columns, r = np.zeros_like(kernel), 0
    while r < len(kernel):
        pivot = int(rest.argmax())
        is_full = prod(padded(r)) == r
        if rest[pivot] <= (tolerance if is_full else rounding):
            break
        column = kernel[:, pivot] - columns[:, :r] @ columns[pivot, :r]
        columns[:, r] = column / np.sqrt(rest[pivot])
        rest = np.maximum(rest - columns[:, r] ** 2, 0)
        rest[pivot] = 0
        r += 1
    # A level that maps to zero stays there, without rounding.
    return columns[:, : max(r, 1)] * (np.diagonal(kernel)[:, None] > 0)


def without_features(tables: Tables, features: NDArray[np.intp], n_features: int) -> Tables:
    """Return tables in which some features map to zero, so that their weights stay zero."""
    if len(tables.values) > 1:
        values = tables.values.copy()
        values[features] = 0
        return replace(tables, values=values)
    scale = np.ones(n_features) if tables.scale is None else tables.scale.copy()
    scale[features] = 0
    return replace(tables, scale=scale)


_NEAREST = 1e-4  # the least distance of neighbouring levels, as a part of the range


def smoothed(tables: Tables, levels: NDArray[np.float64], smooth: float) -> Tables:
    """Return tables of which the squared norm of weights has the price of curvature in it.

    ``levels`` (1 or d, L) ascend; a feature with fewer repeats its last.
    """
    if smooth == 0:
        return tables
    values, cells, scale = tables.values, tables.cells, tables.scale
    n = max(len(values), len(levels), 1 if scale is None else len(scale))
    positions = [_positions(row) for row in levels]
    made: dict[tuple[int, int, float, bytes], NDArray] = {}
    factors = []
    for j in range(n):
        table, row = j % len(values), 0 if cells is None else j % len(cells)
        factor = 1.0 if scale is None else float(scale[j])
        first, places = positions[j % len(levels)]
        key = table, row, factor, places.round(12).tobytes()
        if key not in made:
            own = np.sqrt(factor) * values[table]
            of_levels = first if cells is None else cells[row][first]
            made[key] = own @ _shrinking(own[of_levels], places, smooth)
        factors.append(made[key])
    if len(made) == 1:
        factors = factors[:1]
    return narrowed(shared(Tables(np.stack(factors), cells=cells)))


def _positions(levels: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the first place of each different level, and where these lie between 0 and 1."""
    different, first = np.unique(levels, return_index=True)
    steps = np.diff(different) / max(different[-1] - different[0], np.finfo(float).tiny)
    return first, np.concatenate([[0.0], np.cumsum(np.maximum(steps, _NEAREST))])


def _shrinking(columns: NDArray, places: NDArray, smooth: float) -> NDArray:
    """Return (I + s S'S)^(-1/2) for the curvature S of the columns at some places."""
    if len(places) < 3:
        return np.eye(columns.shape[1])
    steps = np.diff(places)[:, None]
    slopes = np.diff(columns, axis=0) / steps
    # Second derivatives at the inner places, each for half of the two neighbouring steps.
    curvature = np.diff(slopes, axis=0) / np.sqrt((steps[1:] + steps[:-1]) / 2)
    _, singular, axes = np.linalg.svd(curvature, full_matrices=False)
    lost = 1 - 1 / np.sqrt(1 + smooth * singular**2)
    return np.eye(columns.shape[1]) - (axes.T * lost) @ axes
