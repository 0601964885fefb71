r"""The homogeneous kernel map (Vedaldi and Zisserman).

A homogeneous kernel is its signature, a function of :math:`\lambda = \log y/x`. Made periodic with
period :math:`\Lambda`, the signature is a Fourier series on the multiples of
:math:`L = 2\pi/\Lambda`; cut after n harmonics, the series is an inner product of the 2n+1 outputs

.. math::
    \Psi_0(x) = \sqrt{x^\gamma \hat\kappa_0}, \quad
    \sqrt{2 x^\gamma \hat\kappa_j}\,\cos(jL\log x), \quad
    \sqrt{2 x^\gamma \hat\kappa_j}\,\sin(jL\log x), \qquad j = 1, \dots, n

(hkm eq. 17-19). The uniform window samples the spectrum, :math:`\hat\kappa_j = L\kappa(jL)`; the
rectangular one repeats only the piece of the signature inside one period,
:math:`\hat\kappa_j = \frac1\Lambda\int_{-\Lambda/2}^{\Lambda/2}\mathcal{K}(\lambda)
\cos(jL\lambda)\,d\lambda`, with negative values cut to zero (hkm Sect. 5.1).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.array_api import namespace
from kmaps.errors import InputError
from kmaps.kernels import Kernel
from kmaps.maps import signatures
from kmaps.maps.base import AdditiveMap
from kmaps.maps.grids import LogGrid, grid_of_waves
from kmaps.maps.parameters import Period, Window, check_homogeneous
from kmaps.maps.periods import tabulated_period
from kmaps.matrices import AnyMatrix, ratio_of_sizes
from kmaps.mercer import kernel_name


@dataclass(eq=False, repr=False)
class HomogeneousMap(AdditiveMap):
    r"""Approximate a homogeneous kernel by 2n+1 outputs per feature, equally well at every scale.

    Use it for a first try with histograms of any scale, and for LIBLINEAR: no parameter depends on
    the data, and three outputs per feature are mostly enough.

    See Vedaldi and Zisserman, Efficient Additive Kernels via Explicit Feature Maps, TPAMI 2012, eq.
    17-19.

    Parameters
    ----------
    kernel : str, callable or Kernel
        The additive kernel, "chi2", "intersection", "js" or "hellinger", which is exact with
        ``order=0``, its harmonics being zero. Or a signature, an even positive definite
        function of arrays of λ = log y/x, positive at 0; a kernel made of one by
        `kmaps.signature_kernel`; "log-rbf", "log-laplace" or "log-sech", the signatures of
        stationary kernels of width 1 (hkm Lemma 1).
    order : int
        n ≥ 0, the number of harmonics; each feature gets r = 2n+1 outputs.
    window : {"rectangular", "uniform"}
        How the discrete spectrum is made from the continuous one.
    period : float, {"auto", "optimal", "published"} or None
        The period Λ > 0 in units of log x. "auto": up to order 12 the period with the least root
        mean square error on {0, …, 255}² among those that serve rows of published datasets as well
        as the published one (the page *Periods* has the table), else the published one. With the
        rectangular window even orders of chi2 and js then gain nothing over the odd order below,
        and a warning says so. None or "published": the published fit for kernel, window and order
        (hkm Sect. 5.1), or where there is none the period with the least largest error on [0, 1]².
        "optimal": the period with the least largest error for the range of the data, from the
        smallest to the largest value that is not zero.
    gamma : float
        Degree of homogeneity, > 0: the map approximates :math:`(xy)^{\gamma/2}\mathcal{K}`.

    Attributes
    ----------
    period_ : float
        The period in use.
    spectrum_ : ndarray, shape (n+1,)
        The discrete spectrum κ̂₀ … κ̂ₙ.

    See Also
    --------
    SameSignMap : The kernel of values of different signs is zero.
    LowDimMap : As accurate with fewer outputs, where the range of the values is known.
    CodedSVC : The exact kernel's model in the same time, if you can choose the learner.
    GeneralizedRBFMap : The exponential of the kernel, stronger where features interact.

    Notes
    -----
    Negative values use the signed extension, ``sign(x)·Ψ(|x|)`` (hkm Lemma 2). float32 input is
    encoded with an error of at most 1e-5 of sqrt(x^γ) in each output.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import HomogeneousMap, gram
    >>> X = np.array([[0.2, 0.8], [0.5, 0.5]])
    >>> Z = HomogeneousMap(kernel="chi2", order=3).fit_transform(X)
    >>> Z.shape
    (2, 14)
    >>> bool(np.abs(Z @ Z.T - gram(X, kernel="chi2")).max() < 2e-3)
    True
    """

    source = "hkm eq. 17-19"

    kernel: str | Callable | Kernel = "chi2"
    order: int = 1
    window: Window = "rectangular"
    period: float | Period | None = "auto"
    gamma: float = 1.0

    @property
    def learns_from_data(self) -> bool:
        """Whether the period comes from the range of the data."""
        return self.period == "optimal"

    def _fit_curve(self, X: AnyMatrix) -> None:
        check_homogeneous(self)
        kernel = signatures.homogeneous_kernel(self.kernel)
        self.period_ = self._period_on(X, kernel)
        self.spectrum_ = signatures.discrete_spectrum(kernel, self.order, self.period_, self.window)
        if self.period == "auto" and kernel.name != "hellinger":
            self._warn_of_lost_outputs()

    def _period_on(self, X: AnyMatrix, kernel: Kernel) -> float:
        if self.period == "optimal":
            ratio = ratio_of_sizes(X)
            if ratio is None:
                raise InputError(
                    f"period='optimal': all values except zero have one size (n_samples="
                    f"{X.shape[0]}), so the data have no range; give a number, or None"
                )
            return signatures.optimal_period(kernel, self.order, self.window, ratio)
        if self.period == "auto":
            period = tabulated_period(kernel, self.order, self.window)
            if period is not None:
                return period
        elif self.period is not None and self.period != "published":
            return float(self.period)
        return signatures.default_period(kernel, self.order, self.window)

    def _warn_of_lost_outputs(self) -> None:
        """Warn where the last harmonics are zero: fewer outputs approximate as well."""
        order = int(np.flatnonzero(self.spectrum_)[-1])
        if order < self.order:
            warnings.warn(
                f"order={self.order}: with period='auto' the outputs of the last harmonic are "
                f"zero for kernel={kernel_name(self.kernel)!r}, window={self.window!r}; choose "
                f"order={order}, which is as accurate with fewer outputs",
                stacklevel=4,  # where `fit` is called
            )

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        return signatures.waves(x, self.spectrum_, self.period_, self.gamma)

    def _grid(self) -> LogGrid | None:
        return grid_of_waves(self._curve, self.spectrum_, self.period_, self.gamma)

    def _output_names(self) -> list[str]:
        harmonics = range(1, self.order + 1)
        return ["root", *(f"{wave}{j}" for j in harmonics for wave in ("cos", "sin"))]

    def error_bound(self) -> float:
        r"""Return the bound of hkm Lemma 3 on the error of any entry of the kernel matrix.

        For rows whose entries' γ-th powers sum to at most one it is :math:`2\max\{\epsilon_0,
        \epsilon_1 e^{-\Lambda\gamma/4}\}`, where :math:`\epsilon_0` is the largest error of the
        signature on :math:`|\lambda| \le \Lambda/2` and :math:`\epsilon_1` the largest anywhere
        (hkm eq. 25). The lemma is stated for the uniform window; its proof holds for any.

        Returns
        -------
        float
            The bound.
        """
        signature = signatures.homogeneous_kernel(self.kernel).signature
        # After a few periods the signature is zero, and its periodic approximation repeats.
        lam = np.linspace(0, 8 * self.period_, 8 * 4096 + 1)
        error = np.abs(signature(lam) - signatures.series(self.spectrum_, self.period_, lam))
        near = error[lam <= self.period_ / 2].max()
        return float(2 * max(near, error.max() * np.exp(-self.period_ * self.gamma / 4)))


class SameSignMap(HomogeneousMap):
    r"""Approximate a homogeneous kernel of values with a sign, which is zero where signs differ.

    .. math::
        \tfrac12(\mathrm{sign}(xy) + 1)\,k(|x|, |y|)

    is the second extension of a kernel to negative values (hkm Lemma 2): positive and negative
    values have outputs of their own, :math:`(\Psi(x), 0)` for x > 0 and :math:`(0, \Psi(-x))` for
    x < 0. With the intersection kernel the metric is then the l1 distance of any two vectors.

    Use it for features with two sides, such as derivatives, whose sides mean different things.

    Parameters
    ----------
    kernel : str, callable or Kernel
        The additive kernel, as in `HomogeneousMap`.
    order : int
        n ≥ 0, the number of harmonics; each feature gets 2(2n+1) outputs, for positive values
        first.
    window : {"rectangular", "uniform"}
        How the discrete spectrum is made from the continuous one.
    period : float, {"auto", "optimal", "published"} or None
        The period Λ > 0 in units of log x, as in `HomogeneousMap`.
    gamma : float
        Degree of homogeneity, > 0.

    See Also
    --------
    HomogeneousMap : The first extension, ``sign(xy)·k(|x|, |y|)``, with half the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import SameSignMap
    >>> Z = SameSignMap("chi2", order=3).fit_transform(np.array([[1.0], [3.0], [-3.0]]))
    >>> np.round(np.abs(Z @ Z.T), 1)
    array([[1. , 1.5, 0. ],
           [1.5, 3. , 0. ],
           [0. , 0. , 3. ]])
    """

    source = "hkm Lemma 2, eq. 17-19"

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        xp = namespace(x)
        outputs = super()._curve(xp.abs(x), feature)
        zeros = xp.zeros_like(outputs)
        positive = xp.where((x > 0)[..., None], outputs, zeros)
        negative = xp.where((x < 0)[..., None], outputs, zeros)
        return xp.concat([positive, negative], axis=-1)

    def _output_names(self) -> list[str]:
        names = super()._output_names()
        return [f"{side}_{name}" for side in ("positive", "negative") for name in names]
