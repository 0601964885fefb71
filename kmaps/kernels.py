r"""All kernels by name; the scalar additive ones with value, signature and spectrum.

Every additive kernel here is 1-homogeneous with ``k(x, x) = x``, so it is known by its signature
(hkm eq. 2-3), a function of the log-ratio alone, or by the spectrum of that signature (hkm eq. 10):

.. math::
    k(x, y) = \sqrt{xy}\,\mathcal{K}(\log y/x), \qquad
    \mathcal{K}(\lambda) = \int \kappa(\omega) e^{-i\omega\lambda}\,d\omega .

The gamma-homogeneous variant is :math:`(xy)^{\gamma/2}\mathcal{K}(\log y/x)`; negative inputs use
the signed extension :math:`\mathrm{sign}(xy)\,k(|x|, |y|)` (hkm Lemma 2).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.errors import ConfigError, suggest

ScalarKernel = Callable[[NDArray, NDArray], NDArray]  # ``k(x, y)``, elementwise on arrays


@dataclass(frozen=True)
class Kernel:
    r"""A homogeneous scalar kernel (hkm Fig. 1): ``k(x, y)``, elementwise in float64, 0 at zeros.

    Parameters
    ----------
    name : str
        Its name, such as ``chi2``.
    signature : callable
        ``signature(lam)`` is the kernel on :math:`(e^{-\lambda/2}, e^{\lambda/2})`, elementwise on
        arrays; it is even and 1 at 0.
    spectrum : callable
        ``spectrum(omega)`` is the density :math:`\kappa(\omega)`, with integral 1; of the hellinger
        kernel a Dirac at zero, returned as ``inf`` there and 0 elsewhere.

    Examples
    --------
    >>> float(KERNELS["chi2"](1.0, 3.0))
    1.5
    """

    name: str
    signature: Callable[[ArrayLike], NDArray]
    spectrum: Callable[[ArrayLike], NDArray]

    def __call__(self, x: ArrayLike, y: ArrayLike, gamma: float = 1.0) -> NDArray:
        """Return the gamma-homogeneous, signed kernel of ``x`` and ``y`` (broadcast)."""
        xp, x = _floats(x)
        _, y = _floats(y)
        sign = xp.sign(x) * xp.sign(y)
        # Zeros become ones, whose results are not used: the product of the signs is zero.
        ones = xp.ones_like(sign)
        log_x = xp.log(xp.where(sign == 0, ones, xp.abs(x)))
        log_y = xp.log(xp.where(sign == 0, ones, xp.abs(y)))
        # The logarithms and the powers stay separate: neither overflows unless the kernel does.
        return sign * xp.exp(gamma / 2 * (log_x + log_y)) * self.signature(log_y - log_x)


def _floats(values: Any) -> tuple[Any, Any]:
    """Return the array's library (NumPy or another), and the array as floats."""
    if not isinstance(values, np.ndarray | np.generic | int | float | list | tuple):
        from kmaps.array_api import namespace  # takes long to import

        xp = namespace(values)
        if not xp.__name__.endswith("numpy"):
            return xp, values
    return np, np.asarray(values, float)


def _sech(t: ArrayLike, width: float = 1.0) -> NDArray:
    # exp(-|t|) cannot overflow.
    xp, t = _floats(t)
    decay = xp.exp(-xp.abs(t / width))
    return 2 * decay / (1 + decay**2)


def _laplace_signature(lam: ArrayLike) -> NDArray:
    xp, lam = _floats(lam)
    return xp.exp(-xp.abs(lam) / 2)


def _js_signature(lam: ArrayLike) -> NDArray:
    # Even, so take |λ|, and e^{λ/2} together with the logarithm that shrinks as it grows: their
    # product is e^{-λ/2}·log(1+u)/u with u = e^{-λ}, and nothing overflows.
    xp, lam = _floats(lam)
    lam = xp.abs(lam)
    u = xp.clip(xp.exp(-lam), float(xp.finfo(lam.dtype).smallest_normal), None)
    tail = xp.log1p(u)
    return xp.exp(-lam / 2) * (tail / u + lam + tail) / (2 * float(np.log(2)))


def _constant(lam: ArrayLike) -> NDArray:
    xp, lam = _floats(lam)
    return xp.ones_like(lam)


