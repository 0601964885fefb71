r"""Signatures that users define: whether they are a kernel's, and the kernel that they are of.

A homogeneous kernel is its signature, :math:`k(x, y) = \sqrt{xy}\,\mathcal{K}(\log y/x)`, and a
function is the signature of a kernel if, and only if, it is positive definite (hkm Lemma 1), so
that every stationary kernel has a homogeneous one: the Gaussian the log-Gaussian,
:math:`\sqrt{xy}\,e^{-\log^2(y/x)/2\sigma^2}`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.array_api import like, namespace
from kmaps.errors import ConfigError
from kmaps.kernels import LOG_KERNELS, STATIONARY, Kernel, get_kernel

Function = Callable[[NDArray], NDArray]

DEFAULT_PERIODS = {  # fits of the best period to the order (hkm 5.1): see `optimal_period`
    ("uniform", "chi2"): lambda n: 5.86 * np.sqrt(n) + 3.65,
    ("uniform", "js"): lambda n: 6.64 * np.sqrt(n) + 7.24,
    ("uniform", "intersection"): lambda n: 2.38 * np.log(n + 0.8) + 5.6,
    ("rectangular", "chi2"): lambda n: 8.80 * np.sqrt(n + 4.44) - 12.6,
    ("rectangular", "js"): lambda n: 9.63 * np.sqrt(n + 1) - 2.93,
    ("rectangular", "intersection"): lambda n: 2.00 * np.log(n + 0.99) + 3.52,
}

_IRRATIONAL = np.sqrt([2.0, 3.0, 5.0])
_EVEN = 1e-9  # mirrored values may differ by this part of the value at 0
_GONE = 1e-9  # below this part of the value at 0, a signature has vanished
_LONGEST = 4096.0  # the λ by which it must have vanished
_STEP = 0.01  # the trapezoidal rule is exponentially exact for smooth signatures, 1e-5 at a cusp
_NEGATIVE = 1e-4  # at a cusp, the rule can make a spectrum negative by this part of the value at 0


def signature_kernel(signature: Function, name: str = "signature") -> Kernel:
    r"""Return the homogeneous kernel of a signature (hkm eq. 2-3, 10).

    The kernel is what `HomogeneousMap` takes, and as a function k(x, y) what `kmaps.gram`,
    `ExactMap` and `CodedSVC` take. The spectrum is integrated numerically, for signatures that
    vanish by ``|λ| = 4096``.

    Parameters
    ----------
    signature : callable
        An even function of λ = log y/x, elementwise on arrays, positive at 0 and positive definite;
        other functions are refused (ConfigError), those that are not positive definite when the
        spectrum is computed.
    name : str
        The kernel's name, in labels and files.

    Returns
    -------
    Kernel
        The kernel :math:`\sqrt{xy}\,\mathcal{K}(\log y/x)`.

    Examples
    --------
    The log-Gaussian kernel of width 1:

    >>> log_gaussian = signature_kernel(lambda lam: np.exp(-np.square(lam) / 2))
    >>> round(float(log_gaussian(1.0, np.e)), 6)  # e^(1/2) e^(-1/2)
    1.0
    """
    check_signature(lambda lam: signature(lam[:, 0]), np.array([10.0]))

    def on_any(lam: ArrayLike) -> NDArray:
        return np.asarray(signature(np.asarray(lam, float)), float)

    return Kernel(name, on_any, lambda omega: _spectrum(on_any, np.asarray(omega, float)))


def log_kernel(name: str, sigma: float = 1.0) -> Kernel:
    """Return the kernel with the signature of a stationary one (hkm Lemma 1).

    Parameters
    ----------
    name : {"log-rbf", "log-laplace", "log-sech"}
        The name.
    sigma : float
        The width, > 0, in units of log x.

    Returns
    -------
    Kernel
        The homogeneous kernel.
    """
    return signature_kernel(STATIONARY[LOG_KERNELS[name]](sigma), name)


def homogeneous_kernel(kernel: str | Kernel | Function) -> Kernel:
    """Return the homogeneous kernel of a name or of a signature.

    Parameters
    ----------
    kernel : str, Kernel or callable
        The name of a kernel, a kernel, or a signature as of `signature_kernel`.

    Returns
    -------
    Kernel
        The kernel, a `Kernel` as it is.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return log_kernel(kernel) if kernel in LOG_KERNELS else get_kernel(kernel)
    return signature_kernel(kernel)


