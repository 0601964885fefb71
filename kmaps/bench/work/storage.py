"""The storage of a method's training set: the smallest form that its learner reads back.

One rule holds for every method: it stores the rows that its learner trains on, without loss, which
are LIBLINEAR's encoded rows, LIBSVM's raw rows, the codes of a map or of the coded solver. Forms
are dense, CSR, codes of few distinct values with these values, and sums of few B-splines per value;
the smallest counts, and is named. For third-party estimators the pickled size counts. Gram matrices
and the copies that solvers make are memory, which has other columns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from kmaps.bench.records.columns import PICKLED
from kmaps.maps import FeatureMap, Tabulated

if TYPE_CHECKING:
    from kmaps.svm import CodedRows, CodedSVC, KernelSVC

MAX_CODES = 256  # the most distinct values for codes of one byte

_WEIGHTS = ("weights", "intercept", "calibration")
_FLOAT_BYTES = 4  # bytes of a number in a table
_INDEX_BYTES = 4  # for column numbers and row pointers of SciPy's CSR, while they fit
_FIRST = 1 << 12  # values that are checked first: they decide for most rows
_BLOCK = 1 << 20  # values that are checked at once after these


@dataclass(frozen=True, order=True)
class StoredForm:
    """One form of a stored training set: ``dense float32``, ``CSR float32``, ``B-bit codes``
    (packed), ``CSR codes`` (codes that are not zero, with their columns), ``CSR B-splines``, or a
    pickle."""

    nbytes: int
    form: str


def storage(
    train: Any, feature_map: FeatureMap | None, encoded: Any, model_bytes: int
) -> dict[str, Any]:
    """Count the storage of a trained method: its training set, its tables and its model.

    The training set is the smallest form of ``encoded``, the rows that the method trains on, of the
    B-splines that they are sums of (:func:`local_map`), or of the codes of the fitted map; without
    a map they are the raw rows, ``train``. The tables are the learnt arrays that encoding needs,
    in float32; a formula has none. The columns are as in :func:`counted`.
    """
    if feature_map is None:
        return counted(stored_rows(encoded), None, 0, model_bytes)
    if feature_map.code_bits_ is not None:
        codes = feature_map.to_codes(train)
        stored = stored_codes(codes, feature_map.code_bits_)
    else:
        stored = stored_rows(encoded)
        local = local_map(feature_map)
        if local is not None:
            splines = local.fit_transform(train)
            n = splines.shape[0]
            width = splines.dtype.itemsize
            stored = min(stored, _csr(n, _count_nonzero(splines), width, "B-splines"))
    if _is_a("ThirdPartyMap", feature_map):
        stored = replace(stored, form=f"{stored.form} + {PICKLED} map")
    paper = paper_bytes(feature_map, train.shape, encoded.shape)
    return counted(stored, paper, feature_map.table_bytes_, model_bytes)


def coded_storage(model: "CodedSVC", n_train: int) -> dict[str, Any]:
    """Count the storage of a model of the coded solver.

    The training set is one code per value at the bits a code needs, or the codes that are not zero
    as they are listed in memory, whichever is smaller; the tables are levels, ranges and the
    weights' functions, as in the file; the model has weights, intercepts and calibration.
    """
    coded_model = model.model_
    n_codes = (
        coded_model.levels.shape[1]
        if coded_model.cells is None
        else int(coded_model.cells.max()) + 1
    )
    stored = _held_codes((n_train, model.n_features_in_), n_codes, model.codes_bytes_)
    weights = sum(array.nbytes for name, array in coded_model.arrays.items() if name in _WEIGHTS)
    return counted(stored, None, coded_model.nbytes - weights, weights)


def support_storage(sizes: dict[str, Any], model: "KernelSVC") -> dict[str, Any]:
    """Add LIBSVM's model on the kernel matrix of a map to the sizes without a model: its dual
    coefficients and the support vectors' part of the stored training set."""
    vectors = sizes["train_bytes"] * len(model.support_) // model.n_features_in_
    added = vectors + model.model_bytes_
    storage_bytes = sizes["storage_bytes"] + added
    return {**sizes, "model_bytes": added, "storage_bytes": storage_bytes}


def codes_storage(rows: "CodedRows") -> dict[str, Any]:
    """Count the storage of rows of codes, in the smaller of two forms."""
    basis = rows.layout.basis
    scale = rows.layout.scale
    if basis is None:
        raise ValueError("rows are not coded for the low-rank form")
    stored = _held_codes((len(rows), rows.n_features), basis.shape[1], rows.codes_bytes)
    n_numbers = rows.levels.size + basis.size + (0 if scale is None else scale.size)
    return counted(stored, None, _FLOAT_BYTES * n_numbers, 0)


def _held_codes(shape: tuple[int, int], n_codes: int, listed_bytes: int) -> StoredForm:
    packed = _packed(shape[0] * shape[1], int(n_codes - 1).bit_length())
    return min(packed, StoredForm(listed_bytes, "CSR codes"))


def counted(
    stored: StoredForm, paper: int | None, table_bytes: int, model_bytes: int
) -> dict[str, Any]:
    """Return the columns of some sizes in bytes, and their sum, without the bytes that
    `paper_bytes` counts, which are None where they are the same."""
    sizes = {
        "train_bytes": int(stored.nbytes),
        "table_bytes": int(table_bytes),
        "model_bytes": int(model_bytes),
    }
    return {
        **sizes,
        "storage_bytes": sum(sizes.values()),
        "storage_form": stored.form,
        "paper_train_bytes": None if paper == stored.nbytes else paper,
    }


