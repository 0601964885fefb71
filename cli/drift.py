"""Drift: how far the values of new rows differ, column by column, from those of training."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.flags import Number, few_of, say
from kmaps.cli.model_files import Trained
from kmaps.errors import ClampedWarning, GateFailed, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.io import LabelledRows, TrainingHistograms

RANGES = "column_ranges"
"""The key of the ranges in a model file's record."""

HISTOGRAMS = "column_histograms"
"""The key of what `kmaps.io.ColumnHistograms` keeps of the rows of training."""

_NOTABLE = 0.1  # a line names the columns with a larger share at unseen levels, or distance

max_drift = click.option(
    "--max-drift",
    type=Number(0, 1),
    metavar="SHARE",
    help="End with exit code 1 if in a column more than this share of the values lies outside the "
    "range of training or at levels that training did not have, or the histogram is farther than "
    "this from that of training.",
)


class Drift:
    """Values outside the training ranges and histograms, column by column, over all blocks.

    Values are compared in single precision: text and a binary file of the same values agree then.

    Parameters
    ----------
    low, high : ndarray of float64, shape (d,)
        The ends of each column's range in training.
    names : sequence of str or None
        The names of the columns.
    training : TrainingHistograms or None
        The histograms of training; None for files without them.
    """

    def __init__(
        self,
        low: "NDArray",
        high: "NDArray",
        names: Sequence[str] | None,
        training: "TrainingHistograms | None",
    ) -> None:
        import numpy as np

        from kmaps.io import ColumnHistograms

        self._training = training
        self._histograms = None if training is None else ColumnHistograms(low, high)
        self._low = self._single(low)
        self._high = self._single(high)
        self._names = names
        self._counts = np.zeros(len(low), np.int64)
        self._n_rows = 0

    def add(self, X: Any) -> None:
        """Count the values of a block of rows (n, d), dense or CSR."""
        import numpy as np

        self._n_rows += X.shape[0]
        if self._histograms is not None:
            self._histograms.add(X)
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
        warnings.simplefilter("ignore", ClampedWarning)

    @property
    def shares(self) -> "NDArray":
        """The share of each column's values that lies outside its range, (d,)."""
        return self._counts / max(1, self._n_rows)

    @property
    def unseen(self) -> "NDArray | None":
        """The share of each column's values at levels that training did not have, beyond chance,
        (d,); None without histograms of training."""
        if self._training is None or self._histograms is None:
            return None
        return self._training.unseen(self._histograms.counts)

    @property
    def distances(self) -> "NDArray | None":
        """The distance of each column's histogram to that of training, beyond chance, (d,); None
        without histograms of training."""
        if self._training is None or self._histograms is None:
            return None
        return self._training.distances(self._histograms.counts)

    def as_json(self) -> dict[str, Any]:
        """Return the counts in what JSON can hold."""
        unseen, distances = self.unseen, self.distances
        return {
            "values_outside": int(self._counts.sum()),
            "columns_outside": int((self._counts > 0).sum()),
            "largest_share": float(self.shares.max()),
            "shares": self.shares.tolist(),
            "unseen_shares": None if unseen is None else unseen.tolist(),
            "distances": None if distances is None else distances.tolist(),
        }

    def lines(self) -> list[str]:
        """Return a line on all values outside, if there are some, one on columns with many values
        at unseen levels, and one on columns whose histograms differ much."""
        lines = []
        n_outside = int(self._counts.sum())
        if n_outside:
            n_values = self._n_rows * len(self._counts)
            lines.append(
                f"{n_outside:,} of {n_values:,} values lie outside the ranges of training, in "
                f"{self._columns(self.shares, 0)}"
            )
        unseen, distances = self.unseen, self.distances
        if unseen is not None and unseen.max() > _NOTABLE:
            columns = self._columns(unseen, _NOTABLE)
            lines.append(f"many values are at levels that training did not have, in {columns}")
        if distances is not None and distances.max() > _NOTABLE:
            columns = self._columns(distances, _NOTABLE)
            lines.append(f"histograms differ from those of training, in {columns}")
        return lines

    def _columns(self, shares: "NDArray", least: float) -> str:
        """Return how many columns have more than a share, and the names of those with most."""
        import numpy as np

        columns = np.argsort(-shares, kind="stable")
        columns = columns[shares[columns] > least]
        texts = [f"{self._name(int(j))} {100 * shares[j]:.3g} %" for j in columns]
        return f"{len(columns):,} of {len(shares):,} columns ({few_of(texts)})"

    def _name(self, column: int) -> str:
        return f"column {column}" if self._names is None else repr(str(self._names[column]))

    def report(self, limit: float | None, *, quiet: bool) -> None:
        """Print the lines, and end with exit code 1 beyond the largest drift that is allowed."""
        if not quiet:
            for line in self.lines():
                say(f"warning: {line}", err=True)
        if limit is None:
            return
        measures = {
            "of its values lie outside the range of training": self.shares,
            "of its values are at levels that training did not have": self.unseen,
            "is the distance of its histogram to that of training": self.distances,
        }
        for phrase, shares in measures.items():
            if shares is None or shares.max() <= limit:
                continue
            column = int(shares.argmax())
            raise GateFailed(
                f"drift: {self._name(column)}: {100 * shares[column]:.3g} % {phrase}, more than "
                f"--max-drift {limit:g}"
            )


def histograms_of(rows: "LabelledRows", low: "NDArray", high: "NDArray") -> dict[str, Any] | None:
    """Return what a model file keeps of the histograms of its rows, which are read once more; None
    where there are too many columns."""
    from kmaps.io import ColumnHistograms

    if len(low) > ColumnHistograms.MOST_COLUMNS:
        return None
    histograms = ColumnHistograms(low, high)
    for X in rows.blocks():
        histograms.add(X)
    return histograms.as_json()


def drift_of(trained: Trained, limit: float | None) -> Drift | None:
    """Return empty counts for a model whose file has the ranges of training.

    Without them, None; a largest drift that is allowed is then refused, since nothing would hold
    the rows to it. A file may have ranges without histograms, of many columns or of an earlier
    version: only values outside are counted then.
    """
    import numpy as np

    ranges = trained.record.get(RANGES)
    if ranges is None:
        if limit is not None:
            raise InputError(
                f"--max-drift: {trained.file} does not say which ranges the columns had in "
                "training; train it again with this version"
            )
        return None
    try:
        low, high = (np.array(ranges[name], np.float64) for name in ("low", "high"))
    except (TypeError, KeyError, ValueError):
        low = high = np.empty(0)  # a shape that is refused below
    shape = (trained.model.n_features_in_,)
    if low.shape != shape or high.shape != shape:
        raise InputError(f"{trained.file}: the model is damaged: its ranges do not fit its columns")
    training = None
    if trained.record.get(HISTOGRAMS) is not None:
        from kmaps.io import TrainingHistograms

        try:
            training = TrainingHistograms(trained.record[HISTOGRAMS], *shape)
        except ValueError as error:
            raise InputError(f"{trained.file}: the model is damaged: {error}") from None
    return Drift(low, high, trained.columns, training)
