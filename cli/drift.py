"""Drift: how far new rows lie outside the ranges of the columns that a model was trained on."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.flags import Number, few_of, say
from kmaps.cli.model_files import Trained
from kmaps.errors import GateFailed, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANGES = "column_ranges"
"""The key of the ranges in a model file's record."""

max_drift = click.option(
    "--max-drift",
    type=Number(0, 1),
    metavar="SHARE",
    help="End with exit code 1 if more than this share of a column's values lies outside the range "
    "that the column had in training.",
)


class Drift:
    """Counts of values outside the training ranges, column by column, over all blocks.

    Values are compared in single precision: text and a binary file of the same values agree then.

    Parameters
    ----------
    low, high : ndarray of float64, shape (d,)
        The ends of each column's range in training.
    names : sequence of str or None
        The names of the columns.
    """

    def __init__(self, low: "NDArray", high: "NDArray", names: Sequence[str] | None) -> None:
        import numpy as np

        self._low = self._single(low)
        self._high = self._single(high)
        self._names = names
        self._counts = np.zeros(len(low), np.int64)
        self._n_rows = 0

    def add(self, X: Any) -> None:
        """Count the values of a block of rows (n, d), dense or CSR."""
        import numpy as np

        self._n_rows += X.shape[0]
        if isinstance(X, np.ndarray):
            values = self._single(X)
            self._counts += ((self._low > values) | (self._high < values)).sum(axis=0)
            return
        values = self._single(X.data)
        outside = (values < self._low[X.indices]) | (values > self._high[X.indices])
        self._counts += np.bincount(X.indices[outside], minlength=len(self._counts))
        zero_outside = (self._low > 0) | (self._high < 0)
        n_stored = np.bincount(X.indices, minlength=len(self._counts))
        self._counts += np.where(zero_outside, X.shape[0] - n_stored, 0)

    @staticmethod
    def _single(values: "NDArray") -> "NDArray":
        import numpy as np

        with np.errstate(over="ignore"):  # infinity lies outside too
            return np.asarray(values, np.float32)

    @staticmethod
    def silence_the_library() -> None:
        """Leave out the library's warnings of values outside its levels: these counts say more.

        It holds until the block of warnings around the caller ends.
        """
        warnings.filterwarnings("ignore", ".* lie outside the range that ")

    @property
    def shares(self) -> "NDArray":
        """The share of each column's values that lies outside its range, (d,)."""
        return self._counts / max(1, self._n_rows)

    def as_json(self) -> dict[str, Any]:
        """Return the counts in what JSON can hold."""
        return {
            "values_outside": int(self._counts.sum()),
            "columns_outside": int((self._counts > 0).sum()),
            "largest_share": float(self.shares.max()),
            "shares": self.shares.tolist(),
        }

    def line(self) -> str | None:
        """Return the line on all values outside, and the columns with most; None without any."""
        import numpy as np

        n_outside = int(self._counts.sum())
        if not n_outside:
            return None
        columns = np.argsort(-self._counts, kind="stable")
        columns = columns[self._counts[columns] > 0]
        n_values = self._n_rows * len(self._counts)
        texts = [f"{self._name(int(j))} {100 * self.shares[j]:.3g} %" for j in columns]
        return (
            f"{n_outside:,} of {n_values:,} values lie outside the ranges of training, in "
            f"{len(columns):,} of {len(self._counts):,} columns ({few_of(texts)})"
        )

    def _name(self, column: int) -> str:
        return f"column {column}" if self._names is None else repr(str(self._names[column]))

    def report(self, most: float | None, *, quiet: bool) -> None:
        """Print the line, and end with exit code 1 beyond the largest share that is allowed."""
        text = self.line()
        if text is not None and not quiet:
            say(f"warning: {text}", err=True)
        largest = int(self.shares.argmax())
        if most is not None and self.shares[largest] > most:
            raise GateFailed(
                f"drift: {100 * self.shares[largest]:.3g} % of the values of "
                f"{self._name(largest)} lie outside the range of training, more than --max-drift "
                f"{most:g}"
            )


def drift_of(trained: Trained, most: float | None) -> Drift | None:
    """Return empty counts for a model whose file has the ranges of training.

    Without them, None; a largest share that is allowed is then refused, since nothing would hold
    the rows to it.
    """
    import numpy as np

    ranges = trained.record.get(RANGES)
    if ranges is None:
        if most is not None:
            raise InputError(
                f"--max-drift: {trained.file} does not say which ranges the columns had in "
                "training; train it again with this version"
            )
        return None
    try:
        low, high = (np.array(ranges[name], np.float64) for name in ("low", "high"))
    except (TypeError, KeyError, ValueError):
        low = high = np.empty(0)
    shape = (trained.model.n_features_in_,)
    if low.shape != shape or high.shape != shape:
        raise InputError(f"{trained.file}: the model is damaged: its ranges do not fit its columns")
    return Drift(low, high, trained.columns)
