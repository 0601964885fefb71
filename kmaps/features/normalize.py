"""Normalisations of vectors, dense or sparse."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kmaps.errors import ConfigError, suggest

if TYPE_CHECKING:
    from kmaps.samples import AnyMatrix

Matrix: TypeAlias = "AnyMatrix"

MIN_MAX = "min-max"
"""What takes the columns of a table to 0 … 1, by the ranges that they have in the training rows."""

_NAMED = {"none": None, "l1": 1.0, "l2": 2.0}
_GAMMA = re.compile(r"gamma=(\d+\.?\d*|\.\d+)")


def get_normalization(name: str) -> Callable[[Matrix], Matrix]:
    """Return the function that normalises the rows of a matrix in place.

    Parameters
    ----------
    name : str
        ``none``; or the norm that becomes one, with rows of zeros left alone: ``l1``, the sum of
        the magnitudes; ``l2``, the Euclidean norm; ``gamma=G``, for a number G > 0, the norm
        (Σ|x|^G)^(1/G), under which a G-homogeneous additive kernel has K(x, x) = 1 (hkm,
        Sect. 2.2).

    Raises
    ------
    ConfigError
        If it is none of these.

    Examples
    --------
    >>> get_normalization("gamma=0.5")(np.array([[1, 4], [0, 0]], np.float32))
    array([[0.11111111, 0.44444445],
           [0.        , 0.        ]], dtype=float32)
    """
    named, gamma = name in _NAMED, _GAMMA.fullmatch(name)
    if not named and (gamma is None or float(gamma[1]) == 0):
        raise ConfigError(
            f"unknown normalisation {name!r}{suggest(name, _NAMED)} "
            f"(known: {', '.join(_NAMED)}, gamma=NUMBER)"
        )
    power = _NAMED[name] if named else float(gamma[1])
    return (lambda X: X) if power is None else (lambda X: _divide(X, power))


def _divide(X: Matrix, power: float) -> Matrix:
    from scipy import sparse  # slow to import, and names of normalisations need none

    values = X.data if sparse.issparse(X) else X
    powers = np.abs(values) if power == 1 else np.abs(values) ** np.float32(power)
    if sparse.issparse(X):
        # A row's values are summed together, rows without any being zero.
        sums = np.add.reduceat(np.append(powers, np.float32(0)), X.indptr[:-1], dtype=np.float64)
        sums[np.diff(X.indptr) == 0] = 0
    else:
        sums = powers.sum(axis=1, dtype=np.float64)
    norms = np.where(sums > 0, sums, 1) ** (1 / power)
    per_value = np.repeat(norms, np.diff(X.indptr)) if sparse.issparse(X) else norms[:, None]
    values /= per_value.astype(np.float32)
    return X
