r"""Kernel matrices of a map's outputs, without the outputs: of the codes of its samples.

With the outputs :math:`\varphi_j(c)` of code c of feature j, and its usual code :math:`u_j`,

.. math::
    \sum_j \varphi_j(a_j) \cdot \varphi_j(b_j) = \sum_j \psi_j(a_j) \cdot \psi_j(b_j)
    + s(a) + s(b) + \sum_j \varphi_j(u_j)^2, \qquad \psi_j(c) = \varphi_j(c) - \varphi_j(u_j),
    \quad s(a) = \sum_j \psi_j(a_j) \cdot \varphi_j(u_j),

so that only features count in which neither sample is usual: of sparse histograms few, whatever the
map makes of zero. Seldom usual features are multiplied as matrices, the others pair by pair.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from kmaps._loops import code_gram as loops
from kmaps.errors import ConfigError
from kmaps.svm.coded.training import CodedRows
from kmaps.svm.losses import Floats
from kmaps.svm.reduction import Places
from kmaps.thread_pool import for_blocks

_BLOCK_ROWS = 256
_BLOCK_VALUES = 1 << 22  # outputs of frequent features at once
_PAIR = 80  # BLAS does so many multiply-adds in the time of one pair of listed codes


def code_gram(rows: CodedRows, others: CodedRows | None = None) -> NDArray[np.float32]:
    """Return the kernel matrix (n, m) of a map on codes, K(x, y) = φ(x)·φ(y), in float32.

    Use it where features outnumber samples by far, as in histograms of visual words: LIBSVM trains
    on it (`KernelSVC` with ``kernel="precomputed"``) whatever the number of features and outputs.
    Entries are right to about 1e-6 of the largest one.

    Parameters
    ----------
    rows : CodedRows
        n samples as codes, of :func:`code_rows` with ``form="low-rank"``.
    others : CodedRows or None, default=None
        m samples in the same codes, of ``rows.encode``. By default they are the samples of
        ``rows``, at half the work, and the result is exactly symmetric.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The kernel of each sample of ``rows`` with each of ``others``.

    Examples
    --------
    >>> from kmaps import HomogeneousMap
    >>> from kmaps.svm import KernelSVC, code_rows
    >>> X = np.random.default_rng(0).random((60, 5))
    >>> y = np.where(X[:, 0] > X[:, 1], "left", "right")
    >>> training_rows = code_rows(HomogeneousMap("chi2"), lambda: [X[:40]], form="low-rank")
    >>> model = KernelSVC("precomputed", C=10).fit(code_gram(training_rows), y[:40])
    >>> unseen = training_rows.encode(X[40:])
    >>> bool((model.predict(code_gram(unseen, training_rows)) == y[40:]).mean() > 0.8)
    True
    """
    columns = rows if others is None else others
    if columns.layout is not rows.layout:
        raise ConfigError("others: has other levels than rows; pass rows.encode(X)")
    outputs = _outputs(columns)
    walked = _unusual(rows, outputs.usual)
    listed = walked if others is None else _unusual(columns, outputs.usual)
    out = np.empty((walked.shape[0], listed.shape[0]), np.float32)
    pairs = _Pairs(walked, listed, outputs, symmetric=others is None)
    frequent = _frequent(pairs)
    _fill_seldom(out, pairs, frequent)
    _add_frequent(out, pairs, np.flatnonzero(frequent))
    if others is None:
        above = np.triu_indices(len(out), 1)
        out[above] = out.T[above]
    _add_usual(out, walked, listed, outputs)
    return out


class _Outputs(NamedTuple):
    """The outputs of each code."""

    table: NDArray[np.float32]  # (1 or d, r, L)
    usual: NDArray[np.uint8]  # (d,): the usual code of each feature
    scale: Floats  # (d,): the factor on the products of a feature


def _outputs(rows: CodedRows) -> _Outputs:
    layout, d = rows.layout, rows.n_features
    if layout.name != "low-rank" or layout.basis is None:
        raise ConfigError(f"rows are coded for form={layout.name!r}; code them for form='low-rank'")
    usual = np.empty(d, np.uint8)
    if len(rows.zero):
        usual[:] = rows.zero[0]
    else:  # then no codes are left out
        usual[:] = [np.bincount(column).argmax() for column in rows.rows.codes.reshape(-1, d).T]
    scale = np.ones(d) if layout.scale is None else layout.scale
    return _Outputs(np.ascontiguousarray(layout.basis.swapaxes(1, 2)), usual, scale)


def _unusual(rows: CodedRows, usual: NDArray[np.uint8]) -> csr_array:
    """Return the codes of samples that are not the usual ones; code 0 may be among them."""
    held, shape = rows.rows, (len(rows.rows.bounds) - 1, rows.n_features)
    if held.features is None:
        codes = held.codes.reshape(shape)
        sample, feature = np.nonzero(codes != usual)
        bounds = np.searchsorted(sample, np.arange(shape[0] + 1))
        listed = csr_array((codes[sample, feature], feature, bounds), shape)
    else:
        listed = csr_array((held.codes, held.features, held.bounds), shape)
    if rows.members is not None:
        listed = listed[rows.members]
    return listed if listed.has_sorted_indices else listed.sorted_indices()


class _Pairs(NamedTuple):
    """The samples of both sides as codes that are not usual; symmetric: of one side twice."""

    walked: csr_array
    listed: csr_array
    outputs: _Outputs
    symmetric: bool


def _frequent(pairs: _Pairs) -> NDArray[np.bool_]:
    """Return for which features a product of matrices takes less time than pair by pair."""
    (n, d), m = pairs.walked.shape, pairs.listed.shape[0]
    counts = [np.bincount(side.indices, minlength=d) for side in (pairs.walked, pairs.listed)]
    return counts[0] * counts[1] * _PAIR > n * m * pairs.outputs.table.shape[1]


def _fill_seldom(out: NDArray[np.float32], pairs: _Pairs, frequent: NDArray[np.bool_]) -> None:
    """Fill the products of the features that are not frequent; symmetric: below the diagonal."""
    walked, by_feature = (_without(side, frequent) for side in (pairs.walked, pairs.listed))
    by_feature = by_feature.tocsc()
    numbers = by_feature.indices.astype(np.uint32)  # unsigned: no test for negative ones
    lists = by_feature.indptr, numbers, by_feature.data

    def fill(start: int, stop: int) -> None:
        lists_of_rows = walked.indptr[start : stop + 1], walked.indices, walked.data
        first = start if pairs.symmetric else -1
        loops.fill_products(lists_of_rows, lists, *pairs.outputs, first, out[start:stop])

    for_blocks(fill, len(out), _BLOCK_ROWS)


def _without(listed: csr_array, features: NDArray[np.bool_]) -> csr_array:
    stays = ~features[listed.indices]
    bounds = np.concatenate([[0], np.cumsum(stays)])[listed.indptr]
    return csr_array((listed.data[stays], listed.indices[stays], bounds), listed.shape)


def _add_frequent(out: NDArray[np.float32], pairs: _Pairs, features: Places) -> None:
    """Add the products of frequent features, as matrices; symmetric: below the diagonal."""
    sides = (pairs.walked,) if pairs.symmetric else (pairs.walked, pairs.listed)
    by_feature = [side.tocsc() for side in sides]
    width = max(1, _BLOCK_VALUES // (max(out.shape) * pairs.outputs.table.shape[1]))
    # With one thread of BLAS for each of ours, their number changes no digit.
    with threadpool_limits(1, "blas"):
        for first in range(0, len(features), width):
            some = features[first : first + width]
            dense = [_without_usual(side[:, some], pairs.outputs, some) for side in by_feature]

            def add(start: int, stop: int, dense: list[NDArray] = dense) -> None:
                last = stop if pairs.symmetric else len(dense[-1])
                out[start:stop, :last] += dense[0][start:stop] @ dense[-1][:last].T

            for_blocks(add, len(out), _BLOCK_ROWS)


def _without_usual(listed: csr_array, outputs: _Outputs, features: Places) -> NDArray[np.float32]:
    """Return the outputs of all samples (n, k · r) for k features, less the usual codes'."""
    usual, places = outputs.usual[features], np.arange(len(features))
    codes = np.tile(usual, (listed.shape[0], 1))
    codes[listed.indices, np.repeat(places, np.diff(listed.indptr))] = listed.data
    table = outputs.table[features if len(outputs.table) > 1 else np.zeros_like(features)]
    table = table - table[places, :, usual][..., None]
    table *= np.sqrt(outputs.scale[features], dtype=np.float32)[:, None, None]
    return table.swapaxes(1, 2)[places, codes].reshape(len(codes), -1)


def _add_usual(
    out: NDArray[np.float32], walked: csr_array, listed: csr_array, outputs: _Outputs
) -> None:
    """Add s(a) + s(b) and the squares of the usual codes' outputs."""
    own = np.arange(len(outputs.usual)) if len(outputs.table) > 1 else 0
    usual = outputs.table[own, :, outputs.usual].astype(np.float64)  # (d, r)
    if not usual.any():
        return
    products = np.einsum("jrc,jr->jc", outputs.table, usual) - np.square(usual).sum(1)[:, None]
    products *= outputs.scale[:, None]
    sums = []
    for side in (walked, listed):
        sample = np.repeat(np.arange(side.shape[0]), np.diff(side.indptr))
        sums.append(np.bincount(sample, products[side.indices, side.data], side.shape[0]))
    out += sums[0][:, None] + sums[1] + float(outputs.scale @ np.square(usual).sum(axis=1))
