"""The choice of the width of an exponential kernel, together with C, by cross-validation.

The widths have σ² = D̄² / t with the mean squared distance D̄² between training rows and t of 1, 2,
4 and 8; the grid grows on the side of its best value, two powers of two at a time, by the rule that
:mod:`kmaps.models.choice` has for C: until the best is inside, or the edge is flat. At each width C
is chosen by that rule, or is as given, and the width counts by its best C; of equally good widths
the widest is chosen. Distances are computed once for all widths and folds. A row that alone makes
D̄² more than 20 % larger is left out of it, with a warning.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.checks import check_positive, check_whole
from kmaps.errors import ConfigError
from kmaps.gram_matrix import squared_distance
from kmaps.kernels import WIDTH_KERNELS
from kmaps.models import choice
from kmaps.models.landmarks import exponential, mean_width
from kmaps.models.renaming import renamed
from kmaps.progress import ProgressReporter, showing
from kmaps.svm import KernelSVC
from kmaps.svm.learner import input_errors
from kmaps.svm.reduction import check_sample_weight
from kmaps.validation import check_array

_DIVISORS = choice.Powers(2.0, -6, 12, (0, 3))  # t, which divides the mean squared distance
_NAMES = ", ".join(WIDTH_KERNELS)


class HasWidth(Protocol):
    """A model with a width that it can be tried at, such as `RandomFeatureSVC`."""

    kernel: str
    C: Any
    sigma: Any
    verbose: int

    def at_widths(
        self, X: Any, y: NDArray, weights: NDArray, mean: float
    ) -> Callable[[float], choice.Predict]:
        """Return a function that makes the ``predict`` of `cross_validate` for a width.

        ``mean`` is the width whose square is the mean squared distance.
        """


@dataclass(frozen=True)
class WidthChoice:
    """The result of cross-validation.

    Parameters
    ----------
    sigma : float
        The width that is chosen.
    C : float
        The C that is chosen together with it.
    fractions : tuple of float
        The tried widths, as fractions σ² / D̄² of the mean squared distance, descending.
    accuracies : tuple of float
        The held-out accuracy of each, at its best C.
    choices : tuple of Choice
        The tried values of C at each width.
    chosen : int
        The place of the chosen width among the widths.
    """

    sigma: float
    C: float
    fractions: tuple[float, ...]
    accuracies: tuple[float, ...]
    choices: tuple[choice.Choice, ...]
    chosen: int


@renamed(Cs="C", folds="cv", seed="random_state")
def choose_width(
    model: KernelSVC | HasWidth,
    X: ArrayLike,
    y: ArrayLike,
    C: choice.Values | None = None,
    *,
    cv: int = 3,
    random_state: int = 0,
    samples: int | None = 5000,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> WidthChoice:
    """Choose the width of a model, and its C, by the accuracy on samples left out.

    Parameters
    ----------
    model : KernelSVC, RandomFeatureSVC or LandmarkSVC
        Not fitted. With a ``sigma`` other than "auto" that width stays, and C alone is chosen.
    X : array-like or CSR, shape (n, d)
        Samples.
    y : array-like, shape (n,)
        Labels.
    C : {"auto", "path", "plateau"} or iterable of float, optional
        As for :func:`kmaps.models.cross_validate`; by default the ``C`` of the model.
    cv, random_state : int
        The number of folds; draws them.
    samples : int, optional
        How many samples to use, a stratified draw; None: all. A `KernelSVC` keeps a matrix of
        samples² distances.
    sample_weight : array-like, shape (n,), optional
        Weights for training alone.
    groups : array-like, shape (n,), optional
        Groups that no fold divides.

    Returns
    -------
    WidthChoice
        The chosen width and C, and all that were compared.

    Examples
    --------
    >>> from kmaps import LandmarkSVC
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> y = np.floor(4 * X[:, 0]) % 2
    >>> choice = choose_width(LandmarkSVC("rbf", 50, sigma="auto"), X, y, "auto")
    >>> choice.fractions[0], choice.sigma < 0.5, max(choice.accuracies) > 0.9
    (1.0, True, True)
    """
    if model.kernel not in WIDTH_KERNELS:
        raise ConfigError(f"sigma='auto': kernel {model.kernel!r} has no width, {_NAMES} have one")
    check_whole("cv", cv, 2)
    check_whole("random_state", random_state, 0)
    wanted: Any = model.C if C is None else C
    values_of_c = wanted if isinstance(wanted, str) else choice.first_values(wanted)
    choice.first_values(values_of_c)
    with input_errors():
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    weights = check_sample_weight(sample_weight, X.shape[0])
    gamma = vars(model).get("gamma", 1.0)
    mean = model.sigma
    if mean in (None, choice.AUTO):
        mean = mean_width(X, model.kernel, gamma, robust=mean == choice.AUTO)
    check_positive("sigma", mean, note=", None or 'auto'")
    chosen = choice.stratified_sample(y, samples, random_state)
    X, y, weights = X[chosen], np.asarray(y)[chosen], weights[chosen]
    parts = choice.splits(y, cv, groups if groups is None else np.asarray(groups)[chosen])
    at_widths = partial(_gram_widths, model) if isinstance(model, KernelSVC) else model.at_widths
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the final model gives its warnings
        predict_at = at_widths(X, y, weights, mean)
        return _compare(
            lambda t: choice.scores_along_c(predict_at(mean / t**0.5), values_of_c, y, parts),
            mean,
            model,
            rule_of_c=choice.rule_of(values_of_c),
        )


def _compare(
    scores_of: Callable[[float], dict[float, NDArray]],
    mean: float,
    model: KernelSVC | HasWidth,
    *,
    rule_of_c: str | None,
) -> WidthChoice:
    """Choose among the widths with these scores by C; or of one width, if the model has one."""
    progress = ProgressReporter(type(model).__name__ if model.verbose else "")
    compared: dict[float, dict[float, NDArray]] = {}
    best: dict[float, NDArray] = {}
    widths: choice.Values = choice.AUTO if model.sigma == choice.AUTO else (1.0,)
    for values in choice.rounds(widths, best, _DIVISORS):
        total = len(compared) + len(values)
        for t in values:
            with showing(None):  # hides the progress for each width
                compared[t] = scores_of(t)
            best[t] = compared[t][choice.decide(compared[t], rule_of_c).chosen]
            progress.report_compared(len(compared), total, "widths")
    chosen = choice.decide(best, choice.rule_of(widths), _DIVISORS).chosen
    divisors = sorted(best)
    return WidthChoice(
        mean / chosen**0.5,
        choice.decide(compared[chosen], rule_of_c).chosen,
        tuple(1 / t for t in divisors),
        tuple(float(np.mean(best[t])) for t in divisors),
        tuple(choice.choice_of(compared[t], rule_of_c) for t in divisors),
        divisors.index(chosen),
    )


def _gram_widths(
    model: KernelSVC, X: Any, y: NDArray, weights: NDArray, mean: float
) -> Callable[[float], choice.Predict]:
    """Return a function that makes the ``predict`` of a width, from one matrix of distances."""
    squared = squared_distance(X, kernel=model.kernel, gamma=model.gamma)
    # Not a clone: a KernelSVCCV would choose for itself.
    parameters = {"kernel": "precomputed", "sigma": None, "probability": None, "verbose": 0}
    precomputed = KernelSVC(**model.get_params(deep=False) | parameters)
    return lambda sigma: choice.along_c_precomputed(
        precomputed, exponential(squared, sigma), y, weights=weights
    )
