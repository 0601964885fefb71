"""How well a classifier does on labelled rows: scikit-learn's metrics, class by class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_recall_fscore_support,
    roc_auc_score,
)

from kmaps.errors import InputError
from kmaps.io import check_label_kind, few_labels
from kmaps.models.reliability import Calibration, calibration
from kmaps.svm.reduction import winners


@dataclass(frozen=True)
class Evaluation:
    """What :func:`evaluate` finds, in the order of the K classes.

    Attributes
    ----------
    classes : ndarray, shape (K,)
        The labels of the model.
    unknown : ndarray, shape (U,)
        Labels of the rows that are none of the model's, in ascending order.
    confusion : ndarray of int, shape (K + U, K)
        Rows of each true label, classes and then unknown ones, by the class they were given.
    accuracy : float
        The part of all rows, those of unknown labels among them, that got their own label.
    recall, precision : ndarray, shape (K,)
        NaN for a class without rows, or that no row was given.
    roc_auc, average_precision : ndarray, shape (K,)
        Of a class against all other rows, by its scores; NaN without rows of both.
    calibration : Calibration or None
        Of the probabilities, when there are some.
    """

    classes: NDArray
    unknown: NDArray
    confusion: NDArray[np.int64]
    accuracy: float
    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    roc_auc: NDArray[np.float64]
    average_precision: NDArray[np.float64]
    calibration: Calibration | None = None

    @property
    def labels(self) -> NDArray:
        """The label of each row of ``confusion``, shape (K + U,)."""
        return np.concatenate([self.classes, self.unknown])

    @property
    def n_unknown(self) -> int:
        """Rows of labels that are none of the model's."""
        return int(self.confusion[len(self.classes) :].sum())

    def ranking(self, of_classes: NDArray[np.float64]) -> float | None:
        """Return the summary of ``roc_auc`` or ``average_precision``.

        That of the second of two classes, as scikit-learn does; else the mean over the classes that
        have one, or None when none has.
        """
        if len(self.classes) == 2:
            of_classes = of_classes[1:]
        known = of_classes[np.isfinite(of_classes)]
        return float(known.mean()) if len(known) else None


def evaluate(
    y: ArrayLike,
    scores: ArrayLike,
    classes: ArrayLike,
    probabilities: ArrayLike | None = None,
) -> Evaluation:
    """Compare the scores of a classifier with the true labels of the rows.

    Parameters
    ----------
    y : array-like, shape (n,)
        The true labels: numbers or text, as the classes are. A label that is no class counts as
        wrong, and is among the others for each class.
    scores : array-like, shape (n,) or (n, K)
        The decision function. Of two classes one column, of the second.
    classes : array-like, shape (K,)
        The labels of the model, in ascending order.
    probabilities : array-like, shape (n, K), optional
        Of the classes.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        When there are no rows, another number of labels than of rows, text against numbers, or no
        row whose label is a class.

    Examples
    --------
    >>> found = evaluate(["cat", "dog", "dog", "cow"], [-1.0, 2.0, -0.5, 0.1], ["cat", "dog"])
    >>> found.accuracy, found.unknown.tolist(), found.confusion.tolist()
    (0.5, ['cow'], [[1, 0], [1, 1], [0, 1]])
    """
    y, scores, classes = np.asarray(y), np.asarray(scores, np.float64), np.asarray(classes)
    _check(y, scores, classes)
    predicted = winners(scores)
    unknown = np.setdiff1d(y, classes)
    labels = np.concatenate([classes, unknown])
    order = np.argsort(labels)
    truth = order[np.searchsorted(labels, y, sorter=order)]
    n_classes = len(classes)
    counts = confusion_matrix(truth, predicted, labels=np.arange(len(labels)))
    precision, recall, _, _ = precision_recall_fscore_support(
        truth, predicted, labels=np.arange(n_classes), zero_division=np.nan
    )
    columns = scores if scores.ndim == 2 else np.column_stack([-scores, scores])
    ranked = [_ranked(truth == place, columns[:, place]) for place in range(n_classes)]
    return Evaluation(
        classes=classes,
        unknown=unknown,
        confusion=counts[:, :n_classes],
        accuracy=float(np.mean(truth == predicted)),
        recall=recall,
        precision=precision,
        roc_auc=np.array([auc for auc, _ in ranked]),
        average_precision=np.array([average for _, average in ranked]),
        calibration=None if probabilities is None else calibration(truth, probabilities),
    )


def _check(y: NDArray, scores: NDArray, classes: NDArray) -> None:
    if not len(y) or len(y) != len(scores):
        raise InputError(f"{len(y)} labels and {len(scores)} rows of scores: expected as many")
    check_label_kind(y, classes)
    if not np.isin(y, classes).any():
        raise InputError(
            f"no row has a label of the model's ({few_labels(classes)}), they are "
            f"{few_labels(np.unique(y))}; check the labels and the model"
        )


def _ranked(own: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return the area under the ROC curve and the average precision of one class."""
    if own.all() or not own.any():
        return np.nan, np.nan
    return float(roc_auc_score(own, scores)), float(average_precision_score(own, scores))
