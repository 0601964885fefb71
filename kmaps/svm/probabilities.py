"""Probabilities of classes, from scores of models that were trained without the sample.

A model's scores of its own training samples are too good. So these are cut into folds, each fold is
scored by a model trained on the others, and for each class a function from these scores to
probabilities is fitted: Platt's logistic curve, or a monotone step function (Zadrozny and Elkan,
KDD 2002). Or all scores of a sample are divided by one temperature, and the softmax taken (Guo et
al., ICML 2017, eq. 9). The model that predicts is trained on all samples, as in
``CalibratedClassifierCV(ensemble=False)``.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.sparse import issparse
from scipy.special import expit, logsumexp
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from kmaps.checks import present
from kmaps.errors import ConfigError, InputError
from kmaps.matrix_product import product
from kmaps.progress import showing_part
from kmaps.svm.learner import ReducedClassifier, taken
from kmaps.svm.losses import Floats
from kmaps.svm.parameters import method_of
from kmaps.svm.reduction import Labels, Places, Probabilities

if TYPE_CHECKING:
    from kmaps.onnx_graph import Graph, Tensor

_FOLDS = 5
_STEPS = 100  # steps of Newton's method


def logistic_fit(
    scores: NDArray, positive: NDArray[np.bool_], counts: Floats
) -> tuple[float, float]:
    """Return slope a and shift b for which 1 / (1 + exp(-(a s + b))) is the probability of a class.

    Maximum likelihood by Newton's method with halved steps; rows count ``counts`` times. The
    targets are Platt's, inside 0 and 1, so that separated classes need no infinite slope.
    scikit-learn's own stops early: its probabilities differ by 5e-6.
    """
    n_positive, n_negative = counts @ positive, counts @ ~positive
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    # The unit is the spread of the scores, so that one bound on rounding is enough.
    centre, spread = scores.mean(), scores.std() or 1.0
    columns = np.stack([(scores - centre) / spread, np.ones(len(scores))], axis=1)

    def loss(parameters: NDArray) -> float:
        z = columns @ parameters
        return float(counts @ (np.logaddexp(0, z) - targets * z))

    parameters = np.array([0.0, np.log((n_positive + 1) / (n_negative + 1))])
    current = loss(parameters)
    for _ in range(_STEPS):
        p = expit(columns @ parameters)
        gradient = columns.T @ (counts * (p - targets))
        curvature = (columns.T * (counts * p * (1 - p))) @ columns + 1e-12 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step < 1e-10 * max(current, 1):
            break
        length = 1.0
        while (new := loss(parameters - length * step)) > current - 1e-4 * length * gradient @ step:
            length /= 2
            if length < 1e-10:
                break
        parameters, current = parameters - length * step, new
    slope = parameters[0] / spread
    return float(slope), float(parameters[1] - slope * centre)


def fitted_curves(scores: NDArray, codes: Places, weights: Floats, method: str) -> Probabilities:
    """Return the curves for the scores (n,) or (n, K) of samples with known classes."""
    columns = [(scores, codes == 1)]
    if scores.ndim == 2:
        columns = [(scores[:, k], codes == k) for k in range(scores.shape[1])]
    if method == "temperature":
        factor = np.array([_inverse_temperature(scores, codes, weights)])
        curves = [(factor, np.zeros(1))] * len(columns)
    else:
        fit = _sigmoid if method == "sigmoid" else _isotonic
        curves = [fit(values, positive, weights) for values, positive in columns]
    bounds = np.cumsum([0, *(len(x) for x, _ in curves)])
    x, p = (np.concatenate(parts) for parts in zip(*curves, strict=True))
    return Probabilities(bounds.astype(np.int64), x, p, method)


def _inverse_temperature(scores: NDArray, codes: Places, weights: Floats) -> float:
    """Return the factor of scores (n,) or (n, K) whose softmax is the most likely one."""
    columns = scores if scores.ndim == 2 else np.column_stack([np.zeros(len(scores)), scores])
    columns = columns.astype(np.float64)
    spread = columns.std() or 1.0
    differences = (columns - columns[np.arange(len(codes)), codes, None]) / spread

    def loss(logarithm: float) -> float:
        return float(weights @ logsumexp(np.exp(logarithm) * differences, axis=1))

    # Without a limit, separated classes would have an infinite factor.
    minimum = minimize_scalar(loss, bounds=(-10, 10), method="bounded", options={"xatol": 1e-9})
    return float(np.exp(minimum.x) / spread)


def _sigmoid(values: NDArray, positive: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
    slope, shift = logistic_fit(values.astype(np.float64), positive, weights)
    return np.array([slope]), np.array([shift])


def _isotonic(values: NDArray, positive: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
    from sklearn.isotonic import IsotonicRegression

    curve = IsotonicRegression(y_min=0, y_max=1).fit(
        values.astype(np.float64), positive.astype(np.float64), weights
    )
    return curve.X_thresholds_, curve.y_thresholds_


def held_out_scores(
    learner: "ProbabilisticClassifier", rows: Any, labels: Labels, seed: int
) -> Floats:
    """Return the decision function at each sample, of a model trained without its fold.

    The five stratified folds, fewer if a class has fewer samples, follow from the seed; a class
    with one sample only raises InputError.
    """
    from sklearn.model_selection import StratifiedKFold

    fewest = int(np.bincount(labels.codes).argmin())
    folds = min(_FOLDS, int(np.bincount(labels.codes)[fewest]))
    if folds < 2:
        raise InputError(
            f"probability={learner.probability!r}: class {learner.classes_[fewest]} has a single "
            "sample, and no model can be trained without it; leave probability out"
        )
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    model, scores = clone(learner).set_params(probability=None), None
    y = learner.classes_[labels.codes]
    for k, (train, test) in enumerate(splits.split(y, y)):
        with showing_part(folds, k, "probabilities: trained without a fold"):
            block = model._scores_of_others(rows, y, labels.weights, train, test)
        if scores is None:
            scores = np.empty((len(y), *block.shape[1:]))
        scores[test] = block
    return present(scores, "the scores of the folds")  # there are at least two folds


class ProbabilisticClassifier(ReducedClassifier):
    """A reduced classifier with the parameter ``probability``, and by it ``predict_proba``."""

    probability: str | bool | None
    random_state: int | np.random.RandomState | None
    _probabilities: Probabilities | None = None

    def _fit_probabilities(self, rows: Any, labels: Labels) -> None:
        """Learn the curves, from scores of models that did not see the samples."""
        self._probabilities = None
        if self.probability is None:
            return
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        scores = self._timed("probability_s", held_out_scores, self, rows, labels, seed)
        self._probabilities = fitted_curves(scores, labels.codes, labels.weights, method_of(self))

    def _scores_of_others(
        self, rows: Any, y: NDArray, weights: Floats, train: Places, test: Places
    ) -> NDArray:
        """Train on some of the samples; return the decision function at others of them."""
        self.fit(taken(rows, train), y[train], weights[train])
        return self.decision_function(taken(rows, test))

    @abstractmethod
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Train one binary model for each problem of the reduction."""

    def _add_outputs(self, graph: "Graph", scores: "Tensor") -> None:
        """Add labels, decisions, and the probabilities there are, for scores in an ONNX graph."""
        from kmaps.svm.onnx_heads import add_classifier

        curves = None if self.probability is None else self._probabilities
        add_classifier(graph, scores, self.classes_, self.multiclass, curves)

    @available_if(lambda self: self.probability is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class (n, K) at samples, or at rows prepared beforehand.

        Rows sum to one. The most probable class is not always the predicted one, whose score is the
        largest, but by a temperature.
        """
        return self.probabilities_of(self.decision_function(X))

    @available_if(lambda self: self.probability is not None)  # type: ignore[untyped-decorator]
    def probabilities_of(self, scores: NDArray) -> Floats:
        """Return the probability of each class (n, K) from scores of `decision_function`."""
        if self._probabilities is None:
            raise ConfigError(f"probability={self.probability!r}: was set after fit; fit again")
        return self._probabilities.of(scores)

    @available_if(lambda self: self.probability is not None)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class LinearClassifier(ProbabilisticClassifier):
    """A reduced classifier with weights, one of them for a constant feature, ``bias``."""

    bias: float

    def _set_weights(self, weights: Floats, X: Any) -> None:
        """Keep the weights of each problem, the constant feature's last if there is one."""
        d = X.shape[1]
        self.coef_ = np.ascontiguousarray(weights[:, :d], dtype=X.dtype)
        self.intercept_ = (weights[:, d:].sum(axis=1) * self.bias).astype(X.dtype)
        self.model_bytes_ = self.coef_.nbytes + self.intercept_.nbytes

    def _scores(self, X: Any) -> NDArray:
        if self.probability == "isotonic":
            X = X.astype(np.float64)  # isotonic curves are steep
        scores = X @ self.coef_.T if issparse(X) else product(X, self.coef_.T)
        return scores + self.intercept_

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> None:
        """Add the outputs of the model to an ONNX graph."""
        x = graph.cast(x, np.float64) if self.probability == "isotonic" else x
        self._add_outputs(graph, graph.affine(x, self.coef_.T, self.intercept_))
