"""Additive-kernel regression trained on codes of one byte per value.

The targets y are first shifted by their weighted mean, which the intercept then adds; with
e = y - mean - f(x) the losses are

    epsilon_insensitive ``max(0, |e| - epsilon)``, squared_epsilon_insensitive its square.
"""

import warnings
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kmaps._loops.train import Task
from kmaps.errors import InputError
from kmaps.estimators import RegressorMixin
from kmaps.matrices import row_blocks
from kmaps.svm import losses
from kmaps.svm.coded.estimator import CodedEstimator, Progress
from kmaps.svm.coded.forms import SINGLE_RANGE
from kmaps.svm.coded.parameters import (
    STORED_RIDGE,
    STORED_SVR,
    check_coded_ridge,
    check_coded_svr,
)
from kmaps.svm.coded.problem import make_task
from kmaps.svm.coded.training import CodedRows
from kmaps.svm.learner import input_errors, taken
from kmaps.svm.reduction import Places, check_sample_weight
from kmaps.validation import validate_data

_BLOCK_ROWS = 1 << 16


class CodedRegressor(RegressorMixin, CodedEstimator):
    """A model of targets; a subclass defines the cost of errors."""

    _problem_name = "problem"

    def fit(
        self,
        X: ArrayLike | CodedRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        progress: Progress = None,
    ) -> Self:
        """Turn X into codes and train the model; X, ``sample_weight``, ``progress`` as `CodedSVC`.

        y (n,) are targets, finite numbers. It warns and raises as ``CodedSVC.fit``, and warns when
        all targets are the same.
        """
        self._check_parameters()
        vars(self).pop("normalization_", None)  # of a file: here samples are taken as they are
        self.timings_ = {"convert_s": 0.0}
        if isinstance(X, CodedRows):
            y = _check_targets(y, len(X))
            self.n_features_in_ = X.n_features
        else:
            with input_errors():
                X, y = validate_data(self, X, y, y_numeric=True, **self._checks)
        weights = check_sample_weight(sample_weight, len(y))
        places = np.flatnonzero(weights)
        if len(places) < len(y):
            X, y, weights = taken(X, places), y[places], weights[places]
        training = X if isinstance(X, CodedRows) else self._coded(X)
        y = y.astype(np.float64)
        if y.min() == y.max():
            warnings.warn(f"y is constant: the model predicts {y[0]:g} everywhere", stacklevel=2)
        shift = _mean(y, weights)
        members = np.arange(len(y)) if training.members is None else training.members
        task = partial(self._task, members, y - shift, weights)
        train = partial(self._descend, training, [task], [len(y)], progress)
        self._keep(training, self._timed("train_s", train), weights, shift)
        return self

    def _task(
        self, members: Places, targets: losses.Floats, weights: losses.Floats, norms: losses.Floats
    ) -> Task:
        """State the problem, once the square norms of all rows are known."""
        return make_task(members, targets, norms, self._costs(weights), self._loss, self.bias)

    @property
    @abstractmethod
    def _loss(self) -> losses.Loss: ...

    @abstractmethod
    def _costs(self, weights: losses.Floats) -> losses.Floats:
        """Return the C of each sample."""

    def predict(self, X: ArrayLike | CodedRows) -> losses.Floats:
        """Return the value (n,) of the function at rows, also at rows that were coded beforehand.

        NaN, infinity or another number of features than in ``fit`` raise InputError.
        """
        if isinstance(X, CodedRows):
            return self._scores_of_rows(X)[:, 0]
        X = self.check_samples(X)
        parts = [self._scores(rows)[:, 0] for rows in row_blocks(X, _BLOCK_ROWS)]
        return np.concatenate(parts)

    def add_to_graph(self, graph: Any, x: Any) -> None:
        """Add the predictions of the model to an ONNX graph."""
        graph.add_output("predict", graph.node("Squeeze", self._graph_scores(graph, x), [1]), 1)


