"""What a method has to store of its training set: the smallest form that its learner reads back.

One rule for every method. What is stored are the rows that the method's own learner trains on,
without loss: LIBLINEAR's encoded rows, LIBSVM's raw ones (its Gram matrix and its copies are
memory, not storage), codes where a map or a solver has them. They may be dense or list what is not
zero, and where there are few distinct values, codes and the values they stand for do. The smallest
form counts, and is named.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

MAX_CODES = 256
"""Most distinct values that codes of one byte can stand for."""

MAP_BITS = 16
"""Bits of an output of an explicit map in the paper's accounting (annfm Sect. 3.5)."""

_BLOCK_VALUES = 1 << 20
_INDEX_BYTES = 4  # of the column numbers and row pointers of SciPy's CSR, while they fit


@dataclass(frozen=True, order=True)
class Stored:
    """One form of a stored training set.

    Parameters
    ----------
    nbytes : int
    form : str
        ``dense float32``, ``CSR float32``, ``codes of B bits`` or ``CSR codes``.
    """

    nbytes: int
    form: str


def code_bits(n_codes: int) -> int:
    """Return the bits that tell ``n_codes`` codes apart, at least one.

    Examples
    --------
    >>> [code_bits(n) for n in (1, 2, 30, 32, 33, 256)]
    [1, 1, 5, 5, 6, 8]
    """
    return max(1, (n_codes - 1).bit_length())


def stored_rows(rows: Any) -> Stored:
    """Return the smallest form of rows of numbers.

    Dense; CSR, with four bytes for a column number and for a row pointer while they fit; and, where
    the rows have at most 256 distinct values, these and a code for each number, packed to the bits
    that a code needs (one bit for the signs of projections), or those that are not zero listed as
    CSR with one byte each.

    Parameters
    ----------
    rows : ndarray or CSR matrix, shape (n, m)
        What the learner trains on.

    Returns
    -------
    Stored

    Examples
    --------
    >>> signs = np.where(np.arange(800).reshape(10, 80) % 3, 0.1, -0.1).astype(np.float32)
    >>> stored_rows(signs)
    Stored(nbytes=108, form='codes of 1 bit')
    """
    (n, m), width, dtype = rows.shape, rows.dtype.itemsize, rows.dtype.name
    n_nonzero = int(rows.count_nonzero() if issparse(rows) else np.count_nonzero(rows))
    index = _INDEX_BYTES if max(m, n_nonzero) < 2**31 else 2 * _INDEX_BYTES
    forms = [
        Stored(n * m * width, f"dense {dtype}"),
        Stored(n_nonzero * (width + index) + (n + 1) * index, f"CSR {dtype}"),
    ]
    n_values = _count_distinct(rows, n_nonzero)
    if n_values is not None:
        codes = _code_forms(n, m, n_nonzero, n_values, index)
        forms += [Stored(form.nbytes + n_values * width, form.form) for form in codes]
    return min(forms)


def stored_codes(
    n_rows: int, n_columns: int, n_nonzero: int, n_codes: int, column_bytes: int = _INDEX_BYTES
) -> Stored:
    """Return the smallest form of codes, from their counts.

    Packed to the bits that a code needs, or listed as CSR: the codes that are not 0, one byte each,
    with their columns. What the codes stand for is counted with the tables.

    Parameters
    ----------
    n_rows, n_columns : int
    n_nonzero : int
        Codes that are not 0.
    n_codes : int
        Distinct codes: :math:`N - k + 1` of k-ANNFM with N anchors, whose k nearest ones are
        neighbours of each other.
    column_bytes : int
        Of a column number as the learner reads it; a row pointer has four.

    Returns
    -------
    Stored

    Examples
    --------
    >>> stored_codes(10_000, 784, 1_500_000, 30)
    Stored(nbytes=4900000, form='codes of 5 bits')
    >>> stored_codes(3030, 10_752, 5_600_000, 30, column_bytes=2).form
    'CSR codes'
    """
    return min(_code_forms(n_rows, n_columns, n_nonzero, n_codes, column_bytes))


def paper_code_bytes(n_values: int, n_anchors: int, n_neighbors: int = 1) -> int:
    r"""Return the bytes of codes as the paper counts them: k codes of ⌈log₂ N⌉ bits a value.

    annfm Sect. 3.3 and 3.5: the indices of the k nearest anchors. One code for all k is enough (see
    :func:`stored_codes`); for k = 1 both agree.

    Examples
    --------
    >>> paper_code_bytes(7_840_000, 30), paper_code_bytes(7_840_000, 30, n_neighbors=2)
    (4900000, 9800000)
    """
    return ceil(n_values * n_neighbors * code_bits(n_anchors) / 8)


def paper_map_bytes(n_outputs: int) -> int:
    """Return the bytes of a map's outputs as the paper counts them: 16 bits each, zeros included.

    annfm Sect. 3.5. With :func:`paper_code_bytes` it gives the ratio that the paper prints for
    MNIST (three outputs against five bits, 9.6), and not those for Caltech-101 and Daimler, whose
    accounting the paper does not tell; nor does it tell how bins of Maji and Berg are counted.

    Examples
    --------
    >>> paper_map_bytes(3 * 7_840_000) / paper_code_bytes(7_840_000, 30)
    9.6
    """
    return n_outputs * MAP_BITS // 8


def _code_forms(
    n: int, m: int, n_nonzero: int, n_codes: int, column_bytes: int
) -> tuple[Stored, Stored]:
    bits = code_bits(n_codes)
    packed = Stored(ceil(n * m * bits / 8), f"codes of {bits} bit{'s' if bits > 1 else ''}")
    return packed, Stored(n_nonzero * (1 + column_bytes) + (n + 1) * _INDEX_BYTES, "CSR codes")


def _count_distinct(rows: Any, n_nonzero: int) -> int | None:
    """Return how many values occur, zero included; None when they are more than codes can tell."""
    seen = np.zeros(int(issparse(rows) and n_nonzero < rows.shape[0] * rows.shape[1]), rows.dtype)
    for block in _blocks(rows.data if issparse(rows) else rows):
        seen = np.union1d(seen, block)
        if len(seen) > MAX_CODES:
            return None
    return len(seen)


def _blocks(values: NDArray) -> Iterable[NDArray]:
    """Return some values at a time, few first: most arrays are told by those."""
    flat = values.reshape(-1)
    return np.split(flat, [_BLOCK_VALUES >> 8, *range(_BLOCK_VALUES, len(flat), _BLOCK_VALUES)])
