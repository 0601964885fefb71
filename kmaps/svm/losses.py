"""The losses, each stated once: a sample's loss, and the limits of its dual variable.

The dual of a problem with the features φ (the constant one among them) is

    max over a:  Σ target_i a_i - Σ conjugate_i(a_i) - |Σ a_i s_i φ(x_i)|² / 2,   low <= a <= high.

A new loss is one class here and its name in `LOSSES`: `CodedSVC` then trains it, and all solvers
refuse it whose list of losses does not have it (`check_combination`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError

Floats = NDArray[np.float64]
Combined = Mapping[str, Collection[str]]  # the losses of a solver, by their penalty


@dataclass(frozen=True)
class Loss:
    """A loss, with the excess e of a sample: its margin y·f(x) less the target, or f(x) - y.

    The conjugate is ``epsilon |a| + ridge a² / 2`` between the bounds: the loss is 0, a parabola
    (with a ridge), then straight (with a finite bound). ``costs`` are the C of each sample.
    """

    name: ClassVar[str]
    target: ClassVar[float | None] = 1.0  # the margin's; None: the labels are the targets
    logistic: ClassVar[bool] = False  # whether the loss has the logistic conjugate
    epsilon: float = 0.0

    @property
    def two_sided(self) -> bool:
        """Whether an excess above zero costs as much as one below."""
        return self.target is None

    def stated(self, y: Floats) -> tuple[Floats, Floats]:
        """Return the signs and the targets of samples with labels ±1, or with targets."""
        if self.target is None:
            return np.ones(len(y)), y
        return y, np.full(len(y), self.target)

    def high(self, costs: Floats) -> Floats:
        """Return the upper bound of the dual variables; the lower one is 0, or minus this."""
        return costs

    def ridge(self, costs: Floats) -> Floats:
        """Return the curvature of the conjugate."""
        return np.zeros(len(costs))

    def cost(self, excess: Floats, costs: Floats) -> Floats:
        """Return each sample's loss."""
        a = np.abs(self.slope(excess, costs))
        return a * self._short(excess) - self.ridge(costs) * a**2 / 2

    def slope(self, excess: Floats, costs: Floats) -> Floats:
        """Return the derivative of :meth:`cost`; minus it is the dual variable at an optimum."""
        short, ridge = self._short(excess), self.ridge(costs)
        bent = np.divide(short, ridge, out=np.full(len(short), np.inf), where=ridge > 0)
        return np.where(short > 0, np.sign(excess) * np.minimum(bent, self.high(costs)), 0.0)

    def conjugate(self, a: Floats, costs: Floats) -> Floats:
        """Return the conjugate of dual variables between the bounds, for the dual objective."""
        return self.epsilon * np.abs(a) + self.ridge(costs) * a**2 / 2

    def _short(self, excess: Floats) -> Floats:
        distance = np.abs(excess) if self.two_sided else -excess
        return np.maximum(distance - self.epsilon, 0)


class Hinge(Loss):
    """max(0, 1 - m), for the margin m."""

    name = "hinge"


class _Squared(Loss):
    def high(self, costs: Floats) -> Floats:
        return np.full(len(costs), np.inf)

    def ridge(self, costs: Floats) -> Floats:
        return 1 / (2 * costs)


class SquaredHinge(_Squared):
    """max(0, 1 - m)²."""

    name = "squared_hinge"


class Logistic(Loss):
    """log(1 + exp(-m))."""

    name = "logistic"
    target = 0.0
    logistic = True

    def cost(self, excess: Floats, costs: Floats) -> Floats:
        """Return the losses of some margins."""
        return costs * np.logaddexp(0, -excess)

    def slope(self, excess: Floats, costs: Floats) -> Floats:
        """Return the derivatives of the losses by the margins."""
        return -costs / (1 + np.exp(excess))

    def conjugate(self, a: Floats, costs: Floats) -> Floats:
        """Return the conjugate of dual variables: minus the entropy of their shares of C."""
        shares = a / costs
        inside = np.where((shares > 0) & (shares < 1), shares, 0.5)
        entropy = inside * np.log(inside) + (1 - inside) * np.log1p(-inside)
        return np.where(inside == shares, costs * entropy, 0.0)


class EpsilonInsensitive(Loss):
    """max(0, abs(e) - epsilon), of regression."""

    name = "epsilon_insensitive"
    target = None


class SquaredEpsilonInsensitive(_Squared):
    """max(0, abs(e) - epsilon)², of regression."""

    name = "squared_epsilon_insensitive"
    target = None


def _named(*losses: type[Loss]) -> dict[str, type[Loss]]:
    return {loss.name: loss for loss in losses}


LOSSES = _named(Hinge, SquaredHinge, Logistic)  # for classification
INSENSITIVE = _named(EpsilonInsensitive, SquaredEpsilonInsensitive)  # for regression
HINGES = (Hinge.name, SquaredHinge.name)


def check_combination(solver: str, combined: Combined, penalty: str, loss: str) -> None:
    """Refuse a penalty and a loss that a solver, whose name the message says, does not combine."""
    if loss not in combined.get(penalty, ()):
        pairs = ", ".join(
            f"{penalty_name} + {name}" for penalty_name, names in combined.items() for name in names
        )
        raise ConfigError(f"penalty={penalty!r} with loss={loss!r}: {solver} combines {pairs}")
