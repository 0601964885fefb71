"""From samples and a map to what the solver works on."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kmaps._loops.forms import Rows
from kmaps.errors import ConfigError
from kmaps.svm._code_forms import Machinery, choose
from kmaps.svm._code_rows import Coder, check_levels, choose_book, rows_of
from kmaps.svm._code_tables import CodedMap, tabulate


class Training(NamedTuple):
    """The fitted map, the levels, and the training set as codes.

    ``zero`` is a code that maps to zero for all features, or none.
    """

    encoder: CodedMap | str
    levels: NDArray[np.float64]
    coder: Coder
    zero: NDArray[np.intp]
    machinery: Machinery
    rows: Rows

    @property
    def codes_bytes(self) -> int:
        """Size of the training set."""
        return sum(array.nbytes for array in self.rows if array is not None)


def prepare(
    encoder: CodedMap | str, X: Any, *, n_levels: int, levels: ArrayLike | None, form: str
) -> Training:
    """Learn the map and its levels from samples, or take ``levels`` if X is codes already."""
    if levels is None:
        encoder = _fitted(encoder, X)
        same_for_all = isinstance(encoder, str) or getattr(encoder, "shared_curve_", False)
        book = choose_book(X, n_levels, same_for_all)
        known = book.levels
    else:
        _check_ready(encoder)
        book, known = None, check_levels(levels, X.shape[1])
    tables = tabulate(encoder, known)
    machinery = choose(tables, form)
    coder = Coder(book, known.shape[1], tables.cells)
    rows = rows_of(coder.encode(X), tables.zero)
    return Training(encoder, known, coder, tables.zero, machinery, rows)


def _fitted(encoder: CodedMap | str, X: Any) -> CodedMap | str:
    if isinstance(encoder, str):
        return encoder
    # Some maps need of X no more than its width.
    return clone(encoder).fit(X if getattr(encoder, "learns_from_data", True) else X[:1])


def _check_ready(encoder: CodedMap | str) -> None:
    if isinstance(encoder, str):
        return
    try:
        check_is_fitted(encoder)
    except NotFittedError:
        raise ConfigError(
            "levels=…: a map cannot be fitted to codes; pass a fitted one, or a kernel's name"
        ) from None
