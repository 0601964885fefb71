"""How well a classifier does on labelled rows: scikit-learn's metrics, class by class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import metrics

from kmaps.errors import InputError, printable
from kmaps.io import check_label_kind, few_labels
from kmaps.svm.reduction import winners
from kmaps.templates import render

BINS = 10


@dataclass(frozen=True)
class Calibration:
    """The calibration of probabilities: how often they are right, as :func:`calibration` finds.

    Parameters
    ----------
    bounds : ndarray of float64, shape (B + 1,)
        Ends of the bins of the largest probability of each row, from 0 to 1.
    rows : ndarray of int, shape (B,)
        Rows in each bin.
    confidence : ndarray of float64, shape (B,)
        The mean of the largest probability in each bin; NaN in an empty bin.
    accuracy : ndarray of float64, shape (B,)
        The part of the rows of each bin whose most probable class is the true one; NaN in an empty
        bin.
    error : float
        The expected calibration error: the mean over the rows of abs(accuracy - confidence) of
        their bins (Guo et al., ICML 2017, eq. 3).
    brier : float
        The Brier score, the mean over the rows of the squared distance, from 0 to 2, between the
        probabilities and 1 for the true class, 0 for the others.
    log_loss : float
        The mean of -log of the true class's probability, over rows with a label of the model's.
    """

    bounds: NDArray[np.float64]
    rows: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    error: float
    brier: float
    log_loss: float


@dataclass(frozen=True)
class Evaluation:
    """The result of :func:`evaluate`, in the order of the K classes.

    Parameters
    ----------
    classes : ndarray, shape (K,)
        The labels of the model.
    unknown : ndarray, shape (U,)
        Labels of rows that the model does not know, in ascending order.
    confusion : ndarray of int, shape (K + U, K)
        Counts of rows by true label (classes, then unknown labels) and predicted class.
    accuracy : float
        The part of all rows, including rows of unknown labels, that got their own label.
    recall : ndarray of float64, shape (K,)
        The part of the rows of each class that were given it; NaN for a class without rows.
    precision : ndarray of float64, shape (K,)
        The part of the rows that were given each class that are of it; NaN for a class that no row
        was given.
    roc_auc : ndarray of float64, shape (K,)
        The area under the ROC curve of each class against all other rows, by its scores; NaN
        without rows of both.
    average_precision : ndarray of float64, shape (K,)
        The average precision of each class against all other rows, by its scores; NaN without
        rows of both.
    calibration : Calibration or None
        The calibration of the probabilities, if there are any.
    n_contradicted : int or None
        Rows in which another class is more probable than the predicted one, if there are
        probabilities; by a temperature there are none.
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
    n_contradicted: int | None = None

    @property
    def labels(self) -> NDArray:
        """The label of each row of ``confusion``, shape (K + U,)."""
        return np.concatenate([self.classes, self.unknown])

    @property
    def n_unknown(self) -> int:
        """Rows of labels that are none of the model's."""
        return int(self.confusion[len(self.classes) :].sum())

    def _repr_html_(self) -> str:
        """Return the scores of the classes as a table, which notebooks show."""
        names = [printable(str(label)) for label in self.classes.tolist()]
        return render("evaluation.html", found=self, names=names)

    def ranking(self, of_classes: NDArray[np.float64]) -> float | None:
        """Return the summary of ``roc_auc`` or ``average_precision``.

        Parameters
        ----------
        of_classes : ndarray of float64, shape (K,)
            The score of each class, ``roc_auc`` or ``average_precision``; NaN for none.

        Returns
        -------
        float or None
            The score of the second of two classes, as in scikit-learn; else the mean over the
            classes that have one. None when none has.
        """
        if len(self.classes) == 2:
            of_classes = of_classes[1:]
        defined = of_classes[np.isfinite(of_classes)]
        return float(defined.mean()) if len(defined) else None


