"""How much samples count: the weights of samples and of classes, which are factors on C."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight

from kmaps.errors import ConfigError, InputError


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return the weights of n samples as a new array; None: all count once.

    Examples
    --------
    >>> check_sample_weight([1, 2], 2).tolist(), check_sample_weight(None, 3).tolist()
    ([1.0, 2.0], [1.0, 1.0, 1.0])
    >>> check_sample_weight([1, -2], 2)
    Traceback (most recent call last):
    kmaps.errors.InputError: sample_weight[1]=-2: expected finite weights of at least 0
    """
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.array(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight: expected numbers, one for each sample") from None
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight of shape {weights.shape}: expected ({n},), one number for each sample"
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(
            f"sample_weight[{bad[0]}]={weights[bad[0]]:g}: expected finite weights of at least 0"
        )
    if not weights.any():
        raise InputError("sample_weight: all weights are zero, expected at least one above zero")
    return weights


def check_every_class_counts(
    classes: NDArray, codes: NDArray[np.intp], weights: NDArray[np.float64]
) -> None:
    """Raise InputError when all the samples of a class have the weight zero."""
    empty = np.flatnonzero(np.bincount(codes, weights, len(classes)) == 0)
    if len(empty):
        raise InputError(
            f"sample_weight: the weights of class {classes[empty[0]]} are all zero: leave its "
            "samples out, or give one of them a weight"
        )


def class_factors(
    class_weight: Any, classes: NDArray, codes: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the factor on C of each of K classes.

    "balanced" makes all classes count the same: the sum of all weights over K times the sum of the
    class's weights. A factor that is not positive and finite raises ConfigError; other mistakes
    raise scikit-learn's ValueError.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return weights.sum() / (len(classes) * np.bincount(codes, weights, len(classes)))
    factors = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ConfigError(f"class_weight={class_weight!r}: expected positive, finite factors on C")
    return factors