def _spectrum(signature: Callable[[ArrayLike], NDArray], omega: NDArray) -> NDArray:
    r"""Return :math:`\frac1\pi\int_0^\infty\mathcal{K}(\lambda)\cos\omega\lambda\,d\lambda`."""
    length = 1.0
    while np.abs(signature(np.linspace(length, 2 * length, 101))).max() > _GONE * signature(0.0):
        length *= 2
        if length > _LONGEST:
            raise ConfigError(
                "the signature does not vanish for large λ, so it has no spectrum to sample; use "
                "window='rectangular'"
            )
    lam = np.arange(0, length + _STEP, _STEP)
    values = signature(lam)
    values[0] /= 2  # the end of the trapezoidal rule
    integrals = [np.cos(frequency * lam) @ values for frequency in omega.ravel()]
    spectrum = np.array(integrals) * _STEP / np.pi
    if (spectrum < -_NEGATIVE * signature(0.0)).any():
        frequency = omega.ravel()[spectrum.argmin()]
        raise ConfigError(
            f"the signature belongs to no kernel: its spectrum is negative, {spectrum.min():.3g}, "
            f"at ω = {frequency:.6g}; use a positive definite function"
        )
    return np.maximum(spectrum, 0).reshape(omega.shape)


def check_signature(signature: Function, length: NDArray, each: bool = False) -> None:
    """Refuse functions that are no signature on the box of differences up to ``length``.

    With ``each`` it is to be even in each variable alone.
    """
    lam = _probes(length)
    values = _evaluated(signature, lam)
    if not values[0] > 0:
        raise ConfigError(f"the signature is {values[0]:g} at 0, expected a positive value")
    mirrors = [-np.eye(len(length))]
    if each:
        mirrors += _mirrors(len(length))
    for mirror in mirrors:
        mirrored = _evaluated(signature, lam @ mirror)
        worst = np.abs(values - mirrored).argmax()
        if abs(values[worst] - mirrored[worst]) > _EVEN * values[0]:
            raise ConfigError(
                f"the signature is not even: it is {values[worst]:.6g} at {_shown(lam[worst])} and "
                f"{mirrored[worst]:.6g} at {_shown(lam[worst] @ mirror)}"
            )


def even_in_each(signature: Function, length: NDArray) -> bool:
    """Return whether a kernel's signature is even in each variable alone."""
    lam = _probes(length)
    values = signature(lam)
    return all(
        np.abs(values - signature(lam @ mirror)).max() <= _EVEN * values[0]
        for mirror in _mirrors(len(length))
    )


def _probes(length: NDArray) -> NDArray:
    """Return zero, the ends of the axes, and points inside that follow no lattice."""
    n = len(length)
    inside = np.modf(np.outer(np.arange(1, 101), _IRRATIONAL[:n]))[0]
    return np.vstack([np.zeros(n), np.eye(n), inside]) * length


def _mirrors(n: int) -> list[NDArray]:
    return [np.eye(n) - 2 * np.diag(axis) for axis in np.eye(n)]


def _evaluated(signature: Function, lam: NDArray) -> NDArray:
    try:
        values = np.asarray(signature(lam), float)
    except (TypeError, ValueError, IndexError) as failure:
        raise ConfigError(f"the signature failed on an array of {len(lam)}: {failure}") from None
    if values.shape != (len(lam),):
        raise ConfigError(f"the signature gave shape {values.shape} for {len(lam)} differences")
    if not np.isfinite(values).all():
        first = np.flatnonzero(~np.isfinite(values))[0]
        raise ConfigError(f"the signature is not finite at {_shown(lam[first])}")
    return values


def _shown(lam: NDArray) -> str:
    return ", ".join(f"{value:.6g}" for value in lam)


def default_period(kernel: str | Kernel, order: int, window: str = "rectangular") -> float:
    """Return the published fit of the best period Λ (hkm Sect. 5.1), else `optimal_period`.

    The hellinger kernel has a single term, for which any period is right: 2π.
    """
    name = kernel.name if isinstance(kernel, Kernel) else kernel
    if name == "hellinger":
        return 2 * np.pi
    if (window, name) not in DEFAULT_PERIODS:
        return optimal_period(kernel, order, window)
    return float(DEFAULT_PERIODS[window, name](order))