def _mean(y: losses.Floats, weights: losses.Floats) -> float:
    """Return the mean of targets; refuse targets that single precision cannot hold without it."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.average(y, weights=weights))
        largest = float(np.abs(y - mean).max())
    smallest, most = SINGLE_RANGE
    if largest and not smallest <= largest <= most:
        raise InputError(
            f"y is up to {largest:.2g} from its mean: training on codes is in single precision and "
            f"takes {smallest:g} to {most:g}; multiply y by a number"
        )
    return mean


def _check_targets(y: Any, n: int) -> losses.Floats:
    try:
        targets = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        raise InputError("y: expected numbers, a target for each row") from None
    if targets.shape != (n,):
        raise InputError(f"targets of shape {targets.shape} for {n} rows: need one per row")
    if not np.isfinite(targets).all():
        raise InputError("Input y contains NaN or infinity: remove those rows")
    return targets


@dataclass(eq=False, repr=False)
class CodedSVR(CodedRegressor):
    """Additive-kernel support vector regression, trained on one byte per value.

    Use it for targets with outliers, and for errors up to epsilon that do not matter.

    Parameters
    ----------
    map
        As in :class:`CodedSVC`.
    C : float, default=1.0
        Weight of the loss against the penalty.
    n_levels
        As in :class:`CodedSVC`.
    bias : float, default=1.0
        Value of a constant feature whose weight, regularised like the others, is added to the
        targets' mean to make the intercept. 0: the intercept is their mean.
    tol, max_iter, warm_start, random_state, form, levels, level_ranges
        As in :class:`CodedSVC`.
    epsilon : float, default=0.1
        Largest error without cost, in the units of the targets.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The part of an error beyond epsilon, or its square.

    Attributes
    ----------
    objective_, duality_gap_ : ndarray, shape (1,)
        The primal objective, ``|w|²/2 + C Σ loss``, and the relative duality gap, a part of it.
    n_iter_ : ndarray of int, shape (1,)
        Passes, rounded up.
    model_, levels_, map_, form_, codes_bytes_, n_features_in_, timings_, model_bytes_
        As in :class:`CodedSVC`.

    See Also
    --------
    CodedRidge : All errors count, squared.
    CodedSVC : The classifier.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.sqrt(X[:, 0]) - 2 * X[:, 1] ** 2
    >>> CodedSVR("intersection", C=10.0, epsilon=0.01).fit(X[:200], y[:200]).score(X, y) > 0.95
    True
    """

    C: float = 1.0
    _: KW_ONLY
    epsilon: float = 0.1
    loss: str = "epsilon_insensitive"

    _stored = STORED_SVR

    def _check_parameters(self) -> None:
        check_coded_svr(self)
        self._check_map()

    @property
    def _loss(self) -> losses.Loss:
        return losses.INSENSITIVE[self.loss](self.epsilon)

    def _costs(self, weights: losses.Floats) -> losses.Floats:
        return self.C * weights


@dataclass(eq=False, repr=False)
class CodedRidge(CodedRegressor):
    """Additive-kernel ridge regression, trained on one byte per value.

    It minimises ``Σ weight_i e_i² + alpha |w|²``: where rows outnumber weights, in one step of
    Newton's method, else by coordinate descent on the dual.

    Use it for targets whose errors are normal, as a smooth additive model.

    Parameters
    ----------
    map
        As in :class:`CodedSVR`.
    alpha : float, default=1.0
        Weight of the penalty against the loss.
    n_levels, bias, tol, max_iter, warm_start, random_state, form, levels, level_ranges
        As in :class:`CodedSVR`.

    Attributes
    ----------
    objective_, duality_gap_ : ndarray, shape (1,)
        The minimised objective, and the relative duality gap, a fraction of it.
    model_, n_iter_, levels_, map_, form_, codes_bytes_, n_features_in_, timings_, model_bytes_
        As in :class:`CodedSVR`.

    See Also
    --------
    CodedSVR : Errors up to epsilon cost nothing; the cost of outliers may grow linearly.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.sqrt(X[:, 0]) - 2 * X[:, 1] ** 2
    >>> CodedRidge("intersection", alpha=0.1).fit(X[:200], y[:200]).score(X, y) > 0.95
    True
    """

    alpha: float = 1.0

    _stored = STORED_RIDGE

    def _check_parameters(self) -> None:
        check_coded_ridge(self)
        self._check_map()

    @property
    def _loss(self) -> losses.Loss:
        return losses.SquaredEpsilonInsensitive()

    def _costs(self, weights: losses.Floats) -> losses.Floats:
        # |w|²/2 + C Σ e² with C = 1 / (2 alpha) is 1 / (2 alpha) of the objective here.
        return weights / (2 * self.alpha)

    def _objectives(self, primal: losses.Floats) -> losses.Floats:
        return 2 * self.alpha * primal

    def _easier(self) -> str:
        return f"raise alpha (now {self.alpha:g})"
