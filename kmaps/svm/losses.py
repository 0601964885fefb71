"""The losses, each stated once: a sample's loss, and the limits of its dual variable.

The dual of a problem with the features φ (the constant one among them) is

    max over a:  Σ target_i a_i - Σ conjugate_i(a_i) - |Σ a_i s_i φ(x_i)|² / 2,   low <= a <= high.

A new loss is one class here and its name in `LOSSES`: `CodedSVC` then trains it, and all solvers
refuse it whose list of losses does not have it (`check_combination`).

The module also has the checks of an estimator's parameters, and the list of those in its files. As
in `kmaps.maps.parameters`, an estimator checks itself by these functions, and a file's parameters
are checked without scikit-learn, which takes seconds to import: ``given`` is an estimator, or any
object that has its parameters as attributes.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import MAX_LEVELS, check_choice, check_number, check_positive, check_whole
from kmaps.errors import ConfigError
from kmaps.kernels import GRAM_KERNELS, WIDTH_KERNELS, check_kernel

Floats = NDArray[np.float64]
Combined = Mapping[str, Collection[str]]  # the losses of a solver, by their penalty
REDUCTIONS = ("ovr", "ovo")  # of several classes to two
METHODS = ("temperature", "sigmoid", "isotonic")  # how scores become probabilities
MAX_ORDER = 100  # the largest order of the homogeneous map inside a random one
MAX_FEATURES = 1 << 22  # for frequencies or landmarks: one frequency then takes 50 MB at order 1
SOLVERS = ("smo", "libsvm")  # the solvers of `KernelSVC`
LANDMARKS = ("uniform", "kmeans", "rpcholesky")  # how landmarks are chosen
PENALTIES = ("l2", "l1")
"""Half the squared norm of all weights, and the sum of the norms of groups of them."""


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
        return costs * np.logaddexp(0, -excess)

    def slope(self, excess: Floats, costs: Floats) -> Floats:
        return -costs / (1 + np.exp(excess))

    def conjugate(self, a: Floats, costs: Floats) -> Floats:
        part = a / costs
        inside = np.where((part > 0) & (part < 1), part, 0.5)
        entropy = inside * np.log(inside) + (1 - inside) * np.log1p(-inside)
        return np.where(inside == part, costs * entropy, 0.0)


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
        pairs = ", ".join(f"{one} + {name}" for one, names in combined.items() for name in names)
        raise ConfigError(f"penalty={penalty!r} with loss={loss!r}: {solver} combines {pairs}")


CODED_SVC: Combined = {"l2": LOSSES, "l1": HINGES}
CODED_SVR: Combined = {"l2": INSENSITIVE}

_CODED = ("n_levels", "bias", "tol", "max_iter", "form")

STORED: dict[str, tuple[str, ...]] = {  # the parameters in files, by the name of the estimator
    "CodedSVC": (
        *("C", "penalty", "loss", "multiclass"),
        *("n_levels", "bias", "tol", "max_iter"),
        *("calibrate", "probability", "form", "smooth"),
    ),
    "CodedSVR": ("C", "epsilon", "loss", *_CODED),
    "CodedRidge": ("alpha", *_CODED),
    "RandomFeatureSVC": (
        *("kernel", "n_frequencies", "C", "order", "sigma", "structure"),
        *("loss", "multiclass", "bias", "tol", "probability"),
    ),
    "KernelSVC": (
        *("kernel", "C", "solver", "multiclass", "gamma", "sigma"),
        *("tol", "cache_mb", "max_iter", "probability"),
    ),
    "LandmarkSVC": (
        *("kernel", "n_landmarks", "C", "sigma", "landmarks"),
        *("loss", "multiclass", "bias", "tol", "probability"),
    ),
}


def check_bias(bias: object) -> None:
    """Refuse a bias that is not a finite number of at least 0."""
    check_number("bias", bias, at_least=0, note=" (0: no intercept)")


def check_loss(given: Any, name: str, combined: Combined, penalty: str) -> None:
    """Refuse a C or a bias out of range, and a loss or a penalty that is not combined."""
    check_positive("C", given.C)
    check_bias(given.bias)
    check_choice("penalty", penalty, PENALTIES)
    check_choice("loss", given.loss, dict.fromkeys(chain(*combined.values())))
    check_combination(name, combined, penalty, given.loss)


def method_of(given: Any) -> Any:
    """Return how probabilities are measured: True is the best way, by a temperature."""
    return METHODS[0] if given.probability is True else given.probability


def check_probability(given: Any) -> None:
    """Refuse an unknown way to measure probabilities."""
    if given.probability is not None:
        check_choice("probability", method_of(given), METHODS)


def check_coding(given: Any) -> None:
    """Refuse parameters of all models on codes that are out of range."""
    check_positive("tol", given.tol)
    check_whole("n_levels", given.n_levels, 2, MAX_LEVELS)
    check_whole("max_iter", given.max_iter, 1)


def check_coded_svc(given: Any) -> None:
    """Refuse parameters of `CodedSVC` out of range, of those that its files hold."""
    check_loss(given, "CodedSVC", CODED_SVC, given.penalty)
    if given.penalty == "l1" and given.form not in ("auto", "low-rank"):
        raise ConfigError(
            f"form={given.form!r}: penalty='l1' needs the columns of a table; choose "
            "form='low-rank'"
        )
    check_choice("multiclass", given.multiclass, REDUCTIONS)
    check_coding(given)
    check_probability(given)
    check_number("smooth", given.smooth, at_least=0)
    if given.smooth and given.form in ("local", "two-level"):
        raise ConfigError(
            f"form={given.form!r}: smooth={given.smooth:g} changes the kernel, which then has no "
            "such form; choose form='auto'"
        )
    if given.calibrate and given.multiclass == "ovo":
        raise ConfigError("calibrate=True: one-vs-one has no class scores; choose multiclass='ovr'")


def check_coded_svr(given: Any) -> None:
    """Refuse parameters of `CodedSVR` out of range."""
    check_loss(given, "CodedSVR", CODED_SVR, "l2")
    check_number("epsilon", given.epsilon, at_least=0)
    check_coding(given)


def check_coded_ridge(given: Any) -> None:
    """Refuse parameters of `CodedRidge` out of range."""
    check_positive("alpha", given.alpha)
    check_bias(given.bias)
    check_coding(given)


def _check_mapped(given: Any) -> None:
    check_kernel(given.kernel, WIDTH_KERNELS)
    check_positive("C", given.C)
    check_choice("loss", given.loss, HINGES)
    check_bias(given.bias)
    check_positive("tol", given.tol)
    check_choice("multiclass", given.multiclass, REDUCTIONS)
    check_probability(given)


def check_random_features(given: Any) -> None:
    """Refuse parameters of `RandomFeatureSVC` out of range, of those that its files hold."""
    _check_mapped(given)
    check_whole("n_frequencies", given.n_frequencies, 1)
    check_whole("order", given.order, 0, MAX_ORDER)


def check_landmarks(given: Any) -> None:
    """Refuse parameters of `LandmarkSVC` out of range, of those that its files hold."""
    _check_mapped(given)
    check_whole("n_landmarks", given.n_landmarks, 1)
    check_choice("landmarks", given.landmarks, LANDMARKS)


def check_kernel_solver(given: Any) -> None:
    """Refuse parameters of `KernelSVC` out of range, except the parameters of its kernel."""
    for name, value in (("C", given.C), ("tol", given.tol), ("cache_mb", given.cache_mb)):
        check_positive(name, value)
    check_choice("solver", given.solver, SOLVERS)
    check_whole("max_iter", given.max_iter, 1, or_none=True)
    if str(given.sigma) == "auto":
        raise ConfigError("sigma='auto': kmaps.KernelSVCCV chooses the width, with C")
    check_probability(given)


def check_kernel_svc(given: Any, sigma: object) -> None:
    """Refuse parameters of `KernelSVC` out of range, and a learnt width, that files hold."""
    check_kernel_solver(given)
    check_choice("multiclass", given.multiclass, REDUCTIONS)
    check_kernel(given.kernel, GRAM_KERNELS)
    check_positive("gamma", given.gamma)
    if given.kernel in ("linear", "rbf") and given.gamma != 1:
        raise ConfigError(f"kernel {given.kernel!r} has no gamma, got {given.gamma!r}")
    if given.kernel in WIDTH_KERNELS:
        check_positive("sigma", sigma)
    elif sigma is not None:
        raise ConfigError(f"kernel {given.kernel!r} has no sigma, only rbf and the exp- kernels do")


CHECKS: dict[str, Callable[[Any], None]] = {  # the checks, by the name of the estimator
    "CodedSVC": check_coded_svc,
    "CodedSVR": check_coded_svr,
    "CodedRidge": check_coded_ridge,
    "RandomFeatureSVC": check_random_features,
    "LandmarkSVC": check_landmarks,
}
