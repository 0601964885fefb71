r"""Fourier and Hermite features, whose derivatives are orthonormal (Maji).

If the s-th derivatives of basis functions :math:`\phi_j` are orthonormal under some inner product,
the weights of :math:`f = w^\top\phi` have :math:`\|w\|^2 = \|f^{(s)}\|^2`: a plain linear model
on the features :math:`\phi_j` penalises the s-th derivative (lac Sect. 3.1).
"""

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from kmaps.array_api import like, namespace
from kmaps.maps.parameters import Penalty, check_fourier, check_hermite
from kmaps.maps.ranged import RangedMap


@dataclass(eq=False, repr=False)
class FourierMap(RangedMap):
    r"""Fit a trigonometric polynomial to each feature by a linear model.

    At :math:`t = \pi(x - c)/h`, with c the centre and h the half-width of the feature's range, the
    outputs are :math:`\cos(jt)/j^s` and :math:`\sin(jt)/j^s`, j = 1 … degree. Their s-th
    derivatives by t are orthonormal under :math:`\frac1\pi\int_{-\pi}^{\pi} f g\,dt`.

    Use it for smooth functions of features with a range that is known, with few outputs.

    See Maji, Linearized Additive Classifiers, arXiv 1110.0879, Sect. 3.1, Table 1.

    Parameters
    ----------
    degree : int
        The number of harmonics, ≥ 1; each feature gets r = 2·degree outputs.
    penalty : {0, 1, 2, 3}
        Order s of the derivative that is penalised.
    spread : float, optional
        The half-width h in standard deviations of the feature, > 0; the centre c is its mean then.

    See Also
    --------
    SplineMap : Local detail, sparse outputs, and ends of the range that may differ.
    HermiteMap : Polynomials instead of a period.

    Notes
    -----
    The range is one period, so its two ends have the same outputs. The constant is left to the bias
    of the model. The encoding error of float32 is below 1e-6 of each output's largest value.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(FourierMap(degree=2).fit([[0.0], [2.0]]).transform([[1.5]]), 2)
    array([[ 0. ,  1. , -0.5,  0. ]])
    """

    source = "lac Sect. 3.1, Table 1"

    degree: int = 4
    penalty: Penalty = 1
    spread: float | None = None

    _check_parameters = check_fourier

    def _unit_curve(self, position: NDArray) -> NDArray:
        xp = namespace(position)
        harmonics = np.arange(1.0, self.degree + 1)
        angles = np.pi * (2 * position[..., None] - 1) * like(position, harmonics)
        sizes = like(position, harmonics**self.penalty)
        shape = (*position.shape, 2 * self.degree)
        outputs = xp.empty(shape, dtype=position.dtype, device=position.device)
        outputs[..., ::2] = xp.cos(angles) / sizes
        outputs[..., 1::2] = xp.sin(angles) / sizes
        return outputs

    def _output_names(self) -> list[str]:
        return [f"{wave}{j}" for j in range(1, self.degree + 1) for wave in ("cos", "sin")]


@dataclass(eq=False, repr=False)
class HermiteMap(RangedMap):
    r"""Fit a polynomial to each feature by a linear model.

    At :math:`t = (x - c)/h`, with c the centre and h the half-width of the feature's range, the
    outputs are the probabilists' Hermite polynomials :math:`He_j(t)`, j = 1 … degree, scaled so
    that their s-th derivatives by t are orthonormal under
    :math:`\frac{1}{\sqrt{2\pi}}\int f g\,e^{-t^2/2}\,dt`: because
    :math:`He_j^{(s)} = \frac{j!}{(j-s)!} He_{j-s}` and :math:`\|He_m\|^2 = m!`,

    .. math::
        \frac{\sqrt{(j-s)!}}{j!}\,He_j(t), \quad j \ge s, \qquad
        \frac{1}{\sqrt{j!}}\,He_j(t), \quad j < s.

    Polynomials of degree j < s have no s-th derivative; they have unit norm themselves.

    Use it for smooth functions of features that are spread like a normal distribution.

    See Maji, Linearized Additive Classifiers, arXiv 1110.0879, Sect. 3.1, Table 1.

    Parameters
    ----------
    degree : int
        The highest degree, from 1 to 100; each feature gets r = degree outputs.
    penalty : {0, 1, 2, 3}
        Order s of the derivative that is penalised.
    spread : float, optional
        The half-width h in standard deviations of the feature, > 0; the centre c is its mean then.

    See Also
    --------
    SplineMap : Local detail, and no polynomials that run away at the ends.
    FourierMap : The same for a range with ends; its notes hold here, but for the period.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(HermiteMap(degree=3).fit_transform([[0.0], [2.0]]), 2)
    array([[-1.  ,  0.  ,  0.47],
           [ 1.  ,  0.  , -0.47]])
    """

    source = "lac Sect. 3.1, Table 1"

    degree: int = 4
    penalty: Penalty = 1
    spread: float | None = None

    _check_parameters = check_hermite

    def _unit_curve(self, position: NDArray) -> NDArray:
        t = 2 * position - 1
        outputs = []
        for j in range(1, self.degree + 1):
            outputs.append(_hermite(j, t) * hermite_factor(j, self.penalty))
        return namespace(position).stack(outputs, axis=-1)

    def _output_names(self) -> list[str]:
        return [f"hermite{j}" for j in range(1, self.degree + 1)]


def _hermite(j: int, t: NDArray) -> NDArray:
    """Return He_j of the array t, to the bits of SciPy's, which takes NumPy's arrays alone."""
    xp = namespace(t)
    later = xp.zeros_like(t)
    value = xp.ones_like(t)
    for k in range(j, 1, -1):
        later, value = value, t * value - k * later
    return t * value - later


def hermite_factor(j: int, penalty: int) -> float:
    """Return the factor that gives He_j an s-th derivative of unit norm; if none, unit norm."""
    s = penalty if j >= penalty else 0
    return float(factorial(j - s)) ** 0.5 / factorial(j)