def evaluate(
    y: ArrayLike, scores: ArrayLike, classes: ArrayLike, probabilities: ArrayLike | None = None
) -> Evaluation:
    """Compare the scores of a classifier with the true labels of the rows.

    No rows, another number of labels than of rows, text against numbers, and labels of which none
    is a class raise InputError.

    Parameters
    ----------
    y : array-like, shape (n,)
        The true labels: numbers or text, as the classes are. A label that is no class counts as an
        error, and is among the others for each class.
    scores : array-like, shape (n,) or (n, K)
        The decision function; for two classes one column, positive for the second.
    classes : array-like, shape (K,)
        The labels of the model, in ascending order.
    probabilities : array-like, shape (n, K), optional
        The probabilities of the classes.

    Returns
    -------
    Evaluation
        The confusion matrix, the accuracy, the scores of each class and, with probabilities, their
        calibration.

    Examples
    --------
    >>> evaluation = evaluate(["cat", "dog", "dog", "cow"], [-1.0, 2.0, -0.5, 0.1], ["cat", "dog"])
    >>> evaluation.accuracy, evaluation.unknown.tolist(), evaluation.confusion.tolist()
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
    counts = metrics.confusion_matrix(truth, predicted, labels=np.arange(len(labels)))
    precision, recall, _, _ = metrics.precision_recall_fscore_support(
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
        n_contradicted=None if probabilities is None else count_contradicted(scores, probabilities),
    )


def count_contradicted(scores: ArrayLike, probabilities: ArrayLike) -> int:
    """Return in how many rows another class is more probable than the predicted one.

    Parameters
    ----------
    scores : array-like, shape (n,) or (n, K)
        The decision function, whose largest score is the predicted class.
    probabilities : array-like, shape (n, K)
        The probabilities of the classes.

    Returns
    -------
    int
        The number of such rows. Sigmoids and isotonic curves, which each class has of its own, may
        order classes otherwise than the scores do.
    """
    values = np.asarray(probabilities, np.float64)
    predicted = winners(np.asarray(scores, np.float64))
    return int((values[np.arange(len(values)), predicted] < values.max(axis=1)).sum())


def _check(y: NDArray, scores: NDArray, classes: NDArray) -> None:
    if not len(y) or len(y) != len(scores):
        raise InputError(f"{len(y)} labels and {len(scores)} rows of scores: need one per row")
    check_label_kind(y, classes)
    if not np.isin(y, classes).any():
        raise InputError(
            f"no row has a label that the model knows ({few_labels(classes)}): the labels are "
            f"{few_labels(np.unique(y))}; check the labels and the model"
        )


def _ranked(inside: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[float, float]:
    if inside.all() or not inside.any():
        return np.nan, np.nan
    auc = metrics.roc_auc_score(inside, scores)
    return float(auc), float(metrics.average_precision_score(inside, scores))


def calibration(true: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> Calibration:
    """Compare probabilities (n, K), whose rows sum to one, with the true classes.

    ``true`` has the place of each row's class among the K; K or more for a label that is none of
    them. The bins are of equal width, from 0 to 1.

    Examples
    --------
    >>> table = calibration([0, 1, 1, 0], [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.25, 0.75]])
    >>> table.rows.tolist(), table.accuracy[7].item(), table.error
    ([0, 0, 0, 0, 0, 0, 0, 4, 0, 0], 0.75, 0.0)
    """
    true, values = np.asarray(true, np.intp), np.asarray(probabilities, np.float64)
    if not len(true) or len(true) != len(values):
        raise InputError(f"{len(true)} labels, {len(values)} rows of probabilities: need as many")
    n_classes = values.shape[1]
    largest, right = values.max(axis=1), values.argmax(axis=1) == true
    bounds = np.linspace(0, 1, bins + 1)
    place = np.minimum((largest * bins).astype(int), bins - 1)
    rows = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        confidence = np.bincount(place, largest, bins) / rows
        accuracy = np.bincount(place, right, bins) / rows
    wanted = (true[:, None] == np.arange(n_classes)).astype(float)
    in_classes = true < n_classes
    # A probability of 0 counts as the smallest one, so that no row makes the loss infinite.
    own = values[in_classes, true[in_classes]].clip(np.finfo(float).tiny)
    return Calibration(
        bounds,
        rows,
        confidence,
        accuracy,
        error=float(np.nansum(rows * np.abs(accuracy - confidence)) / len(true)),
        brier=float(((values - wanted) ** 2).sum(axis=1).mean()),
        log_loss=float(-np.log(own).mean()) if in_classes.any() else np.nan,
    )
