r"""How well maps of random frequencies match their kernel on real samples, and where they err.

With :math:`\hat K` from the map and :math:`\bar K` its limit for infinitely many frequencies,

.. math::
    \hat K - K = (\bar K - K) + (\hat K - \bar K), \qquad
    \bar K(x, y) = k\left(\|\hat\Psi(x) - \hat\Psi(y)\|^2 / \sigma^2\right)

with the radial profile k of the map, mostly the Gaussian one, :math:`k(t) = e^{-t/2}`.

The first part is the error of the additive map inside, and does not depend on the number m of
frequencies; the second is random and falls as 1/√m (genrbf Sect. 2.3).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kmaps import gram, squared_distance
from kmaps.errors import ConfigError
from kmaps.features import Matrix
from kmaps.kernels import EXP_KERNELS, PROFILES
from kmaps.maps import RadialMap, RandomFeatures

EXP_OF = {additive: name for name, additive in EXP_KERNELS.items()}
"""The exponential kernel of each metric."""


def random_errors(
    feature_map: RandomFeatures, kernel: str, x_train: Matrix, x_test: Matrix, draws: range
) -> dict[str, Any]:
    """Compare a map with its kernel, drawing its frequencies several times.

    The kernel is ``rbf`` or an exponential kernel, ``exp-…``; of a RadialMap it is the additive
    kernel of its metric. The map is fitted on ``x_train``, which also gives its sigma, with the
    number of each draw as its ``random_state``. It returns columns of records: of the errors over
    all pairs of a test and a training sample, and over all draws, the largest, the root mean
    square, and the root mean squares of the additive and of the random part.
    """
    if not isinstance(feature_map, RandomFeatures):
        raise ConfigError(f"map {type(feature_map).__name__}: expected a random map")
    radial = isinstance(feature_map, RadialMap)
    if not (radial or kernel == "rbf" or kernel.startswith("exp-")):
        raise ConfigError(f"kernel {kernel!r}: expected rbf or an exp- kernel")
    whole_rms = []  # of the errors of each draw, and of the random part of them
    random_rms = []
    largest = 0.0
    for draw in draws:
        fitted = clone(feature_map).set_params(random_state=draw).fit(x_train)
        inside = fitted.additive_
        if draw == draws[0]:
            exact = _radial(fitted, x_test, x_train, kernel)
            embedded = [x if inside is None else inside.transform(x) for x in (x_test, x_train)]
            limit = _radial(fitted, embedded[0], embedded[1], "rbf")
        product = fitted.transform(x_test) @ fitted.transform(x_train).T
        largest = max(largest, float(np.abs(product - exact).max()))
        whole_rms.append(_rms(product - exact))
        random_rms.append(_rms(product - limit))
    return {
        "linf": largest,
        "rms": _rms(np.array(whole_rms)),
        "additive_rms": _rms(limit - exact),
        "random_rms": _rms(np.array(random_rms)),
        "dim": 2 * fitted.n_frequencies,
    }


def _radial(fitted: RandomFeatures, x: Matrix, y: Matrix, metric: str) -> NDArray:
    """Return the profile of a map of the distances of rows by the metric of a kernel."""
    if fitted.profile == "gaussian":
        return gram(x, y, kernel=EXP_OF.get(metric, metric), sigma=fitted.sigma_)
    return PROFILES[fitted.profile](squared_distance(x, y, kernel=metric) / fitted.sigma_**2)


def _rms(errors: NDArray) -> float:
    return float(np.sqrt(np.mean(np.square(errors, dtype=np.float64))))
