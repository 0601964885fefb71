"""Four ways for the codes to act on the weights, and which of them is the fastest.

Low rank: the features of a code are a row of r values; it takes r products to evaluate them and r
to change the weights. Full: the weights are the function itself, its value on each of the m levels;
it takes one look-up to evaluate and m products to change, with a row of the kernel matrix of the
levels. Local: the weights of B-splines, of which p + 1 are not zero at a level; it takes p + 1
products to evaluate, and to change either the same p + 1 (penalty 0) or all m weights, by the
cumulative sums of lac Sect. 5, one row of sums for each level. Two-level: the levels lie in about
√L blocks. Given its values at the ends of all blocks, the function is independent across blocks, as
with the intersection kernel (the Markov property of Brownian motion). So there are features of the
ends, for all levels, and others of each block: twice √L products to evaluate and to change.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.forms import CodeRows, Form, square_norms
from kmaps._loops.vectors import aligned_zeros
from kmaps.checks import check_choice
from kmaps.errors import ConfigError, InputError
from kmaps.svm.coded.tables import Tables, padded
from kmaps.thread_pool import for_blocks

FORMS = ("low-rank", "full", "local", "two-level")

_Rows = tuple[NDArray[np.float32], int, tuple[int, ...], int | None]

_ONLY = {
    "local": "only a SplineMap or a sparse IntersectionMap whose features have their bins at the "
    "same levels has this form",
    "two-level": "only kernels like intersection, the same for all features, have this form",
}

_CHANGES = 0.5  # per evaluation: 1/3 to 9/10 on MNIST and Daimler, more with a larger C
_BLOCK_ROWS = 1 << 12
# Limits for the kernel of a value with itself: sums over features and samples, times C, then stay
# inside single precision, 1e-45 to 3.4e38.
SINGLE_RANGE = 1e-30, 1e30
_SECOND_CACHE = 1 << 20  # bytes
_LARGEST = 64 << 20  # bytes: with larger tables, one per feature, a full form is not considered


@dataclass(frozen=True)
class Layout:
    """A form for the loops, and its consequences."""

    name: str
    form: Form
    # (1 or d, L): the kernel of each level with itself, before the scale of the feature
    diagonal: NDArray[np.float64]
    scale: NDArray[np.float64] | None  # (d,): factor of each feature on the kernel
    # (1 or d, L, m): turns the first m weights of a feature into the function's values on the
    # levels; None: the weights are these values
    basis: NDArray[np.float32] | None
    # (1 or d, L, r): features of the levels, before √scale, whose weights v have the plain norm;
    # None: those of the basis, if it has them
    features: NDArray[np.float64] | None = None
    # (1 or d, m, r): turns v into the first m weights; None: these are v
    to_weights: NDArray[np.float64] | None = None

    def square_norms(self, rows: CodeRows) -> NDArray[np.float64]:
        """Return the kernel of each row with itself."""
        norms = np.empty(len(rows.bounds) - 1)
        stride = 0 if len(self.diagonal) == 1 else self.diagonal.shape[1]
        diagonal = self.diagonal.reshape(-1)

        def block(start: int, stop: int) -> None:
            block_rows = rows.codes, rows.bounds[start : stop + 1], rows.features
            square_norms(*block_rows, diagonal, stride, self.scale, norms[start:stop])

        for_blocks(block, len(norms), _BLOCK_ROWS)
        return norms

    def kept(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weights (d, m) that belong to the basis, without padding."""
        own = self.diagonal.shape[1] if self.basis is None else self.basis.shape[2]
        return weights.reshape(-1, self.form.size)[:, :own].copy()

    def laid_out(self, kept: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weights with padding of those (d, m) that :meth:`kept` returns."""
        weights = aligned_zeros(len(kept) * self.form.size)
        weights.reshape(len(kept), -1)[:, : kept.shape[1]] = kept
        return weights


def choose(tables: Tables, wanted: str = "auto") -> Layout:
    """Return the wanted form, or the one with the least `cost`."""
    check_choice("form", wanted, ("auto", *FORMS))
    largest = float(_squares(tables.values).max())
    if tables.scale is not None:
        largest *= float(tables.scale.max())
    smallest, most = SINGLE_RANGE
    if largest and not smallest <= largest <= most:
        raise InputError(
            f"the kernel of a value with itself is up to {largest:.2g}: training on codes is in "
            f"single precision and takes {smallest:g} to {most:g}; multiply the features by a "
            "number"
        )
    if wanted == "auto":
        wanted = min(FORMS, key=lambda name: cost(tables, name))
    layout = {"low-rank": _low_rank, "full": _full, "local": _local, "two-level": _two_level}
    made = layout[wanted](tables)
    if made is None:
        raise ConfigError(f"form={wanted!r}: {_ONLY[wanted]}; choose form='auto'")
    return made


def cost(tables: Tables, name: str) -> float:
    """Return about how many nanoseconds a code takes: an evaluation, and its share of a change.

    Measured on one core with AVX-512, for 1,400 features; only the order of the forms counts. A row
    of up to 16 values takes little more than one value. Tables of their own for many features lie
    outside the first caches.
    """
    n_tables, m, r = tables.values.shape
    outside = n_tables * m * r * 4 > _SECOND_CACHE
    if name == "low-rank":
        row = 0.35 + 0.025 * r if r <= 16 else 0.07 * r
        return (1 + _CHANGES) * (row + (0.4 * r if outside else 0))
    if name == "full":
        if n_tables * m * m * 4 > _LARGEST:
            return np.inf
        return 0.6 + _CHANGES * (0.5 + 0.08 * m) * (1 if n_tables == 1 else 3)
    if name == "two-level":
        if tables.two_level is None:
            return np.inf
        return (1 + _CHANGES) * 0.16 * tables.two_level.ends.shape[1]
    if tables.local is None:
        return np.inf
    changed = 0.4 if tables.local.kernel is None else 0.08 * len(tables.local.kernel)
    return 0.8 + _CHANGES * (0.5 + changed)


def _low_rank(tables: Tables) -> Layout:
    values = tables.values
    size, rows = _rows(values)
    form = Form(size, *rows, None, *rows, None, *_factors(tables))
    return Layout("low-rank", form, _squares(values), tables.scale, values.astype(np.float32))


def _full(tables: Tables) -> Layout:
    size, rows = _rows(tables.values @ tables.values.swapaxes(1, 2))
    form = Form(size, None, 0, (0,), None, None, *rows, None, *_factors(tables))
    values = tables.values  # their weights v make the function values @ v
    return Layout("full", form, _squares(values), tables.scale, None, values, values)


def _local(tables: Tables) -> Layout | None:
    local = tables.local
    if local is None:
        return None
    splines = local.dense
    basis = np.ascontiguousarray(local.basis, np.float32)
    values = basis.reshape(-1)  # one array for both, if changes use the values too
    first, width = local.first.astype(np.int64), (0,) * basis.shape[1]
    by_values: _Rows = (values, 0, width, None)
    size, change, origin = splines.shape[1], by_values, first
    if local.kernel is not None:
        (size, change), origin = _rows((splines @ local.kernel)[None]), None
    form = Form(size, *by_values, first, *change, origin, *_factors(tables))
    basis_of_all = splines[None].astype(np.float32)
    features = to_weights = None
    if local.kernel is not None:  # with the kernel R R', the weights R v have the norm of v
        root = np.linalg.cholesky(local.kernel).astype(np.float64)
        features = (splines @ root)[None]
        to_weights = root[None]
    diagonal = _squares(tables.values)
    return Layout("local", form, diagonal, tables.scale, basis_of_all, features, to_weights)


def _two_level(tables: Tables) -> Layout | None:
    levels = tables.two_level
    if levels is None:
        return None
    table = _rows(np.hstack([levels.ends, levels.inside])[None])[1][0]
    lanes = levels.ends.shape[1]
    begin = lanes * (1 + levels.block)
    size = int(begin[-1]) + lanes
    basis = np.zeros((len(begin), size), np.float32)
    basis[:, :lanes] = levels.ends
    np.put_along_axis(basis, begin[:, None] + np.arange(lanes), levels.inside, axis=1)
    rows = table, 0, (0,) * lanes, 2, begin.astype(np.int64)
    form = Form(size, *rows, *rows, *_factors(tables))
    return Layout("two-level", form, _squares(tables.values), tables.scale, basis[None])


def _rows(values: NDArray) -> tuple[int, _Rows]:
    """Return the padded r of rows (f, L, r), and these as `Form` has them."""
    lanes, blocks = padded(values.shape[2])
    flat = aligned_zeros(values.shape[0] * values.shape[1] * lanes * blocks)
    rows = flat.reshape(*values.shape[:2], -1)
    rows[:, :, : values.shape[2]] = values
    stride = 0 if len(values) == 1 else flat.size // len(values)
    return lanes * blocks, (flat, stride, (0,) * lanes, None if blocks == 1 else blocks)


def _factors(tables: Tables) -> tuple[NDArray[np.float32], int]:
    """Return the factors on the changes of features, and their stride, as `Form` has them."""
    if tables.scale is None:
        return np.ones(1, np.float32), 0
    return tables.scale.astype(np.float32), 1


def _squares(values: NDArray) -> NDArray[np.float64]:
    return np.einsum("jlr,jlr->jl", values, values)