KERNELS: dict[str, Kernel] = {  # the additive kernels by name
    kernel.name: kernel
    for kernel in (
        Kernel("chi2", lambda lam: _sech(lam, 2), lambda w: _sech(np.pi * np.asarray(w))),
        Kernel("intersection", _laplace_signature, lambda w: 2 / np.pi / (1 + 4 * np.square(w))),
        Kernel(
            "js",
            _js_signature,
            lambda w: 2 / np.log(4) * _sech(np.pi * np.asarray(w)) / (1 + 4 * np.square(w)),
        ),
        Kernel("hellinger", _constant, lambda w: np.where(np.asarray(w) == 0, np.inf, 0.0)),
    )
}

EXP_KERNELS: dict[str, str] = {f"exp-{name}": name for name in KERNELS}
"""The exponential (generalized RBF) kernels, each with the additive kernel of its metric."""

WIDTH_KERNELS: tuple[str, ...] = (*EXP_KERNELS, "rbf")
r"""The kernels :math:`e^{-D^2/2\sigma^2}`, which have a width sigma."""

GRAM_KERNELS: tuple[str, ...] = (*KERNELS, "linear", *WIDTH_KERNELS)
"""The kernels that have a Gram matrix in `kmaps.gram`."""

STATIONARY: dict[str, Callable[[float], Callable[[NDArray], NDArray]]] = {
    "rbf": lambda sigma: lambda lam: np.exp(-np.square(lam) / (2 * sigma**2)),
    "laplace": lambda sigma: lambda lam: np.exp(-np.abs(lam) / sigma),
    "sech": lambda sigma: lambda lam: _sech(lam / sigma),
    "cosine": lambda sigma: lambda lam: np.cos(lam / sigma),
    "von-mises": lambda sigma: lambda lam: np.exp((np.cos(lam) - 1) / sigma**2),
}
"""Signatures of the stationary kernels of one variable, by name, for a width sigma; von-mises, of
angles, has the period 2π and is about rbf for small ones."""

LOG_KERNELS: dict[str, str] = {f"log-{name}": name for name in ("rbf", "laplace", "sech")}
"""Homogeneous kernels with the signatures of stationary ones (hkm Lemma 1), of width 1 in log x;
log-rbf is the log-Gaussian kernel."""

OF_ONE_VARIABLE: tuple[str, ...] = tuple(name for name in STATIONARY if name not in GRAM_KERNELS)
"""The stationary kernels whose name means no kernel of all features, as rbf does."""

PROFILES: dict[str, Callable[[NDArray], NDArray]] = {
    "gaussian": lambda t: np.exp(-t / 2),
    "laplace": lambda t: np.exp(-np.sqrt(t)),
    "cauchy": lambda t: 1 / (1 + t),
    "inverse-multiquadric": lambda t: 1 / np.sqrt(1 + t),
}
r"""Radial profiles by name (genrbf eq. 12): functions of :math:`t = D^2 / \sigma^2`, 1 at 0."""


def check_kernel(name: object, kernels: Iterable[str], wording: str = "kernels: {}") -> None:
    """Refuse a name that is none of some kernels' (ConfigError).

    Parameters
    ----------
    name : object
        What a user gave as the name of a kernel.
    kernels : iterable of str
        The names that are taken; the nearest is suggested.
    wording : str
        How the message lists the names, which replace the braces.
    """
    names = list(kernels)
    if not (isinstance(name, str) and name in names):
        listed = wording.format(", ".join(names))
        raise ConfigError(f"unknown kernel {name!r}{suggest(name, names)} ({listed})")


def get_kernel(name: str) -> Kernel:
    """Return the additive kernel of a name.

    Parameters
    ----------
    name : {"chi2", "intersection", "js", "hellinger"}
        Another name raises ConfigError, which suggests the nearest.

    Returns
    -------
    Kernel
        The kernel with its value, its signature and its spectrum.

    Examples
    --------
    >>> get_kernel("js").name
    'js'
    """
    check_kernel(name, KERNELS, "additive kernels: {}")
    return KERNELS[name]


def scalar_kernel(kernel: str | ScalarKernel) -> ScalarKernel:
    """Return a kernel as a function.

    Parameters
    ----------
    kernel : str or callable
        The name of an additive kernel, or ``k(x, y)``, elementwise on arrays.

    Returns
    -------
    callable
        The `Kernel` of the name, or the callable itself.
    """
    return kernel if callable(kernel) else get_kernel(kernel)
