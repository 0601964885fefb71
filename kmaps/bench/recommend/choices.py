"""Which of the measured machines are worth a look: within limits, and beaten by no other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt

from scipy.stats import norm

from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.report.front import COSTS, Point, front, points_of

QUALITY = "accuracy"


@dataclass(frozen=True)
class Limits:
    """What a machine may take.

    Parameters
    ----------
    max_bytes : float
        Its training rows, tables and model, as stored.
    max_us : float
        Microseconds to predict a row.
    """

    max_bytes: float = inf
    max_us: float = inf

    def hold(self, record: Record) -> bool:
        """Return whether a measured machine keeps them."""
        return record["storage_bytes"] <= self.max_bytes and row_us(record) <= self.max_us


@dataclass(frozen=True)
class Choice:
    """A machine that no other one beats.

    Attributes
    ----------
    record : dict
    point : Point
        Its name, and its measures as printed.
    interval : (float, float)
        Of its accuracy, in [0, 1].
    """

    record: Record
    point: Point
    interval: tuple[float, float]


def row_us(record: Record) -> float:
    """Return the microseconds in which a machine predicted a row.

    Examples
    --------
    >>> row_us({"predict_s": 0.5, "n_test": 1000})
    500.0
    """
    return 1e6 * record["predict_s"] / record["n_test"]


def standing(record: Record) -> float:
    """Return the accuracy by which machines are ordered: of the rows held out and of the folds.

    Their rows together are more than those held out, of which few say little on which of two
    machines is the better one. That of the folds is with the C that was chosen by them.

    Examples
    --------
    >>> choice = {"C": 1.0, "cv_C": [0.1, 1.0], "cv_accuracy": [0.7, 0.8], "C_samples": 700}
    >>> standing({"accuracy": 0.9, "n_test": 300, "n_train": 1000, **choice})
    0.83
    """
    tried = dict(zip(record["cv_C"], record["cv_accuracy"], strict=True))
    n_folds = min(record["C_samples"] or record["n_train"], record["n_train"])
    n_test = record["n_test"]
    right = record["accuracy"] * n_test + tried[record["C"]] * n_folds
    return right / (n_test + n_folds)


def points_by_key(records: Sequence[Record]) -> dict[str, Point]:
    """Return the measured machines as points, by the keys of their records.

    Parameters
    ----------
    records : sequence of dict
        Of one split; those that failed are left out.
    """
    named = {point.name: point for point in points_of(records, [QUALITY, *COSTS])}
    labels, _ = short_labels(map(Row.of, records))
    several = len({record["reduction"] for record in records}) > 1
    found = {}
    for record in records:
        reduction = record["reduction"] if several else ""
        words = reduction, record["kernel"], labels[Row.of(record).identity]
        if record["status"] == "ok":
            found[record["key"]] = named[" ".join(filter(None, words))]
    return found


def unbeaten(records: Iterable[Record], points: dict[str, Point]) -> list[Choice]:
    """Return the machines on the front of accuracy over any cost, those first that stand best.

    The costs are training time, test time, memory and storage. A machine is on the front of one of
    them when no other is as accurate and cheaper, or more accurate and as cheap, on the rows held
    out. The order is that of :func:`standing`.

    Parameters
    ----------
    records : iterable of dict
        Those that may be chosen.
    points : dict
        As :func:`points_by_key` returns them.
    """
    by_point = {id(points[record["key"]]): record for record in records}
    shown = [point for point in points.values() if id(point) in by_point]
    kept = {id(point): point for cost in COSTS for point in front(shown, cost, QUALITY)}
    choices = [_choice(by_point[place], point) for place, point in kept.items()]
    return sorted(
        choices, key=lambda choice: (-standing(choice.record), choice.point.values["time"])
    )


def _choice(record: Record, point: Point) -> Choice:
    return Choice(record, point, accuracy_interval(record["accuracy"], record["n_test"]))


def accuracy_interval(accuracy: float, n: int, alpha: float = 0.05) -> tuple[float, float]:
    r"""Return the interval of an accuracy on n held-out rows: Wilson's, for a share.

    The values p whose distance to the accuracy is at most :math:`z \sqrt{p (1 - p) / n}`, with the
    quantile z of the normal distribution. It is never empty, and stays in [0, 1].

    Parameters
    ----------
    accuracy : float
        In [0, 1].
    n : int
        Rows it was measured on.
    alpha : float
        One minus the confidence.

    References
    ----------
    Wilson, Probable inference, the law of succession, and statistical inference, Journal of the
    American Statistical Association 22, 1927.

    Examples
    --------
    >>> low, high = accuracy_interval(1.0, 100)
    >>> f"from {low:.3f} to {high:.3f}"
    'from 0.963 to 1.000'
    """
    z = float(norm.isf(alpha / 2))
    middle = (accuracy + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * sqrt(accuracy * (1 - accuracy) / n + z**2 / (4 * n**2))
    # Rounding must not put a share of 0 or 1 outside.
    return min(accuracy, max(0.0, middle - half)), max(accuracy, min(1.0, middle + half))
