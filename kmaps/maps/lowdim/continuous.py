r"""Weights for given frequencies, and frequencies that move (ldefm Sect. 4.2).

The cosine is linear in a small change of its frequency,

.. math::
    \cos((\omega + d)\lambda) \approx \cos\omega\lambda - d\,\lambda\sin\omega\lambda,

so that with :math:`\beta = \alpha d` and :math:`|\beta| \le \alpha d^{max}` weights and changes
come from one linear program (ldefm eq. 11-13). The paper halves :math:`d^{max}` each time; here it
is a trust region: halved only when the step made the true error no better, so that the iteration
ends in a local optimum and not where the halvings ended.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmaps.maps.lowdim.cosines import CosineSum, atom_slopes, atom_values
from kmaps.maps.lowdim.lp import Fit, error_norm, minimise
from kmaps.maps.lowdim.target import Target

FIRST_STEP = 0.1  # largest change of a frequency, in half waves (ldefm 4.2: 0.1 for M = π)
PRECISION = 1e-4  # part of the error: smaller gains end the search, lower peaks are flat
_LAST_STEP = 1e-8
_MOST_STEPS = 60
_ROUNDING = 1e-15
_EXCHANGES = 12


@dataclass(frozen=True, eq=False)
class SampledTarget:
    """A target on finitely many points: the rows of the linear programs."""

    target: Target
    points: NDArray
    norm: str

    @classmethod
    def of(cls, target: Target, norm: str = "linf") -> "SampledTarget":
        """Sample a target on its own grid."""
        return cls(target, target.grid(), norm)

    @property
    def quadrature(self) -> NDArray | None:
        """The points' shares of the interval for the L₁ norm, None for L∞."""
        return self.target.quadrature(self.points) if self.norm == "l1" else None

    @property
    def values(self) -> NDArray:
        """The weighted signature at the points."""
        return self.target.weight(self.points) * self.target.signature(self.points)

    def columns(self, frequencies: NDArray, form: str) -> NDArray:
        """Return the weighted atoms at the points (N, m)."""
        weight = self.target.weight(self.points)[:, None]
        return weight * atom_values(frequencies, self.points, form)


def best_weights(
    sampled: SampledTarget, frequencies: NDArray, form: str, near: Fit | None = None
) -> tuple[CosineSum, Fit]:
    """Return the sum of least error with the given frequencies, and the fit of its weights."""
    columns = sampled.columns(frequencies, form)
    fit = minimise(columns, sampled.values, quadrature=sampled.quadrature, near=near)
    return CosineSum(frequencies, fit.x, form), fit


def move(
    sampled: SampledTarget,
    cosines: CosineSum,
    most_steps: int = _MOST_STEPS,
    precision: float = PRECISION,
) -> tuple[CosineSum, Fit]:
    """Move all frequencies that are not zero towards a local optimum of the error on the points."""
    cosines, fit = best_weights(sampled, cosines.frequencies, cosines.form)
    step = FIRST_STEP
    for _ in range(most_steps):
        if step < _LAST_STEP:
            break
        frequencies, promised = _linear_step(sampled, cosines, step, fit)
        if fit.error - promised <= precision * fit.error + _ROUNDING:
            break
        moved, moved_fit = best_weights(sampled, frequencies, cosines.form, fit)
        gain = fit.error - moved_fit.error
        promised_gain = gain + moved_fit.error - promised
        if gain > 0:
            cosines = moved
            fit = moved_fit
        if gain < 0.25 * promised_gain:
            step /= 4
        elif gain > 0.75 * promised_gain:
            step *= 2
    return cosines, fit


def _linear_step(
    sampled: SampledTarget, cosines: CosineSum, step: float, near: Fit
) -> tuple[NDArray, float]:
    """Return the frequencies that the linearised program moves to, and the error it promises."""
    omega = cosines.frequencies
    form = cosines.form
    weight = sampled.target.weight(sampled.points)
    atoms, axes = np.nonzero(omega)  # these atoms' frequencies move along these axes
    slopes = weight[:, None] * atom_slopes(omega, sampled.points, form)[:, atoms, axes]
    reach = step * sampled.target.step[axes]
    # In units of the reach, β is at most α in size.
    A = np.hstack([sampled.columns(omega, form), slopes * reach])
    n_moving = len(atoms)
    alphas = np.zeros((n_moving, len(omega)))
    alphas[np.arange(n_moving), atoms] = -1
    betas = np.eye(n_moving)
    ties = np.vstack([np.hstack([alphas, betas]), np.hstack([alphas, -betas])])
    fit = minimise(
        A, sampled.values, n_free=n_moving, ties=ties, quadrature=sampled.quadrature, near=near
    )
    alpha = fit.x[: len(omega)][atoms]
    beta = fit.x[len(omega) :]
    part_of_reach = np.divide(beta, alpha, out=np.zeros(n_moving), where=alpha > 0)
    moved = omega.copy()
    moved[atoms, axes] += np.clip(part_of_reach, -1, 1) * reach
    if omega.shape[1] == 1 or form == "modulation":
        moved = np.abs(moved)
    return moved, error_norm(A @ fit.x - sampled.values, sampled.quadrature)


def polish(
    sampled: SampledTarget, cosines: CosineSum, continuous: bool, precision: float = PRECISION
) -> tuple[CosineSum, float]:
    """Fit the weights, and with ``continuous`` the frequencies, until nothing hides.

    The points where the true error peaks join the evaluation points until the error between the
    points is no larger than on them, to a relative ``precision``.
    """
    best = cosines
    least_error = np.inf
    for _ in range(_EXCHANGES):
        if continuous:
            cosines, fit = move(sampled, cosines, precision=precision)
        else:
            cosines, fit = best_weights(sampled, cosines.frequencies, cosines.form)
        if sampled.norm == "l1":
            best = cosines
            least_error = sampled.target.true_error(cosines, "l1")
            break
        points, heights = sampled.target.peaks(cosines)
        if heights.max() < least_error:
            best = cosines
            least_error = float(heights.max())
        if heights.max() <= (1 + precision) * fit.error:
            break
        peaks = points[heights > fit.error]
        sampled = replace(sampled, points=np.concatenate([sampled.points, peaks]))
    counts = best.weights > 0
    return CosineSum(best.frequencies[counts], best.weights[counts], best.form), least_error
