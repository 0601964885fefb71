"""Few random features: those that a model uses, or new ones that suit the labels.

A frequency has two outputs, a cosine and a sine, so it can be dropped only where a model gives
neither of them a weight (genrbf Sect. 3).
"""

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_whole
from kmaps.errors import ConfigError, InputError
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.svm.grouplasso.classifier import GroupLassoSVC

_STEP = 1.25  # the ratio of C from one pilot to the next
_GROWTH = 1.03  # of the weights: the pilots end when they grow less
_MOST_STEPS = 60
_PILOT_TOL = 1e-2


def prune(map: RandomFeatures, model: Any) -> tuple[RandomFeatures, Any]:
    """Drop the frequencies to which a model gives no weight; the scores stay the same.

    A map that draws no frequencies raises ConfigError; a model that is not of this map, or uses no
    frequency, raises InputError.

    Parameters
    ----------
    map : RandomFourierMap or GeneralizedRBFMap
        A fitted map.
    model : GroupLassoSVC or LiblinearSVC
        A model that was fitted on the outputs of the map; a LiblinearSVC with ``penalty="l1"``.

    Returns
    -------
    map : RandomFourierMap or GeneralizedRBFMap
        A copy of the map with the frequencies that some binary problem uses.
    model : GroupLassoSVC or LiblinearSVC
        A copy of the model for the outputs of that copy.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import GroupLassoSVC, RandomFourierMap, prune
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> y = (X**2).sum(axis=1) > 2.5
    >>> feature_map = RandomFourierMap(n_frequencies=200, sigma=2.0).fit(X)
    >>> model = GroupLassoSVC(C=0.2).fit(feature_map.transform(X), y)
    >>> small, smaller = prune(feature_map, model)
    >>> before = model.decision_function(feature_map.transform(X))
    >>> after = smaller.decision_function(small.transform(X))
    >>> len(small.frequency_indices_) < 100, bool(np.abs(after - before).max() < 1e-5)
    (True, True)
    """
    used = frequency_strength(map, model) > 0
    if not used.any():
        raise InputError(
            f"the model gives none of the {len(used)} frequencies a weight, and only its intercept "
            "would be left: train it with a larger C"
        )
    smaller = copy.copy(model)
    smaller.coef_ = np.ascontiguousarray(model.coef_[:, np.repeat(used, 2)])
    smaller.n_features_in_ = smaller.coef_.shape[1]
    smaller.model_bytes_ = smaller.coef_.nbytes + smaller.intercept_.nbytes
    return map.keep(used), smaller


def resample(
    map: RandomFeatures, X: Any, y: ArrayLike, n_frequencies: int, *, rounds: int = 3
) -> RandomFeatures:
    """Return a copy of a map with a few frequencies that suit some labels, new ones among them.

    The group form of the sparse SVM picks the frequencies, with a C at which it just uses enough.
    Then new ones are drawn near the picked ones, as many as the map drew at first, and it picks
    from all of them; and so on. Train a model without that penalty on the outputs of the copy.

    Parameters
    ----------
    map : RandomFourierMap or GeneralizedRBFMap
        A fitted map, of structure "dense" unless ``rounds`` is 0.
    X : array-like, shape (n, d)
        Training samples, as the map takes them.
    y : array-like, shape (n,)
        Their labels.
    n_frequencies : int
        Frequencies to keep, ≥ 1; all are kept when there are no more.
    rounds : int, default=3
        How often other frequencies are drawn, ≥ 0.

    Returns
    -------
    RandomFourierMap or GeneralizedRBFMap
        The copy, which needs no fit.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import LiblinearSVC, RandomFourierMap, resample
    >>> X = np.random.default_rng(0).standard_normal((1000, 5))
    >>> y = np.sin(3 * X[:, 0]) > 0
    >>> train, test = slice(0, 500), slice(500, None)
    >>> many = RandomFourierMap(n_frequencies=500).fit(X)
    >>> for few in (many.keep(range(5)), resample(many, X[train], y[train], 5)):
    ...     Z = few.transform(X)
    ...     model = LiblinearSVC(C=1000.0).fit(Z[train], y[train])
    ...     print(round(model.score(Z[test], y[test]), 2))
    0.57
    0.98
    """
    check_whole("n_frequencies", n_frequencies, 1)
    check_whole("rounds", rounds, 0)
    _check_draws_frequencies(map)
    # The outputs are so short: none is used below.
    C = map.n_frequencies**0.5 / (2 * len(np.asarray(y)))
    for left in reversed(range(rounds + 1)):
        strength, C = _pilot(map, map.transform(X), y, n_frequencies, C / _STEP**2)
        if left:
            map = map.keep(strength > 0).draw_near(map.n_frequencies)
    return map.keep(np.argsort(-strength, kind="stable")[:n_frequencies])


def _pilot(map: RandomFeatures, rows: NDArray, y: ArrayLike, enough: int, C: float) -> tuple:
    """Raise C until the group form uses enough frequencies, or its weights hardly grow any more.

    Returns the strength of the frequencies, and that C.
    """
    rows, total = np.asfortranarray(rows), 0.0
    for _ in range(_MOST_STEPS):
        before, C = total, C * _STEP
        model = GroupLassoSVC(C, tol=_PILOT_TOL).fit(rows, y)
        strength = frequency_strength(map, model)
        total = strength.sum()
        used = np.count_nonzero(strength)
        if used >= min(enough, len(strength)) or (used and total < _GROWTH * before):
            break
    return strength, C


def frequency_strength(map: RandomFeatures, model: Any) -> NDArray[np.float64]:
    """Return the length of the weights of each frequency, over all binary problems.

    Parameters
    ----------
    map : RandomFourierMap or GeneralizedRBFMap
        A fitted map with m frequencies. A map that draws no frequencies raises ConfigError.
    model : estimator
        A linear model with ``coef_`` (P, 2 m), fitted on the outputs of the map. Another number of
        columns raises InputError.

    Returns
    -------
    ndarray of float64, shape (m,)
        The Euclidean norm of the weights of a frequency's cosine and sine in all P problems; 0
        where no problem uses the frequency.
    """
    _check_draws_frequencies(map)
    n_outputs = 2 * len(map.frequency_indices_)
    if model.coef_.shape[1] != n_outputs:
        raise InputError(
            f"the model has {model.coef_.shape[1]} features, the map gives {n_outputs}: train the "
            "model on the outputs of this map"
        )
    pairs = model.coef_.reshape(len(model.coef_), -1, 2).astype(np.float64)
    return np.sqrt((pairs**2).sum(axis=(0, 2)))


def _check_draws_frequencies(map: RandomFeatures) -> None:
    if not isinstance(map, RandomFeatures):
        raise ConfigError(
            f"{type(map).__name__} draws no frequencies: pass a fitted RandomFourierMap or "
            "GeneralizedRBFMap"
        )
    check_is_fitted(map)
