r"""Signatures that users define: whether they are a kernel's, and the kernel that they are of.

A homogeneous kernel is its signature, :math:`k(x, y) = \sqrt{xy}\,\mathcal{K}(\log y/x)`, and a
function is the signature of a kernel if, and only if, it is positive definite (hkm Lemma 1), so
that every stationary kernel has a homogeneous one: the Gaussian the log-Gaussian,
:math:`\sqrt{xy}\,e^{-\log^2(y/x)/2\sigma^2}`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.errors import ConfigError
from kmaps.kernels import LOG_KERNELS, STATIONARY, Kernel, get_kernel

Function = Callable[[NDArray], NDArray]

_IRRATIONAL = np.sqrt([2.0, 3.0, 5.0])
_EVEN = 1e-9  # of the value at 0, by which mirrored values may differ
_GONE = 1e-9  # of the value at 0, below which a signature has vanished
_LONGEST = 4096.0  # where it has to have done so
_STEP = 0.01  # of the trapezoidal rule: exponentially exact for smooth signatures, 1e-5 at a cusp
_NEGATIVE = 1e-4  # of the value at 0, by which a spectrum may be negative: the rule at a cusp


def signature_kernel(signature: Function, name: str = "signature") -> Kernel:
    r"""Return the homogeneous kernel of a signature (hkm eq. 2-3, 10).

    The kernel is what `HomogeneousMap` takes, and as a function k(x, y) what `kmaps.gram`,
    `ExactMap` and `CodedSVC` take. ``signature`` is an even function of λ = log y/x, elementwise on
    arrays, positive at 0 and positive definite; anything else is refused (ConfigError), what is not
    positive definite when the spectrum is asked for. That is integrated numerically, for signatures
    that vanish by |λ| = 4096.

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
    """Return the kernel with the signature of a stationary one, of a width in units of log x."""
    return signature_kernel(STATIONARY[LOG_KERNELS[name]](sigma), name)


def homogeneous_kernel(given: str | Kernel | Function) -> Kernel:
    """Return the homogeneous kernel of a name, of a signature, or itself."""
    if isinstance(given, Kernel):
        return given
    if isinstance(given, str) and given in LOG_KERNELS:
        return log_kernel(given)
    return signature_kernel(given) if callable(given) else get_kernel(given)


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
    values[0] /= 2  # the trapezoidal rule's end
    spectrum = np.array([np.cos(one * lam) @ values for one in omega.ravel()]) * _STEP / np.pi
    if (spectrum < -_NEGATIVE * signature(0.0)).any():
        where = omega.ravel()[spectrum.argmin()]
        raise ConfigError(
            f"the signature is no kernel's: its spectrum is negative, {spectrum.min():.3g}, at "
            f"ω = {where:.6g}; use a positive definite function"
        )
    return np.maximum(spectrum, 0).reshape(omega.shape)


def check_signature(signature: Function, length: NDArray, each: bool = False) -> None:
    """Refuse what cannot be a signature on the box of differences up to ``length``.

    With ``each`` it is to be even in each variable alone.
    """
    lam = _probes(length)
    there = _evaluated(signature, lam)
    if not there[0] > 0:
        raise ConfigError(f"the signature is {there[0]:g} at 0: a kernel's is positive there")
    for mirror in [-np.eye(len(length)), *(_mirrors(len(length)) if each else [])]:
        mirrored = _evaluated(signature, lam @ mirror)
        worst = np.abs(there - mirrored).argmax()
        if abs(there[worst] - mirrored[worst]) > _EVEN * there[0]:
            raise ConfigError(
                f"the signature is not even: it is {there[worst]:.6g} at {_shown(lam[worst])} and "
                f"{mirrored[worst]:.6g} at {_shown(lam[worst] @ mirror)}"
            )


def even_in_each(signature: Function, length: NDArray) -> bool:
    """Return whether a kernel's signature is even in each variable alone."""
    lam = _probes(length)
    there = signature(lam)
    return all(
        np.abs(there - signature(lam @ mirror)).max() <= _EVEN * there[0]
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
        where = lam[np.flatnonzero(~np.isfinite(values))[0]]
        raise ConfigError(f"the signature is not finite at {_shown(where)}")
    return values


def _shown(lam: NDArray) -> str:
    return ", ".join(f"{value:.6g}" for value in lam)