def stored_rows(rows: Any) -> StoredForm:
    """Return the smallest form of rows of numbers: dense; CSR; and, where they have at most 256
    distinct values, these and packed codes, or the codes that are not zero as CSR with one byte
    each."""
    n, m = rows.shape
    width = rows.dtype.itemsize
    dtype = rows.dtype.name
    n_nonzero = _count_nonzero(rows)
    forms = [StoredForm(n * m * width, f"dense {dtype}"), _csr(n, n_nonzero, width, dtype)]
    n_values = _count_distinct(rows, n_nonzero)
    if n_values is not None:
        values_bytes = n_values * width
        bits = max(1, (n_values - 1).bit_length())
        for form in (_packed(n * m, bits), _csr(n, n_nonzero, 1, "codes")):
            forms.append(StoredForm(form.nbytes + values_bytes, form.form))
    return min(forms)


def stored_codes(codes: Any, bits: int) -> StoredForm:
    """Return the smallest form of a map's codes of some bits; its tables are counted elsewhere."""
    n, d = codes.shape
    return min(_packed(n * d, bits), _csr(n, _count_nonzero(codes), 1, "codes"))


def _is_a(name: str, feature_map: Any) -> bool:
    """Return whether a map is of a class, which is not imported for it."""
    return any(base.__name__ == name for base in type(feature_map).__mro__)


def local_map(feature_map: Any) -> FeatureMap | None:
    """Return the map, unfitted, of the B-splines that the outputs of a map are sums of.

    The outputs of unary bins and of penalised splines are sums of neighbouring B-splines, of which
    two of bins, and degree + 1 of splines, are not zero at any value: Maji and Berg's sparse form.
    """
    if _is_a("SplineMap", feature_map) and feature_map.penalty > 0:
        return clone(feature_map).set_params(penalty=0)
    if _is_a("IntersectionMap", feature_map):
        unary = feature_map.piece == "linear" and not feature_map.sparse
        if unary and feature_map.n_bins > 1:
            return clone(feature_map).set_params(sparse=True)
    return None


def paper_bytes(
    feature_map: Any, train_shape: tuple[int, int], encoded_shape: tuple[int, int]
) -> int | None:
    r"""Return the bytes of a stored training set as annfm counts them (Sect. 3.3 and 3.5).

    k-ANNFM has k indices of ⌈log₂ N⌉ bits per value, where one code for all k is enough
    (:mod:`kmaps.maps.anchor`); the homogeneous map 16 bits per output, zeros included. Both give
    the ratio that the paper prints for MNIST (three outputs against five bits, 9.6), but not those
    for Caltech-101 and Daimler, whose accounting it does not state. None for other maps.
    """
    if _is_a("HomogeneousMap", feature_map):
        return encoded_shape[0] * encoded_shape[1] * 16 // 8
    if _is_a("AnchorMap", feature_map):
        n_anchors = feature_map.anchors_.shape[1]
        bits = max(1, (n_anchors - 1).bit_length()) * feature_map.n_neighbors
        return ceil(train_shape[0] * train_shape[1] * bits / 8)
    return None


def _packed(n_values: int, bits: int) -> StoredForm:
    return StoredForm(ceil(n_values * bits / 8), f"{bits}-bit codes")


def _csr(n_rows: int, n_nonzero: int, width: int, what: str) -> StoredForm:
    index = _INDEX_BYTES if n_nonzero < 2**31 else 2 * _INDEX_BYTES
    return StoredForm(n_nonzero * (width + index) + (n_rows + 1) * index, f"CSR {what}")


def _count_nonzero(rows: Any) -> int:
    return int(np.count_nonzero(rows.data if issparse(rows) else rows))


def _count_distinct(rows: Any, n_nonzero: int) -> int | None:
    """Return how many values occur, zero included; None when codes are too few."""
    has_zeros = issparse(rows) and n_nonzero < rows.shape[0] * rows.shape[1]
    seen = np.zeros(int(has_zeros), rows.dtype)
    flat = (rows.data if issparse(rows) else rows).reshape(-1)
    for block in np.split(flat, [_FIRST, *range(_BLOCK, len(flat), _BLOCK)]):
        seen = np.union1d(seen, block[~np.isin(block, seen)])
        if len(seen) > MAX_CODES:
            return None
    return len(seen)


@dataclass(frozen=True)
class MapGram:
    """A map of ``dim`` outputs fitted to samples, and their kernel matrix, (n, n), for LIBSVM.

    ``against`` returns the matrix (m, n) of other samples with these, ``storage`` the columns of
    samples and map without a model.
    """

    matrix: NDArray[np.float32]
    dim: int
    against: Callable[[Any], NDArray[np.float32]]
    storage: Callable[[], dict[str, Any]]


def map_gram(feature_map: Any, X: Any, y: Any) -> MapGram:
    """Fit a map to samples and return their kernel matrix: on codes if the map has tables."""
    if isinstance(feature_map, Tabulated):
        from kmaps.svm import code_gram, code_samples

        rows = code_samples(feature_map, X, form="low-rank", level_ranges="shared")
        # Dense, because some maps make a dense row of a sparse one.
        dim = rows.map.transform(X[:1].toarray() if issparse(X) else X[:1]).shape[1]
        return MapGram(
            code_gram(rows),
            dim,
            lambda others: code_gram(rows.encode(others), rows),
            lambda: codes_storage(rows),
        )
    fitted = feature_map.fit(X, y)
    encoded = fitted.transform(X)

    def products(others: Any) -> NDArray[np.float32]:
        product = others @ encoded.T
        dense = product.toarray() if issparse(product) else product
        return dense.astype(np.float32, copy=False)

    return MapGram(
        products(encoded),
        encoded.shape[1],
        lambda others: products(fitted.transform(others)),
        lambda: storage(X, fitted, encoded, 0),
    )
