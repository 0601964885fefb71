"""Radial maps: other profiles than the Gaussian, of the metric of an additive kernel."""

from numpy.random import RandomState

from kmaps.maps.frequencies import Frequencies, MixedFrequencies
from kmaps.maps.generalized import GeneralizedRBFMap
from kmaps.maps.parameters import check_radial


class RadialMap(GeneralizedRBFMap):
    r"""Approximate a radial kernel of the metric of an additive kernel by cosines and sines.

    .. math::
        k\big(D^2(x, y) / \sigma^2\big), \qquad D^2(x, y) = K(x, x) + K(y, y) - 2 K(x, y)

    with a profile k: "gaussian", :math:`e^{-t/2}`, as of `GeneralizedRBFMap`; "laplace",
    :math:`e^{-\sqrt t}`; "cauchy", 1/(1 + t); "inverse-multiquadric", :math:`1/\sqrt{1+t}`. The
    frequencies are drawn from the profile's spectral density (genrbf eq. 8 and Fig. 1): all four
    are mixtures of Gaussian ones, :math:`k(t) = E\,e^{-st/2}`, so that
    :math:`\omega = \sqrt s\,z/\sigma` with z normal.

    Use it where near samples should not count as much, or far ones more, than the Gaussian has it.

    Parameters
    ----------
    kernel : {"chi2", "intersection", "js", "hellinger"}
        The additive kernel of the metric.
    profile : {"laplace", "cauchy", "inverse-multiquadric", "gaussian"}
    order : int
        n ≥ 0 of the `HomogeneousMap` inside; the hellinger kernel needs none and is exact.
    n_frequencies : int
        m ≥ 1, the number of frequencies; there are twice as many outputs.
    sigma : float or None
        Width of the kernel, > 0. None: σ² is the mean squared distance D² between the rows of a
        sample.
    random_state : int, RandomState or None
        Draws the key of the frequencies.

    Attributes
    ----------
    additive_, sigma_, key_, frequency_version_, frequency_indices_
    As of `GeneralizedRBFMap`.

    See Also
    --------
    GeneralizedRBFMap : The Gaussian profile, with any additive map and structured frequencies.

    Notes
    -----
    The standard deviation of an entry is as of `RandomFourierMap`: at most :math:`1/\sqrt{m}`,
    whatever the profile. That of the laplace profile has a kink at zero, :math:`-\sqrt t`, so that
    between samples near each other errors of the additive map inside become their square roots.

    References
    ----------
    Vempati et al., BMVC 2010, Sect. 2.3; Rahimi and Recht, NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import RadialMap
    >>> X = np.array([[0.25, 0.75], [0.75, 0.25]])
    >>> feature_map = RadialMap("hellinger", "cauchy", n_frequencies=20_000, sigma=0.5)
    >>> Z = feature_map.fit_transform(X)
    >>> squared = ((np.sqrt(X[0]) - np.sqrt(X[1])) ** 2).sum()
    >>> bool(abs(Z[0] @ Z[1] - 1 / (1 + squared / 0.25)) < 0.02)
    True
    """

    source = "genrbf eq. 8 and 12, Fig. 1"

    structure = "mixed"
    additive = None

    def __init__(
        self,
        kernel: str = "chi2",
        profile: str = "laplace",
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

    def _check_parameters(self) -> None:
        check_radial(self)

    def _make_frequencies(self) -> Frequencies:
        made_of = self.key_, self.frequency_indices_, self._n_embedded, self.sigma_
        return MixedFrequencies(*made_of, self.profile)
