"""From samples and a map to what the solver works on."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kmaps._loops.forms import Rows
from kmaps.checks import MAX_LEVELS
from kmaps.codes.columns import Columns
from kmaps.codes.levels import check_levels, choose_codebook
from kmaps.errors import ConfigError
from kmaps.maps.capabilities import SaysWhetherItLearns, SaysWhetherShared, Tabulated
from kmaps.mercer import ScalarKernel
from kmaps.samples import AnyMatrix
from kmaps.svm.coded.forms import Machinery, choose
from kmaps.svm.coded.rows import Coder, coded
from kmaps.svm.coded.smooth import smoothed
from kmaps.svm.coded.tables import tabulate


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Samples as codes, with the fitted map and the levels: :class:`CodedSVC` trains on them.

    Attributes
    ----------
    map : map or str
        Fitted; or the name of a kernel.
    levels : ndarray, shape (1 or d, L)
    coder : Coder
        What made the codes.
    zero : ndarray of int
        A code (1,) that maps to zero for all features, or none (0,).
    machinery : Machinery
        What the codes do in the solver.
    rows : Rows
        The codes.
    n_features : int
    members : ndarray of int, or None
        Those of the rows that count, in order; None: all.
    """

    map: Tabulated | ScalarKernel | str
    levels: NDArray[np.float64]
    coder: Coder
    zero: NDArray[np.intp]
    machinery: Machinery
    rows: Rows
    n_features: int
    members: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.rows.bounds) - 1 if self.members is None else len(self.members)

    @property
    def codes_bytes(self) -> int:
        """Size of the training set."""
        return sum(array.nbytes for array in self.rows if array is not None)

    def take(self, members: NDArray[np.intp]) -> "CodedRows":
        """Return some of the samples; the codes are not copied."""
        known = np.arange(len(self)) if self.members is None else self.members
        return replace(self, members=known[members])

    def encode(self, X: AnyMatrix) -> "CodedRows":
        """Return other samples in the same codes.

        Parameters
        ----------
        X : ndarray or CSR of float32, float64 or uint8, shape (n, d)
            Values beyond the levels take the last one; where samples are codes already, codes.
        """
        return replace(self, rows=coded(self.coder, X, self.zero), members=None)


def code_samples(
    map: Tabulated | ScalarKernel | str,
    X: Any,
    *,
    n_levels: int = MAX_LEVELS,
    levels: ArrayLike | None = None,
    form: str = "auto",
    smooth: float = 0.0,
) -> CodedRows:
    """Turn an array of samples into codes; the parameters are those of :class:`CodedSVC`."""
    if levels is None:
        map = fitted(map, X)
        book = choose_codebook(Columns(X), n_levels, level_strategy(map))
        known = book.levels
    else:
        _check_ready(map)
        book, known = None, check_levels(levels, X.shape[1])
    tables = smoothed(tabulate(map, known), known, smooth)
    machinery = choose(tables, form)
    coder = Coder(book, known.shape[1], tables.cells)
    with codes_in_memory(*X.shape):
        rows = coded(coder, X, tables.zero)
    return CodedRows(map, known, coder, tables.zero, machinery, rows, X.shape[1])


def codes_in_memory(n: int, d: int) -> AbstractContextManager[None]:
    """Say how much memory n × d codes need when there is not enough."""
    what = f"the codes of {n} × {d} values, a byte each,"
    return _in_memory(what, n * d, "train on fewer rows or columns")


def weights_in_memory(n_weights: int, n_machines: int) -> AbstractContextManager[None]:
    """Say how much memory machines that are trained at once need when there is not enough."""
    what = f"{n_weights} weights for each of {n_machines} machines at a time, 4 bytes each,"
    return _in_memory(what, 4 * n_weights * n_machines, "use fewer threads, levels or columns")


@contextmanager
def _in_memory(what: str, n_bytes: int, remedy: str) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        needed = f"{what} need {n_bytes / 2**30:.1f} GiB"
        raise MemoryError(f"{needed}, more than there is: {remedy}") from None


def level_strategy(map: Tabulated | ScalarKernel | str) -> str:
    """Return how to choose levels: all features share them if they have the same curve."""
    if not isinstance(map, Tabulated) or (isinstance(map, SaysWhetherShared) and map.shared_curve_):
        return "shared"
    return "uniform"


def fitted(map: Tabulated | ScalarKernel | str, X: Any) -> Tabulated | ScalarKernel | str:
    """Return a copy of a map, fitted to samples; or a kernel as it is."""
    if not isinstance(map, Tabulated):
        return map
    # Some maps need of X no more than its width.
    return clone(map).fit(X if learns(map) else X[:1])


def learns(map: Tabulated | ScalarKernel | str) -> bool:
    """Return whether fitting needs samples and not only their width."""
    if not isinstance(map, Tabulated):
        return False
    return map.learns_from_data if isinstance(map, SaysWhetherItLearns) else True


def _check_ready(map: Tabulated | ScalarKernel | str) -> None:
    if not isinstance(map, Tabulated):
        return
    try:
        check_is_fitted(map)
    except NotFittedError:
        raise ConfigError(
            "levels=…: a map cannot be fitted to codes; pass a fitted one, or a kernel's name"
        ) from None
