"""The choice of C for models on codes, along a path, with all folds at once."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import MAX_LEVELS, check_whole, is_whole
from kmaps.kernels import ScalarKernel
from kmaps.maps.capabilities import Tabulated
from kmaps.models import choice as rules
from kmaps.models.renaming import OLD, current, renamed
from kmaps.progress import showing_part
from kmaps.svm import CodedSVC
from kmaps.svm.coded.folds import FoldModels
from kmaps.svm.coded.training import CodedRows
from kmaps.svm.learner import input_errors
from kmaps.svm.losses import Hinge
from kmaps.svm.probabilities import ProbabilisticClassifier
from kmaps.svm.reduction import check_sample_weight
from kmaps.thread_pool import threads, threads_of
from kmaps.validation import validate_data

_AT_BOUND = 1e-5  # a dual variable, in single precision, so near to its bound is at it


@renamed(grid="C", folds="cv", seed="random_state")
def choose_along_path(
    model: CodedSVC,
    rows: CodedRows,
    y: ArrayLike,
    C: rules.Values = rules.PATH,
    *,
    cv: int = 3,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> rules.Choice:
    """Choose C by the accuracy on samples left out, each once, in stratified folds.

    The folds and the rules are as in :func:`kmaps.models.cross_validate`. All binary problems of
    all folds are trained at once, on `kmaps.threads`, each value of C from the dual variables of
    the one before it, to a gap of :data:`kmaps.models.choice.FOLD_TOL`. The choice is the same on
    any number of threads.

    Parameters
    ----------
    model : CodedSVC
        Copies of it are trained.
    rows : CodedRows
        All samples, as :func:`kmaps.svm.code_rows` returns them.
    y : array-like, shape (n,)
        Labels.
    C : {"path", "auto", "plateau"} or iterable of float, default="path"
        A rule of :mod:`kmaps.models.choice`, or values to compare, all of them.
    cv, random_state : int
        The number of folds; draws them.
    sample_weight : array-like, shape (n,), optional
        For training; samples of weight 0 are left out, and all others count once in accuracies.
    progress : callable, optional
        ``progress(done, total)`` is called after every C.

    Returns
    -------
    Choice
        The chosen value, and the held-out accuracies of all that were compared.

    Examples
    --------
    >>> from kmaps.svm import code_rows
    >>> X = np.random.default_rng(0).random((90, 2))
    >>> y = np.where(X[:, 0] > 0.5, "right", "left")
    >>> choice = choose_along_path(CodedSVC("js"), code_rows("js", lambda: [X]), y)
    >>> choice.grid[0], choice.grid[-1] <= 100, max(choice.accuracies) > 0.9
    (0.1, True, True)
    """
    C = C if isinstance(C, str) else rules.first_values(C)
    check_whole("cv", cv, 2)
    check_whole("random_state", random_state, 0)
    rules.first_values(C)
    y = np.asarray(y)
    weights = check_sample_weight(sample_weight, len(rows))
    counting = np.flatnonzero(weights)
    chosen = counting[rules.stratified_order(y[counting], random_state)]
    y = y[chosen]
    parts = rules.splits(y, cv)
    learner = clone(model).set_params(tol=max(model.tol, rules.FOLD_TOL))
    models = FoldModels(learner, rows.take(chosen), y, parts, weights[chosen])
    scores: dict[float, NDArray] = {}
    binding: set[float] = set()
    missed: set[float] = set()
    rule = rules.rule_of(C)
    for values in rules.rounds(C, scores, unbound=lambda: rules.unbound_from(scores, binding)):
        total = len(scores) + len(values)
        for value in values:
            with showing_part(total, len(scores), rules.COMPARED):
                predicted = models.predict(value)
            right = [y[test] == labels for (_, test), labels in zip(parts, predicted, strict=True)]
            scores[value] = np.concatenate(right)
            if models.missed:
                missed.add(value)
            if rule != rules.PLATEAU or _binds(models):
                binding.add(value)
            progress(len(scores), total)
            largest = max(scores) == value
            if rule == rules.PATH and largest and rules.decide(scores, rule).has_fallen:
                break
    return rules.choice_of(scores, rule, missed)


def _binds(models: FoldModels) -> bool:
    """Return whether C bounds a dual variable of a model; other losses than the hinge have none."""
    learner = models.folds[0].learner
    if learner.loss != Hinge.name or learner.penalty != "l2":
        return True
    for fold in models.folds:
        for problem, dual in zip(fold.problems, fold.duals, strict=True):
            bound = fold.learner.C * problem.factors
            if dual is None or (dual >= (1 - _AT_BOUND) * bound).any():
                return True
    return False


@dataclass(eq=False, repr=False)
class CodedSVCCV(ProbabilisticClassifier):
    """`CodedSVC` whose C is chosen by cross-validation along a path.

    Use it where C is not known; the result is a `CodedSVC`. A whole path of C takes at most about
    three times as long as its largest value alone: each value starts from the models of the value
    before, and the folds share the codes and the threads.

    Parameters
    ----------
    map : {"chi2", "intersection", "js", "hellinger"}, callable or map, default="chi2"
        As in `CodedSVC`.
    C : {"path", "auto", "plateau"} or list of float, default="path"
        A rule of :mod:`kmaps.models.choice`, or the values of C to compare.
    cv : int, default=3
        Stratified folds: parts of the samples, of which each is left out once.
    n_jobs : int or None, default=None
        Threads; None: as many as `kmaps.threads` says, -1: as many as there are processors. The
        result is the same on any number.
    penalty, loss, multiclass, n_levels, bias, tol, max_iter, class_weight, calibrate, probability
        As in `CodedSVC`. The models of the folds stop at a gap of 0.01, if ``tol`` is not larger.
    random_state : int, RandomState or None, default=0
        Draws the folds, and the order of the samples.
    form, levels, level_ranges, smooth, verbose
        As in `CodedSVC`.
    Cs, folds, seed
        The old names of ``C``, ``cv`` and, for the folds, ``random_state``; they work until the
        next release.

    Attributes
    ----------
    C_ : float
        The chosen value.
    choice_ : Choice
        The tried values, with their held-out accuracies.
    best_estimator_ : CodedSVC
        The model trained on all samples with this C, the same as of ``CodedSVC(C=C_)``. It has
        functions, importances, ``save``, ``n_iter_`` and ``duality_gap_``.
    timings_ : dict
        Seconds: ``convert_s`` (levels, codes, tables), ``choose_s``, ``train_s``.

    See Also
    --------
    CodedSVC : With a given C.
    kmaps.models.cross_validate : The same choice for every learner, one fold after the other.

    Notes
    -----
    The levels, and a map that learns from data, are learnt from all samples, including held-out
    ones; labels of held-out samples are not used.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "up", "down")
    >>> model = CodedSVCCV("chi2").fit(X, y)
    >>> model.C_ in model.choice_.grid, bool(model.score(X, y) > 0.9)
    (True, True)
    """

    map: "Tabulated | ScalarKernel | str" = "chi2"
    C: Any = rules.PATH  # the name of a rule, or values
    _: KW_ONLY
    cv: int = 3
    n_jobs: int | None = None
    penalty: str = "l2"
    loss: str = "hinge"
    multiclass: str = "ovr"
    n_levels: int = MAX_LEVELS
    bias: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    class_weight: dict | str | None = None
    calibrate: bool = False
    probability: str | bool | None = None
    random_state: int | np.random.RandomState | None = 0
    form: str = "auto"
    levels: "ArrayLike | None" = None
    level_ranges: str = "auto"
    smooth: float = 0.0
    verbose: int = 0
    Cs: Any = OLD
    folds: Any = OLD
    seed: Any = OLD

    @property
    def _checks(self) -> dict[str, Any]:
        return self._estimator()._checks

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = self._estimator().__sklearn_tags__().input_tags
        return tags

    def fit(
        self, X: ArrayLike | CodedRows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "CodedSVCCV":
        """Turn X into codes, choose C, and train on all samples with it; else as ``CodedSVC.fit``.

        Samples of weight 0 are left out, and every other one counts once in held-out accuracies. It
        also raises InputError for fewer samples than folds, or so few of all classes but one that a
        fold has all of them.
        """
        estimator = self._estimator()
        C = current(self, "Cs", "C")
        cv = current(self, "folds", "cv")
        random_state = current(self, "seed", "random_state")
        if not is_whole(random_state, 0):
            random_state = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        self.timings_: dict[str, float] = {}
        with threads(threads_of(self.n_jobs)):
            rows, y = self._check_rows(estimator, X, y, sample_weight)
            choose = partial(choose_along_path, cv=cv, random_state=random_state)
            heard = self._progress().report_compared
            choose = partial(choose, sample_weight=sample_weight, progress=heard)
            self.choice_ = self._timed("choose_s", choose, estimator, rows, y, C)
            self.C_ = self.choice_.C
            estimator.set_params(C=self.C_).fit(rows, y, sample_weight)
        self.best_estimator_ = estimator
        self.n_iter_, self.duality_gap_ = estimator.n_iter_, estimator.duality_gap_
        self.timings_["train_s"] = estimator.timings_["train_s"]
        if "feature_names_in_" in vars(self):
            estimator.feature_names_in_ = self.feature_names_in_
        self._probabilities = estimator._probabilities
        return self

    def _estimator(self) -> CodedSVC:
        """Return an unfitted `CodedSVC` with all parameters that the two have in common."""
        common = self.get_params(deep=False).keys() & CodedSVC().get_params(deep=False).keys()
        common -= {"C"}
        return CodedSVC().set_params(**{name: getattr(self, name) for name in common})

    @property
    def machine_(self) -> CodedSVC:
        """The old name of ``best_estimator_``."""
        warnings.warn("machine_ is now best_estimator_", DeprecationWarning, stacklevel=2)
        return self.best_estimator_

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return ``importance_`` of ``best_estimator_``."""
        check_is_fitted(self)
        return self.best_estimator_.importance_

    def _check_rows(
        self, estimator: CodedSVC, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[CodedRows, NDArray]:
        """Check all there is before any work; return the samples as codes, and their labels."""
        estimator._check_parameters()
        if isinstance(X, CodedRows):
            self._check_prepared(X, y, sample_weight)
            self.timings_["convert_s"] = 0.0
            return X, np.asarray(y)
        with input_errors():
            X, y = validate_data(self, X, y, **self._checks)
        self._check_labels(y, sample_weight)
        estimator.timings_ = self.timings_
        return estimator._coded(X, vars(self).get("feature_names_in_")), y

    def decision_function(self, X: ArrayLike | CodedRows) -> NDArray:
        """Score rows, as every classifier here does, rows coded beforehand included."""
        check_is_fitted(self)
        if isinstance(X, CodedRows):
            return self.best_estimator_.decision_function(X)
        return super().decision_function(X)

    def _scores(self, X: Any) -> NDArray:
        return self.best_estimator_._scores(X)

    def _score_width(self) -> int:
        return self.best_estimator_._score_width()

    def add_to_graph(self, graph: Any, x: Any) -> None:
        """Add the outputs of the model to an ONNX graph.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`, to which nodes and outputs are added.
        x : Tensor
            Rows (n, d) in it.
        """
        self.best_estimator_.add_to_graph(graph, x)
