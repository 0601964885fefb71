r"""Kernel matrices of a map's outputs, without the outputs: of the codes of its samples.

With the outputs :math:`\varphi_j(c)` of code c of feature j, and the code :math:`u_j` that is its
most frequent one,

.. math::
    \sum_j \varphi_j(a_j) \cdot \varphi_j(b_j) = \sum_j \psi_j(a_j) \cdot \psi_j(b_j)
    + s(a) + s(b) + \sum_j \varphi_j(u_j)^2, \qquad \psi_j(c) = \varphi_j(c) - \varphi_j(u_j),
    \quad s(a) = \sum_j \psi_j(a_j) \cdot \varphi_j(u_j),

so that only features count in which both samples are not usual: of a sparse histogram few, whatever
the map makes of zero.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kmaps._loops import code_gram as loops
from kmaps.errors import ConfigError
from kmaps.parallel import for_blocks
from kmaps.svm.coded.training import CodedRows

_PAIRS = 1 << 20  # of samples, at a time


def code_gram(rows: CodedRows, others: CodedRows | None = None) -> NDArray[np.float32]:
    r"""Return the kernel matrix of a map on codes, K(x, y) = φ(x)·φ(y), for pairs of samples.

    Use it where features outnumber samples by far, as in histograms of visual words: LIBSVM then
    trains on it (`KernelSVC` with ``kernel="precomputed"``) in less time than any solver on the
    outputs. Time is that of the pairs of samples times the features that neither has at its most
    frequent value; the number of outputs hardly counts.

    Parameters
    ----------
    rows : CodedRows
        n samples, of :func:`code_rows` with ``form="low-rank"``.
    others : CodedRows, optional
        m samples in the same codes, of ``rows.encode``. When left out, they are those of ``rows``
        at half the work, and the result is exactly symmetric.

    Returns
    -------
    ndarray of float32, shape (n, m)
        Sums are float64, of outputs in float32 on the levels of the codes.

    Raises
    ------
    ConfigError
        For rows that were coded for another form, or with other levels than ``others``.

    Examples
    --------
    >>> from kmaps import HomogeneousMap
    >>> from kmaps.svm import KernelSVC, code_rows
    >>> X = np.random.default_rng(0).random((60, 5))
    >>> y = np.where(X[:, 0] > X[:, 1], "left", "right")
    >>> known = code_rows(HomogeneousMap("chi2"), lambda: [X[:40]], form="low-rank")
    >>> model = KernelSVC("precomputed", C=10).fit(code_gram(known), y[:40])
    >>> unseen = known.encode(X[40:])
    >>> bool((model.predict(code_gram(unseen, known)) == y[40:]).mean() > 0.8)
    True
    """
    columns = rows if others is None else others
    if columns.machinery is not rows.machinery:
        raise ConfigError("others: coded with other levels than rows; pass rows.encode(X)")
    outputs = _outputs(columns)
    walked = _unusual(rows, outputs.usual)
    listed = walked if others is None else _unusual(others, outputs.usual)
    by_feature = listed.tocsc()
    lists = by_feature.indptr, by_feature.indices, by_feature.data
    out = np.empty((walked.shape[0], listed.shape[0]), np.float32)

    def fill(start: int, stop: int) -> None:
        part = walked.indptr[start : stop + 1], walked.indices, walked.data
        loops.fill_products(part, lists, *outputs, start if others is None else -1, out[start:stop])

    for_blocks(fill, len(out), max(1, _PAIRS // max(1, out.shape[1])))
    if others is None:
        above = np.triu_indices(len(out), 1)
        out[above] = out.T[above]
    beside = _beside_usual(outputs)
    if beside.any():
        out += _sums(walked, beside)[:, None] + _sums(listed, beside) + _square_of_usual(outputs)
    return out


class _Outputs(NamedTuple):
    """What each code stands for."""

    table: NDArray[np.float32]  # (1 or d, r, L)
    usual: NDArray[np.uint8]  # (d,), of each feature
    scale: NDArray[np.float64]  # (d,), on the products of a feature

    @property
    def of_usual(self) -> NDArray[np.float64]:
        """The outputs of the usual codes, (d, r)."""
        own = np.arange(len(self.usual)) if len(self.table) > 1 else 0
        return self.table[own, :, self.usual].astype(np.float64)


def _outputs(rows: CodedRows) -> _Outputs:
    machinery, d = rows.machinery, rows.n_features
    if machinery.name != "low-rank" or machinery.basis is None:
        raise ConfigError(f"rows coded for form={machinery.name!r}; code them for form='low-rank'")
    usual = np.empty(d, np.uint8)
    if len(rows.zero):
        usual[:] = rows.zero[0]
    else:  # then no codes are left out
        loops.usual_codes(rows.rows.codes.reshape(-1, d), machinery.basis.shape[1], usual)
    scale = np.ones(d) if machinery.scale is None else machinery.scale
    return _Outputs(np.ascontiguousarray(machinery.basis.swapaxes(1, 2)), usual, scale)


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
    return listed if rows.members is None else listed[rows.members]


def _beside_usual(outputs: _Outputs) -> NDArray[np.float64]:
    """Return the products of each code, less the usual one, with the usual one, (d, L)."""
    of_usual = outputs.of_usual
    products = np.einsum("jrc,jr->jc", outputs.table - of_usual[..., None], of_usual)
    return products * outputs.scale[:, None]


def _sums(listed: csr_array, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over each sample of the values (d, L) of its codes."""
    sample = np.repeat(np.arange(listed.shape[0]), np.diff(listed.indptr))
    added = np.bincount(sample, values[listed.indices, listed.data], listed.shape[0])
    return added.astype(np.float64)


def _square_of_usual(outputs: _Outputs) -> float:
    return float(outputs.scale @ np.square(outputs.of_usual).sum(axis=1))
