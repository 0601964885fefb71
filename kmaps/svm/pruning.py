"""Random features of which a model uses some: drop the others, or all but the strongest.

A projection has two outputs, a cosine and a sine, so it can be dropped only where a model gives
neither of them a weight (genrbf Sect. 3).
"""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError, InputError


def prune(encoder: Any, model: Any) -> tuple[Any, Any]:
    """Drop the projections to which a model gives no weight.

    Parameters
    ----------
    encoder : RandomFourierMap or GeneralizedRBFMap
        Fitted.
    model : LiblinearSVC or GroupLassoSVC
        Fitted on what the map gives, with ``penalty="l1"`` if the first.

    Returns
    -------
    encoder, model
        Copies with the projections that some binary problem of the model uses. The scores are the
        same, to the last digits of sums.

    Raises
    ------
    ConfigError
        For a map without projections.
    InputError
        When the model is not of this map, or uses none of its projections.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import GroupLassoSVC, RandomFourierMap, prune
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3))
    >>> y = (X**2).sum(axis=1) > 2.5
    >>> encoder = RandomFourierMap(n_frequencies=200, sigma=2.0).fit(X)
    >>> model = GroupLassoSVC(C=0.2).fit(encoder.transform(X), y)
    >>> small, smaller = prune(encoder, model)
    >>> len(small.projections_) < 100
    True
    >>> before = model.decision_function(encoder.transform(X))
    >>> bool(np.abs(smaller.decision_function(small.transform(X)) - before).max() < 1e-5)
    True
    """
    used = projection_strength(encoder, model) > 0
    if not used.any():
        raise InputError(
            f"the model gives none of the {len(used)} projections a weight, so that nothing but "
            "its intercept would be left: train it with a larger C"
        )
    smaller = copy.copy(model)
    smaller.coef_ = np.ascontiguousarray(model.coef_[:, np.repeat(used, 2)])
    smaller.n_features_in_ = smaller.coef_.shape[1]
    smaller.model_bytes_ = smaller.coef_.nbytes + smaller.intercept_.nbytes
    return encoder.keep(used), smaller


def keep_strongest(encoder: Any, model: Any, n_projections: int) -> Any:
    """Return a copy of a map with the projections to which a pilot model gives the most weight.

    Train again on what it gives: the weights of a model depend on what else there is.

    Parameters
    ----------
    encoder, model
        As of `prune`; a dense model will do.
    n_projections : int
        How many to keep; all, when there are no more.

    Raises
    ------
    ConfigError, InputError
        As `prune`, or when ``n_projections`` is not at least one.
    """
    if not isinstance(n_projections, int | np.integer) or n_projections < 1:
        raise ConfigError(f"n_projections={n_projections!r}: expected a whole number from 1 on")
    strength = projection_strength(encoder, model)
    return encoder.keep(np.argsort(-strength, kind="stable")[:n_projections])


def projection_strength(encoder: Any, model: Any) -> NDArray[np.float64]:
    """Return the length of the weights of each projection, over all binary problems."""
    if not hasattr(encoder, "projections_"):
        raise ConfigError(
            f"{type(encoder).__name__} has no projections: pass a fitted RandomFourierMap or "
            "GeneralizedRBFMap"
        )
    n_outputs = 2 * len(encoder.projections_)
    if model.coef_.shape[1] != n_outputs:
        raise InputError(
            f"the model has {model.coef_.shape[1]} features, the map gives {n_outputs}: train the "
            "model on what this map gives"
        )
    pairs = model.coef_.reshape(len(model.coef_), -1, 2).astype(np.float64)
    return np.sqrt((pairs**2).sum(axis=(0, 2)))