def optimal_period(
    kernel: str | Kernel, order: int, window: str = "rectangular", ratio: float | None = None
) -> float:
    r"""Return the period Λ that minimises the largest error of the map on [0, 1]².

    That error is :math:`\sup_\lambda e^{-|\lambda|/2}|\mathcal{K}(\lambda) -
    \hat{\mathcal{K}}(\lambda)|`, with a ``ratio`` of the largest to the smallest value of
    :math:`|\lambda| \le \log` ratio only. The published fits, smooth in n, lie within 30 % of the
    period up to n = 3 and give up to six times its error at single orders.
    """
    from scipy.optimize import minimize_scalar  # takes long to import

    kernel = homogeneous_kernel(kernel)
    if kernel.name == "hellinger":
        return default_period(kernel, order, window)
    lam = np.linspace(0, 40 if ratio is None else np.log(ratio), 2001)

    def largest_error(period: float) -> float:
        spectrum = discrete_spectrum(kernel, order, period, window)
        error = kernel.signature(lam) - series(spectrum, period, lam)
        return np.abs(np.exp(-lam / 2) * error).max()

    periods = np.linspace(1, 60, 119)
    best = int(np.argmin([largest_error(period) for period in periods]))
    around = periods[max(best - 1, 0)], periods[min(best + 1, len(periods) - 1)]
    return float(minimize_scalar(largest_error, bounds=around, method="bounded").x)


def discrete_spectrum(kernel: Kernel, order: int, period: float, window: str) -> NDArray:
    """Return the discrete spectrum of the periodised signature (hkm eq. 17, 21).

    Parameters
    ----------
    kernel : Kernel
        A homogeneous kernel.
    order : int
        n ≥ 0, the number of harmonics.
    period : float
        Λ > 0, in units of log x.
    window : {"rectangular", "uniform"}
        Whether the piece of the signature inside one period is transformed, or the spectrum
        sampled.

    Returns
    -------
    ndarray, shape (n+1,)
        κ̂₀ … κ̂ₙ, at least 0.
    """
    if kernel.name == "hellinger":
        return np.eye(1, order + 1)[0]
    harmonics = np.arange(order + 1) * 2 * np.pi / period
    if window == "uniform":
        return 2 * np.pi / period * kernel.spectrum(harmonics)
    # The signatures are smooth on the half period, where Gauss-Legendre converges exponentially.
    nodes, weights = _gauss_legendre(64 + 4 * order)
    lam = (nodes + 1) * period / 4
    cosines = np.cos(harmonics[:, None] * lam)
    return np.maximum(0, cosines @ (weights * kernel.signature(lam)) / 2)


@cache
def _gauss_legendre(n: int) -> tuple[NDArray, NDArray]:
    return np.polynomial.legendre.leggauss(n)


def series(spectrum: NDArray, period: float, lam: NDArray) -> NDArray:
    """Return the truncated Fourier series of the signature at ``lam`` (hkm eq. 17)."""
    harmonics = np.arange(len(spectrum)) * 2 * np.pi / period
    weights = np.where(harmonics == 0, 1, 2) * spectrum
    return np.cos(lam[:, None] * harmonics) @ weights


def waves(x: Any, spectrum: NDArray, period: float, gamma: float) -> Any:
    """Return the outputs (hkm eq. 17-19) of the homogeneous map at ``x``, ``x.shape + (2n+1,)``."""
    xp = namespace(x)
    order = len(spectrum) - 1
    # A zero has the sign 0, which makes its outputs, and here their slopes, zero.
    magnitude = xp.where(x == 0, xp.ones_like(x), xp.abs(x))
    phase = float(2 * np.pi / period) * xp.log(magnitude)
    root = xp.sign(x) * magnitude ** (gamma / 2)
    factors = like(x, np.sqrt(spectrum * np.r_[1, np.full(order, 2)]))
    outputs = xp.empty((*x.shape, 2 * order + 1), dtype=x.dtype, device=x.device)
    outputs[..., 0] = root * factors[0]
    for j in range(1, order + 1):
        amplitude = root * factors[j]
        outputs[..., 2 * j - 1] = amplitude * xp.cos(j * phase)
        outputs[..., 2 * j] = amplitude * xp.sin(j * phase)
    return outputs
