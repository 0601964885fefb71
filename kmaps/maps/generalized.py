"""Generalized RBF maps: random Fourier features of the outputs of an additive map."""

from dataclasses import dataclass, field
from typing import Any

from numpy.random import RandomState
from sklearn.base import clone
from sklearn.utils import Tags, get_tags

from kmaps.errors import ConfigError
from kmaps.gram_matrix import mean_squared_distance
from kmaps.kernels import EXP_KERNELS, get_kernel
from kmaps.maps.base import AdditiveMap
from kmaps.maps.frequencies import Frequencies, MixedFrequencies
from kmaps.maps.homogeneous import HomogeneousMap
from kmaps.maps.parameters import Profile, Structure, check_generalized, check_radial
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.sample_matrix import SampleMatrix


@dataclass(eq=False, repr=False)
class GeneralizedRBFMap(RandomFeatures):
    r"""Approximate exp-chi2, exp-js, exp-intersection or exp-hellinger by cosines and sines.

    .. math::
        e^{-D^2(x, y) / 2\sigma^2} \approx
        e^{-\|\hat\Psi(x) - \hat\Psi(y)\|^2 / 2\sigma^2}, \qquad
        D^2(x, y) = K(x, x) + K(y, y) - 2 K(x, y)

    with an additive map :math:`\hat\Psi` of the kernel K, and random Fourier features of its
    outputs: the outputs are :math:`\cos\omega_j^\top\hat\Psi(x)/\sqrt m` and
    :math:`\sin\omega_j^\top\hat\Psi(x)/\sqrt m`, :math:`\omega_j \sim N(0, I/\sigma^2)` (genrbf eq.
    11-14). The paper gives χ² a factor of ½ in one place; D² here has none:
    :math:`\sum (x-y)^2/(x+y)`.

    Use it for histograms whose features interact, where an additive kernel is not enough; also for
    a scalar kernel that users define, with ``additive=ExactMap(kernel)``.

    See Vempati, Vedaldi, Zisserman and Jawahar, Generalized RBF Feature Maps for Efficient
    Detection, BMVC 2010, Sect. 2.3.

    Parameters
    ----------
    kernel : {"chi2", "intersection", "js", "hellinger"}
        The additive kernel of the metric, with or without "exp-" before it.
    order : int
        Order n ≥ 0 of the inner `HomogeneousMap`, which has the published period; the hellinger
        kernel is exact without it.
    n_frequencies : int
        m ≥ 1, the number of frequencies; there are twice as many outputs.
    sigma : float or None
        Width of the kernel, > 0. None: σ² is the mean squared distance D² between the rows of a
        sample, as in `kmaps.gram`.
    structure : {"dense", "orthogonal", "fastfood"}
        How frequencies are drawn, as in `RandomFourierMap`, whose fitted attributes this map has.
    random_state : int, RandomState or None
        Draws the key of the frequencies.
    additive : AdditiveMap or None
        Another unfitted additive map to use inside instead of the homogeneous map; then the default
        σ² is the mean squared distance between its outputs.

    See Also
    --------
    RandomFeatureSVC : Map and learner in one estimator, with files.
    RandomFourierMap : The Gaussian kernel.
    HomogeneousMap : The additive kernel alone, with few outputs and none that are random.
    KernelSVC : The exact exponential kernel, for up to some ten thousand samples.

    Notes
    -----
    The error has a part that falls as 1/√m and a part that only ``order`` reduces. For chi2 and js
    the second part is mostly smaller, and smaller at orders 1 and 3 than at 2, where the
    homogeneous map misses more of K(x, x). For the intersection kernel the second part is larger.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import GeneralizedRBFMap, gram
    >>> X = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    >>> Z = GeneralizedRBFMap(kernel="chi2", order=2, n_frequencies=10_000).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - gram(X, kernel="exp-chi2")).max() < 0.02)
    True
    """

    source = "genrbf eq. 11-14"
    additive_: AdditiveMap = field(init=False)

    kernel: str = "chi2"
    order: int = 1
    n_frequencies: int = 1000
    sigma: float | None = None
    structure: Structure = "dense"
    random_state: int | RandomState | None = 0
    additive: AdditiveMap | None = None

    @property
    def learns_from_data(self) -> bool:
        """Whether `fit` needs more of X than its number of columns."""
        if self.sigma is None:
            return True
        return isinstance(self.additive, AdditiveMap) and self.additive.learns_from_data

    _check_parameters = check_generalized

    def _fit_embedding(self, X: Any) -> int:
        self.additive_ = self._make_additive().fit(X)
        self.table_bytes_ = self.additive_.table_bytes_  # frequencies are made, not stored
        return self.additive_.n_features_in_ * self.additive_.n_outputs_

    def _make_additive(self) -> AdditiveMap:
        if self.additive is None:
            kernel = self._metric()
            order = 0 if kernel == "hellinger" else self.order
            # The published period, whatever the default of the map is: models rely on it.
            return HomogeneousMap(kernel, order, period=None)
        if isinstance(self.additive, AdditiveMap):
            return clone(self.additive)
        raise ConfigError(
            f"additive={self.additive!r}: expected an additive map, such as HomogeneousMap()"
        )

    def _metric(self) -> str:
        """Return the additive kernel of the metric."""
        return get_kernel(EXP_KERNELS.get(self.kernel, self.kernel)).name

    def _embed(self, rows: Any) -> Any:
        return self.additive_.transform(rows)

    def _mean_distance(self, X: Any) -> float:
        if self.additive is None:
            return mean_squared_distance(X, kernel=self._metric())
        sample = SampleMatrix.check(X, "X").draw(1000, 0).matrix
        return mean_squared_distance(self._embed(sample), kernel="rbf")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.additive, AdditiveMap):
            tags.input_tags.positive_only = get_tags(self.additive).input_tags.positive_only
        return tags


