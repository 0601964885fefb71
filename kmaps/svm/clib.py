"""Code that LIBLINEAR and LIBSVM share: their node format, structures, and printed text.

Both libraries read a row as an array of 16-byte nodes, an int32 index and a float64 value, and a
problem as an array of pointers to rows. The rows are built once, by NumPy; every binary problem
of a multi-class fit, and every fold of a cross-validation, is then an array of pointers into them.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from math import prod
from types import ModuleType

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kmaps.errors import ConfigError

NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
_END = -1  # the index that ends a row
_BLOCK_VALUES = 2**18  # 4 MB of nodes: a block stays in the cache while it is filled and copied

_printed = threading.local()


def solver_library(module: str) -> ModuleType:
    """Import the binding of LIBLINEAR or LIBSVM, or name the package to install (ConfigError)."""
    try:
        return import_module(module)
    except ImportError:
        package = f"{module.partition('.')[0]}-official"
        raise ConfigError(
            f"this estimator needs {package}, which is not installed: pip install {package} "
            "(it is compiled: a C++ compiler is needed)"
        ) from None


@dataclass(frozen=True, eq=False)
class NodeRows:
    """Rows in the solvers' own form."""

    nodes: NDArray  # the memory of the rows, kept here so that the addresses stay valid
    addresses: NDArray[np.uintp]  # (n_rows,): where each row starts
    n_columns: int  # the largest index of a node

    def __len__(self) -> int:
        return len(self.addresses)

    @property
    def nbytes(self) -> int:
        """The bytes of the rows and of their addresses."""
        return self.nodes.nbytes + self.addresses.nbytes

    def take(self, rows: NDArray[np.intp]) -> "NodeRows":
        """Return some of the rows, sharing the memory."""
        return NodeRows(self.nodes, self.addresses[rows], self.n_columns)

    def against(self, others: "NodeRows") -> NDArray[np.float64]:
        """Return the kernel of these rows with others that the same :func:`gram_rows` made."""
        return self.nodes["value"][np.ix_(self._places(), others._places() + 1)]

    def _places(self) -> NDArray[np.intp]:
        """Return which of all the rows of a Gram matrix these are."""
        row_bytes = np.uintp(self.nodes.shape[1] * NODE.itemsize)
        starts = self.addresses - np.uintp(self.nodes.ctypes.data)
        return (starts // row_bytes).astype(np.intp)


def feature_rows(X: NDArray | sp.csr_array, bias: float) -> NodeRows:
    """Convert features to LIBLINEAR's rows: the non-zero values, then the bias, then the end.

    Stored zeros of a CSR are dropped, so that dense and CSR give the same bytes: 16 per non-zero
    value, and 32 per row (16 without bias). A ``bias`` above 0 is the value of the constant
    feature ``d + 1``. A MemoryError says how much was needed.
    """
    n_columns = X.shape[1] + (bias > 0)
    tail = np.zeros(n_columns - X.shape[1] + 1, NODE)
    tail["index"], tail["value"][:-1] = n_columns, bias
    tail["index"][-1] = _END
    nodes, ends = (_csr_nodes if sp.issparse(X) else _dense_nodes)(X, tail)
    starts = np.concatenate([[0], ends[:-1]])
    return NodeRows(nodes, _addresses(nodes, starts), n_columns)


def gram_rows(gram: NDArray) -> NodeRows:
    """Convert a Gram matrix (n, n) to LIBSVM's rows: serial number, values, end.

    LIBSVM reads the kernel of two rows at the *serial number* of the second, so a subset of the
    rows (:meth:`NodeRows.take`) is a problem of its own without moving a value. A row takes
    16 (n + 2) bytes, four times a float32 row. A MemoryError says how much was needed.

    Parameters
    ----------
    gram : ndarray, shape (n, n)
        The kernel of each row with each row.

    Returns
    -------
    NodeRows
        A float64 copy in LIBSVM's nodes, which ``KernelSVC(kernel="precomputed",
        solver="libsvm").fit`` trains on.
    """
    n = len(gram)
    nodes = _allocate((n, n + 2))
    template = np.zeros(n + 2, NODE)
    template["index"] = [*range(n + 1), _END]
    block = max(1, _BLOCK_VALUES // (n + 2))
    for start in range(0, n, block):
        rows = nodes[start : start + block]
        rows[:] = template
        rows["value"][:, 0] = np.arange(start, start + len(rows)) + 1
        rows["value"][:, 1:-1] = gram[start : start + block]
    return NodeRows(nodes, _addresses(nodes, np.arange(n) * (n + 2)), n)


def _dense_nodes(X: NDArray, tail: NDArray) -> tuple[NDArray, NDArray]:
    n, d = X.shape
    ends = np.cumsum(np.count_nonzero(X, axis=1) + len(tail))
    nodes = _allocate((int(ends[-1]),))
    block = max(1, _BLOCK_VALUES // (d + len(tail)))
    # Whole rows with zeros, and a mask that leaves the zeros out of the copy.
    full = np.zeros((min(block, n), d + len(tail)), NODE)
    full["index"][:, :d] = np.arange(1, d + 1)
    full[:, d:] = tail
    keep = np.ones(full.shape, bool)
    for start in range(0, n, block):
        values = X[start : start + block]
        m = len(values)
        full["value"][:m, :d] = values
        np.not_equal(values, 0, out=keep[:m, :d])
        first = ends[start - 1] if start else 0
        nodes[first : ends[start + m - 1]] = full[:m][keep[:m]]
    return nodes, ends


def _csr_nodes(X: sp.csr_array, tail: NDArray) -> tuple[NDArray, NDArray]:
    if not X.has_canonical_format or not X.data.all():
        X = X.copy()  # the caller's matrix must not change
        X.sum_duplicates()
        X.eliminate_zeros()
    ends = X.indptr[1:] + len(tail) * np.arange(1, X.shape[0] + 1)
    nodes = _allocate((int(ends[-1]),))
    is_value = np.ones(len(nodes), bool)
    for back, node in enumerate(tail[::-1], start=1):
        nodes[ends - back] = node
        is_value[ends - back] = False
    nodes["index"][is_value] = X.indices + 1
    nodes["value"][is_value] = X.data
    return nodes, ends


def _allocate(shape: tuple[int, ...]) -> NDArray:
    try:
        return np.empty(shape, NODE)
    except MemoryError:
        needed = prod(shape) * NODE.itemsize
        raise MemoryError(
            f"the solver's own copy of the data needs {needed / 2**30:.1f} GiB (16 bytes per "
            "value): train on fewer rows, or on fewer or sparser columns"
        ) from None


def _addresses(nodes: NDArray, starts: NDArray) -> NDArray[np.uintp]:
    return starts.astype(np.uintp) * np.uintp(NODE.itemsize) + np.uintp(nodes.ctypes.data)


def blank(struct: type[ctypes.Structure], **fields: object) -> ctypes.Structure:
    """Return a zeroed C structure with some fields set.

    The packages' own constructors convert row by row and reset the library-wide print function;
    this goes round them.
    """
    made = struct.__new__(struct)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def pointer_to(array: NDArray, item: type) -> ctypes._Pointer:
    """Return a C pointer to the array's first item; the caller keeps the array alive."""
    return array.ctypes.data_as(ctypes.POINTER(item))


@ctypes.CFUNCTYPE(None, ctypes.c_char_p)  # type: ignore[untyped-decorator]
def _keep_printed(text: bytes) -> None:
    getattr(_printed, "parts", []).append(text)


@contextmanager
def captured(set_print_function: Callable[[object], None]) -> Iterator[list[bytes]]:
    """Collect the text that a solver prints in this thread instead of printing it."""
    set_print_function(_keep_printed)
    parts: list[bytes] = []
    _printed.parts = parts
    try:
        yield parts
    finally:
        _printed.parts = []
