"""The normalisation of rows that belongs to a model: what it was trained on, it predicts on.

The norms of rows (``l1``, ``l2``) need nothing from the training data. The scales of columns
(``max``, ``min-max``) are learnt from them and kept in the model's file.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError, InputError, suggest
from kmaps.matrices import AnyMatrix, issparse, row_norms

NORMALIZATIONS = ("none", "l1", "l2", "max", "min-max")
OF_ROWS = ("l1", "l2")
OF_COLUMNS = ("max", "min-max")
_POWERS = {"l1": 1, "l2": 2}  # of the norms of rows


@dataclass(frozen=True, eq=False)
class Normalization:
    """A normalisation with what it has learnt.

    Parameters
    ----------
    name : {"l1", "l2", "max", "min-max"}
        ``l1`` and ``l2`` divide each row by its norm. ``max`` divides each column by its largest
        size in the training samples; ``min-max`` takes its range there to 0 … 1, and values beyond
        it to the ends.
    low : ndarray of float64, shape (d,) or (0,)
        What is subtracted from the columns; empty for norms of rows.
    size : ndarray of float64, shape (d,) or (0,)
        What the columns are divided by, above 0; empty for norms of rows.
    """

    name: str
    low: NDArray[np.float64]
    size: NDArray[np.float64]

    @classmethod
    def learnt(cls, name: str, low: NDArray, high: NDArray) -> "Normalization":
        """Return the normalisation for columns with the ranges from low to high.

        Parameters
        ----------
        name : {"l1", "l2", "max", "min-max"}
            The normalisation.
        low, high : ndarray, shape (d,)
            The smallest and the largest value of each column of the training samples.

        Returns
        -------
        Normalization
            A column of one value, which has no scale, keeps its unit.
        """
        check_normalization(name)
        if name in OF_ROWS:
            return cls(name, np.empty(0), np.empty(0))
        if name == "max":
            subtracted = np.zeros(len(low))
            size = np.maximum(np.abs(low), np.abs(high)).astype(float)
        else:
            subtracted = np.asarray(low, float)
            size = np.asarray(high, float) - subtracted
        return cls(name, subtracted, np.where(size > 0, size, 1.0))

    def of(self, X: AnyMatrix) -> AnyMatrix:
        """Return samples in their normalised form.

        Parameters
        ----------
        X : ndarray or CSR, shape (n, d)
            Finite values.

        Returns
        -------
        ndarray or CSR, shape (n, d)
            New values, float64 for float64 and float32 for others.
        """
        dtype = np.float64 if X.dtype == np.float64 else np.float32
        if issparse(X):
            return self._of_sparse(X.astype(dtype))
        X = X.astype(np.float64)
        if self.name in OF_ROWS:
            X = X / row_norms(X, _POWERS[self.name])[:, None]
        else:
            X = (X - self.low) / self.size
        if self.name == "min-max":
            X = X.clip(0, 1)
        return X.astype(dtype)

    def _of_sparse(self, X: Any) -> Any:
        if self.low.any():
            raise InputError(
                "normalize=min-max: moves the zeros of a sparse matrix, since columns have a "
                "smallest value that is not zero; choose max, which keeps them"
            )
        values = X.data.astype(np.float64)
        if self.name in OF_ROWS:
            norms = row_norms(X.astype(np.float64), _POWERS[self.name])
            values = values / np.repeat(norms, np.diff(X.indptr))
        else:
            values = values / self.size[X.indices]
        if self.name == "min-max":
            values = values.clip(0, 1)
        X.data = values.astype(X.data.dtype)
        return X

    def raw(self, feature: int, values: NDArray) -> NDArray:
        """Return normalised values of a feature in the units of the samples, where it has some.

        Parameters
        ----------
        feature : int
            The number of the feature.
        values : ndarray
            Values of it that `of` returned.

        Returns
        -------
        ndarray
            As they were before; of a norm of rows, which depends on the row, as they are.
        """
        if self.name in OF_ROWS:
            return values
        return values * self.size[feature] + self.low[feature]

    def as_json(self) -> dict[str, Any]:
        """Return what a file keeps, in what JSON can hold."""
        return {"name": self.name, "low": self.low.tolist(), "size": self.size.tolist()}

    @classmethod
    def from_json(cls, stored: Any, n_features: int) -> "Normalization":
        """Return the normalisation of a file; ValueError for what no file of kmaps has.

        Parameters
        ----------
        stored : object
            What `as_json` returned, or something else.
        n_features : int
            The number of features d.

        Returns
        -------
        Normalization
            The normalisation.
        """
        if not isinstance(stored, dict) or set(stored) != {"name", "low", "size"}:
            raise ValueError("normalization: expected name, low and size")
        name = stored["name"]
        if name not in OF_ROWS + OF_COLUMNS:
            raise ValueError("normalization: has an unknown name")
        n_scales = n_features if name in OF_COLUMNS else 0
        arrays = []
        for values in (stored["low"], stored["size"]):
            if not isinstance(values, list) or len(values) != n_scales:
                raise ValueError(f"normalization: expected {n_scales} numbers")
            if not all(type(value) in (int, float) for value in values):
                raise ValueError("normalization: expected numbers")
            arrays.append(np.array(values, np.float64).reshape(n_scales))
        low, size = arrays
        if not (np.isfinite(low).all() and np.isfinite(size).all() and (size > 0).all()):
            raise ValueError("normalization: expected finite numbers, and sizes above 0")
        return cls(name, low, size)


def check_normalization(name: str) -> None:
    """Refuse the name of no normalisation.

    Parameters
    ----------
    name : str
        A name, of which ``none`` is one.
    """
    if name not in NORMALIZATIONS:
        raise ConfigError(
            f"normalize={name!r}: expected one of {', '.join(NORMALIZATIONS)}"
            f"{suggest(name, NORMALIZATIONS)}"
        )
