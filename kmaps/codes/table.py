"""A map as a table: the outputs of each code."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps._loops import encode as loops
from kmaps.checks import MAX_LEVELS
from kmaps.errors import InputError
from kmaps.matrices import AnyMatrix, issparse, read_only, widened
from kmaps.thread_pool import for_parts
from kmaps.validation import check_codes

_BLOCK_VALUES = 1 << 18


class LookupTable:
    """The outputs of each code, for each feature or for all of them.

    Use it for encoding data that are codes already by any additive map.

    Parameters
    ----------
    values : array-like, shape (L, r), (1, L, r) or (d, L, r)
        Row c of table j is what code c of feature j stands for; one table serves all features. L
        is at most 256. As `AdditiveMap.tabulate` and the ``table_`` of a map have it.

    Attributes
    ----------
    values : ndarray, shape (1 or d, L, r), float32 or float64
        float32 stays float32, everything else becomes float64.

    See Also
    --------
    Quantizer : Makes the codes.
    CodedSVC : Trains on codes and tables without encoding.

    Examples
    --------
    >>> table = LookupTable([[0.0, 0.0], [1.0, 0.5]])
    >>> table.take(np.array([[1, 0, 1]], np.uint8))
    array([[1. , 0.5, 0. , 0. , 1. , 0.5]])
    >>> table.nbytes
    32
    """

    def __init__(self, values: "ArrayLike"):
        values = np.asarray(values)
        dtype = np.float32 if values.dtype == np.float32 else np.float64
        values = np.ascontiguousarray(values[None] if values.ndim == 2 else values, dtype)
        if values.ndim != 3 or 0 in values.shape or values.shape[1] > MAX_LEVELS:
            raise InputError(
                f"values have the shape {values.shape}: expected (features or 1, at most "
                f"{MAX_LEVELS} codes, outputs)"
            )
        self.values = values
        self._outputs = loops.unrolled(values.shape[2])

    @property
    def nbytes(self) -> int:
        """Size of the table."""
        return self.values.nbytes

    def take(self, codes: AnyMatrix) -> NDArray:
        """Return the outputs that codes stand for.

        Parameters
        ----------
        codes : ndarray or CSR matrix, shape (n, d), uint8
            What a CSR matrix does not store has the code 0, whose outputs must be zero then. Other
            types, and codes that the table does not have, raise InputError.

        Returns
        -------
        ndarray or CSR matrix, shape (n, d·r)
            In the dtype of the table; feature j owns the columns j·r … (j+1)·r-1.
        """
        n_tables, n_codes, r = self.values.shape
        check_codes(codes, n_tables if n_tables > 1 else None, n_codes)
        if not issparse(codes):
            features = np.arange(codes.shape[1], dtype=np.int32)
            return self._take(np.ascontiguousarray(codes), features)
        if self.values[:, 0].any():
            raise InputError(
                "the outputs of code 0 are not zero, so sparse codes would give dense output: pass "
                "a dense array (codes.toarray())"
            )
        data = self._take(codes.data[None, :], codes.indices)[0]
        return widened(codes, data, r)

    def fill(self, codes: NDArray, features: NDArray, out: NDArray) -> None:
        """Write the outputs of a block of codes, which are not checked, into an array.

        Parameters
        ----------
        codes : ndarray, shape (n, m), uint8
            Codes of m columns.
        features : ndarray, shape (m,), int32
            The feature of each column: for several rows all features, in order.
        out : ndarray, shape (n, m·r)
            The array that gets the outputs, in the dtype of the table.
        """
        tables = read_only(features) if len(codes) == 1 and len(self.values) > 1 else None
        loops.take(read_only(codes), tables, read_only(self.values), out, self._outputs)

    def at(self, codes: NDArray, feature: NDArray) -> NDArray:
        """Return the outputs of single codes, which are not checked.

        Parameters
        ----------
        codes : ndarray of any shape, whole numbers
            The codes.
        feature : ndarray, whole numbers
            The feature of each code (broadcast).

        Returns
        -------
        ndarray, shape codes.shape + (r,)
            The outputs of each code.
        """
        return self.values[feature if len(self.values) > 1 else 0, codes]

    def _take(self, codes: NDArray, features: NDArray) -> NDArray:
        n, m = codes.shape
        r = self.values.shape[2]
        out = np.empty((n, m * r), self.values.dtype)

        def fill_part(rows: slice, columns: slice) -> None:
            outputs = slice(columns.start * r, columns.stop * r)
            self.fill(codes[rows, columns], features[columns], out[rows, outputs])

        for_parts(fill_part, codes.shape, _BLOCK_VALUES // r)
        return out