class RadialMap(GeneralizedRBFMap):
    r"""Approximate a radial kernel of the metric of an additive kernel by cosines and sines.

    .. math::
        k\big(D^2(x, y) / \sigma^2\big), \qquad D^2(x, y) = K(x, x) + K(y, y) - 2 K(x, y)

    with a profile k: "gaussian", :math:`e^{-t/2}`, as of `GeneralizedRBFMap`; "laplace",
    :math:`e^{-\sqrt t}`; "cauchy", 1/(1 + t); "inverse-multiquadric", :math:`1/\sqrt{1+t}`. The
    frequencies are drawn from the profile's spectral density (genrbf eq. 8 and Fig. 1).

    Use it where near samples should count less, or far samples more, than with the Gaussian.

    Parameters
    ----------
    kernel : {"chi2", "intersection", "js", "hellinger"}
        The additive kernel of the metric.
    profile : {"laplace", "cauchy", "inverse-multiquadric", "gaussian"}
        The profile k.
    order : int
        n ≥ 0 of the `HomogeneousMap` inside.
    n_frequencies : int
        m ≥ 1, the number of frequencies.
    sigma : float or None
        Width of the kernel, > 0.
    random_state : int, RandomState or None
        Draws the key of the frequencies. All as of `GeneralizedRBFMap`.

    See Also
    --------
    GeneralizedRBFMap : The Gaussian profile, with any additive map and structured frequencies.

    Notes
    -----
    The standard deviation of an entry is at most :math:`1/\sqrt{m}`, whatever the profile. The
    laplace profile has a kink at zero, :math:`-\sqrt t`, so that between samples near each other
    errors of the additive map inside become their square roots.

    Examples
    --------
    >>> from kmaps import RadialMap
    >>> feature_map = RadialMap("hellinger", "cauchy", n_frequencies=20_000, sigma=0.5)
    >>> x, y = feature_map.fit_transform([[0.0, 1.0], [0.25, 1.0]])
    >>> bool(abs(x @ y - 1 / (1 + 0.25 / 0.25)) < 0.02)
    True
    """

    source = "genrbf eq. 8 and 12, Fig. 1"

    structure = "mixed"  # type: ignore[assignment]  # no parameter of this map
    additive = None

    def __init__(
        self,
        kernel: str = "chi2",
        profile: Profile = "laplace",
        order: int = 1,
        n_frequencies: int = 1000,
        sigma: float | None = None,
        random_state: int | RandomState | None = 0,
    ):
        self.kernel = kernel
        self.profile = profile
        self.order = order
        self.n_frequencies = n_frequencies
        self.sigma = sigma
        self.random_state = random_state

    _check_parameters = check_radial

    def _make_frequencies(self) -> Frequencies:
        return MixedFrequencies(
            self.key_, self.frequency_indices_, self._n_embedded, self.sigma_, self.profile
        )
