"""Whether probabilities are as often right as they say."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.errors import InputError

BINS = 10


@dataclass(frozen=True)
class Calibration:
    """What :func:`calibration` finds.

    Attributes
    ----------
    bounds : ndarray, shape (B + 1,)
        Of the bins of the largest probability of each row.
    rows : ndarray of int, shape (B,)
        In each bin.
    confidence, accuracy : ndarray, shape (B,)
        The mean of the largest probability in each bin, and the part of its rows whose most
        probable class is the true one; NaN in an empty bin.
    error : float
        The expected calibration error: the mean over the rows of abs(accuracy - confidence) of
        their bins.
    brier : float
        The Brier score, the mean over the rows of the squared distance, from 0 to 2, between the
        probabilities and 1 for the true class, 0 for the others.
    log_loss : float
        The mean over the rows with a label of the model's of -log of its probability.
    """

    bounds: NDArray[np.float64]
    rows: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    error: float
    brier: float
    log_loss: float


def calibration(true: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> Calibration:
    """Compare probabilities with what was true.

    Parameters
    ----------
    true : array-like of int, shape (n,)
        The place of each row's class among the K; K or more for a label that is none of them.
    probabilities : array-like, shape (n, K)
        Rows sum to one.
    bins : int
        Of equal width, from 0 to 1.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        When there are no rows, or another number of labels than of rows.

    Notes
    -----
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML 2017, eq. 3;
    Brier, Verification of forecasts expressed in terms of probability, 1950.

    Examples
    --------
    >>> found = calibration([0, 1, 1, 0], [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.25, 0.75]])
    >>> found.rows.tolist(), found.accuracy[7].item(), found.error
    ([0, 0, 0, 0, 0, 0, 0, 4, 0, 0], 0.75, 0.0)
    """
    true, given = np.asarray(true, np.intp), np.asarray(probabilities, np.float64)
    if not len(true) or len(true) != len(given):
        raise InputError(f"{len(true)} labels and {len(given)} rows of probabilities")
    n_classes = given.shape[1]
    largest, right = given.max(axis=1), given.argmax(axis=1) == true
    bounds = np.linspace(0, 1, bins + 1)
    place = np.minimum((largest * bins).astype(int), bins - 1)
    rows = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        confidence = np.bincount(place, largest, bins) / rows
        accuracy = np.bincount(place, right, bins) / rows
    wanted = (true[:, None] == np.arange(n_classes)).astype(float)
    known = true < n_classes
    # A probability of 0 is counted as the smallest there is, so that one row is not infinity.
    own = given[known, true[known]].clip(np.finfo(float).tiny)
    return Calibration(
        bounds,
        rows,
        confidence,
        accuracy,
        error=float(np.nansum(rows * np.abs(accuracy - confidence)) / len(true)),
        brier=float(((given - wanted) ** 2).sum(axis=1).mean()),
        log_loss=float(-np.log(own).mean()) if known.any() else np.nan,
    )
