"""The choice of C for machines on codes, along a path, with all folds at once."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from kmaps.checks import MAX_LEVELS, check_whole
from kmaps.errors import ConfigError
from kmaps.kernels import ScalarKernel
from kmaps.maps.capabilities import Tabulated
from kmaps.models.c_grid import AUTO, PATH, extension, has_fallen
from kmaps.models.choice import Choice, checked_grid, choice_of, splits
from kmaps.models.folds import stratified_order
from kmaps.parallel import threads, threads_of
from kmaps.svm import CodedSVC
from kmaps.svm.coded.folds import FoldModels
from kmaps.svm.coded.training import CodedRows, code_samples
from kmaps.svm.learner import input_errors
from kmaps.svm.probabilities import ProbabilisticClassifier
from kmaps.svm.reduction import check_sample_weight

Values = Iterable[float] | str
"""Values of C, or the word for a rule of `kmaps.models.c_grid`."""

FOLD_TOL = 1e-2
"""The relative duality gap at which machines that only choose C stop, if theirs is not larger.

On 6,000 digits of MNIST their held-out accuracies differ by at most 0.2 points from those at 1e-4,
half a standard error, in less than half the time (``python -m benchmarks path``).
"""


def choose_along_path(
    model: CodedSVC,
    rows: CodedRows,
    y: ArrayLike,
    grid: Values = PATH,
    *,
    folds: int = 3,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Choice:
    """Choose C by the accuracy on samples left out, each once, in stratified folds.

    The folds and the rules are those of :func:`kmaps.models.cross_validate`. All binary problems of
    all folds are trained at once, on `kmaps.threads`, each value of C from the dual variables of
    the one before it, to a gap of :data:`FOLD_TOL`. The choice is the same on any number of
    threads.

    Parameters
    ----------
    model : CodedSVC
        Copies of it are trained.
    rows : CodedRows
        All samples, of :func:`kmaps.svm.code_rows`.
    y : array-like, shape (n,)
        Labels, numbers or strings.
    grid : "path", "auto" or iterable of float
        ``"auto"``: from 0.1 to 10, extended until the best value is inside or the edge is flat;
        ``"path"``: the same, but no further up than where held-out accuracy has fallen; the rules
        of :mod:`kmaps.models.c_grid`. Or values to compare, all of them.
    folds : int, default=3
        Parts of the samples, of which each is left out once.
    seed : int, default=0
        Of the folds.
    sample_weight : array-like, shape (n,), optional
        Of training; samples of weight 0 are left out, and all others count once in accuracies.
    progress : callable, optional
        Called with the values of C that are done, and how many there are at most so far.

    Returns
    -------
    Choice

    Raises
    ------
    ConfigError, InputError
        As of `cross_validate` and ``CodedSVC.fit``.

    Warns
    -----
    ConvergenceWarning
        With the gap reached, when ``max_iter`` passes were not enough for some machines.

    Examples
    --------
    >>> from kmaps.svm import code_rows
    >>> X = np.random.default_rng(0).random((90, 2))
    >>> y = np.where(X[:, 0] > 0.5, "right", "left")
    >>> found = choose_along_path(CodedSVC("js"), code_rows("js", lambda: [X]), y)
    >>> found.grid[0], found.grid[-1] <= 100, max(found.accuracies) > 0.9
    (0.1, True, True)
    """
    values = _first_values(grid)
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0)
    y, weights = np.asarray(y), check_sample_weight(sample_weight, len(rows))
    counting = np.flatnonzero(weights)
    chosen = counting[stratified_order(y[counting], seed)]
    y = y[chosen]
    parts = splits(y, folds)
    learner = clone(model).set_params(tol=max(model.tol, FOLD_TOL))
    machines = FoldModels(learner, rows.take(chosen), y, parts, weights[chosen])
    scores: dict[float, NDArray] = {}
    extended = isinstance(grid, str)
    while values:
        total = len(scores) + len(values)
        for C in values:
            predicted = machines.predict(C)
            right = [y[test] == found for (_, test), found in zip(parts, predicted, strict=True)]
            scores[C] = np.concatenate(right)
            progress(len(scores), total)
            if grid == PATH and max(scores) == C and has_fallen(scores):
                break
        values = extension(scores) if extended else ()
    return choice_of(scores, extended=extended)


def _first_values(grid: Values) -> tuple[float, ...]:
    """Return the values of C to begin with."""
    if isinstance(grid, str) and grid not in (PATH, AUTO):
        raise ConfigError(f"grid={grid!r}: expected values of C, 'path' or 'auto'")
    return checked_grid(AUTO if grid == PATH else grid)


class CodedSVCCV(ProbabilisticClassifier):
    """`CodedSVC` whose C is chosen by cross-validation along a path.

    A whole path of C takes at most about three times as long as its largest value alone: each value
    starts where the machines stopped at the one before, the folds share the codes and the threads,
    and the path ends once held-out accuracy has fallen.

    Use it where C is not known; what it gives is a `CodedSVC`.

    Parameters
    ----------
    map : {"chi2", "intersection", "js", "hellinger"}, callable or map, default="chi2"
        As of `CodedSVC`.
    Cs : "path", "auto" or list of float, default="path"
        The values of C to compare, by factors of √10. ``"auto"``: from 0.1 to 10, extended until
        the best value is inside or the edge is flat, as in experiments. ``"path"``: the same, but
        no further up than where held-out accuracy has fallen. A list: all of it.
    folds : int, default=3
        Parts of the samples, stratified, of which each is left out once.
    seed : int, default=0
        Of the folds.
    n_jobs : int or None, default=None
        Threads; None: as many as `kmaps.threads` says, -1: as many as there are processors. The
        result is the same on any number.
    penalty, loss, multiclass, n_levels, bias, tol, max_iter, class_weight, calibrate, \
probability, random_state, form, levels, smooth
        As of `CodedSVC`. The machines of the folds stop at a gap of 0.01, if ``tol`` is not larger.

    Attributes
    ----------
    C_ : float
        The value chosen.
    choice_ : Choice
        The values compared, ascending, with the accuracies on held-out samples and the standard
        errors of these: ``grid``, ``accuracies``, ``errors``; ``is_at_edge`` is True if the best
        value may lie beyond them.
    machine_ : CodedSVC
        Trained on all samples with that C, the very one of ``CodedSVC(C=C_)``. It has functions,
        importances, and ``save``.
    n_iter_, duality_gap_
        Of ``machine_``.
    classes_ : ndarray, shape (K,)
    n_features_in_ : int
    timings_ : dict
        Seconds: ``convert_s`` (levels, codes, tables), ``choose_s``, ``train_s``.

    See Also
    --------
    CodedSVC : With a given C.
    kmaps.models.cross_validate : The same choice for every learner, one fold after the other.

    Notes
    -----
    The levels, and a map that learns from data, are those of all samples, held-out ones included;
    labels are not.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "up", "down")
    >>> model = CodedSVCCV("chi2").fit(X, y)
    >>> model.C_ in model.choice_.grid, bool(model.score(X, y) > 0.9)
    (True, True)
    """

    def __init__(
        self,
        map: Tabulated | ScalarKernel | str = "chi2",
        Cs: Values = PATH,
        *,
        folds: int = 3,
        seed: int = 0,
        n_jobs: int | None = None,
        penalty: str = "l2",
        loss: str = "hinge",
        multiclass: str = "ovr",
        n_levels: int = MAX_LEVELS,
        bias: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: dict | str | None = None,
        calibrate: bool = False,
        probability: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
        form: str = "auto",
        levels: ArrayLike | None = None,
        smooth: float = 0.0,
    ):
        self.map = map
        self.Cs = Cs
        self.folds = folds
        self.seed = seed
        self.n_jobs = n_jobs
        self.penalty = penalty
        self.loss = loss
        self.multiclass = multiclass
        self.n_levels = n_levels
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.probability = probability
        self.random_state = random_state
        self.form = form
        self.levels = levels
        self.smooth = smooth

    @property
    def _checks(self) -> dict[str, Any]:
        return self._machine()._checks

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self, X: ArrayLike | CodedRows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "CodedSVCCV":
        """Turn X into codes, choose C, and train on all samples with it.

        Parameters
        ----------
        X : ndarray or CSR of float32, float64 or uint8, shape (n, d)
            As of ``CodedSVC.fit``; or what :func:`kmaps.svm.code_rows` made.
        y : array-like, shape (n,)
            Labels, numbers or strings, of at least two classes.
        sample_weight : array-like, shape (n,), optional
            Factor on C for each sample, ≥ 0; those of weight 0 are left out, and every other one
            counts once in held-out accuracies.

        Returns
        -------
        self

        Warns
        -----
        ConvergenceWarning
            With the gap reached, when ``max_iter`` passes were not enough.

        Raises
        ------
        ConfigError
            For a parameter out of range.
        InputError
            As ``CodedSVC.fit``; also for fewer samples than folds, or so few of all classes but one
            that a fold has all of them.
        MemoryError
            Saying how much was needed.
        """
        machine = self._machine()
        self.timings_: dict[str, float] = {}
        with threads(threads_of(self.n_jobs)):
            rows, y = self._check_rows(machine, X, y, sample_weight)
            self.choice_ = self._timed("choose_s", self._choose, machine, rows, y, sample_weight)
            self.C_ = self.choice_.C
            machine.set_params(C=self.C_).fit(rows, y, sample_weight)
        self.machine_ = machine
        self.n_iter_, self.duality_gap_ = machine.n_iter_, machine.duality_gap_
        self.timings_["train_s"] = machine.timings_["train_s"]
        if "feature_names_in_" in vars(self):
            machine.feature_names_in_ = self.feature_names_in_
        self._probabilities = machine._probabilities
        return self

    def _machine(self) -> CodedSVC:
        """Return an unfitted machine with all parameters but C."""
        return CodedSVC(
            self.map,
            penalty=self.penalty,
            loss=self.loss,
            multiclass=self.multiclass,
            n_levels=self.n_levels,
            bias=self.bias,
            tol=self.tol,
            max_iter=self.max_iter,
            class_weight=self.class_weight,
            calibrate=self.calibrate,
            probability=self.probability,
            random_state=self.random_state,
            form=self.form,
            levels=self.levels,
            smooth=self.smooth,
        )

    def _check_rows(
        self, machine: CodedSVC, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[CodedRows, NDArray]:
        """Check all there is before any work; return the samples as codes, and their labels."""
        machine._check_parameters()
        if isinstance(X, CodedRows):
            self._check_prepared(X, y, sample_weight)
            self.timings_["convert_s"] = 0.0
            return X, np.asarray(y)
        with input_errors():
            X, y = validate_data(self, X, y, **self._checks)
        self._check_labels(y, sample_weight)
        rows = self._timed("convert_s", self._coded, X)
        return rows, y

    def _coded(self, X: Any) -> CodedRows:
        form = "low-rank" if self.penalty == "l1" else self.form
        return code_samples(
            self.map,
            X,
            n_levels=self.n_levels,
            levels=self.levels,
            form=form,
            smooth=self.smooth,
        )

    def _choose(
        self, machine: CodedSVC, rows: CodedRows, y: NDArray, sample_weight: ArrayLike | None
    ) -> Choice:
        return choose_along_path(
            machine,
            rows,
            y,
            self.Cs,
            folds=self.folds,
            seed=self.seed,
            sample_weight=sample_weight,
        )

    def decision_function(self, X: ArrayLike | CodedRows) -> NDArray:
        """Score rows, as every classifier here does; also those that were coded beforehand."""
        check_is_fitted(self)
        if isinstance(X, CodedRows):
            return self.machine_.decision_function(X)
        return super().decision_function(X)

    def _scores(self, X: Any) -> NDArray:
        return self.machine_._scores(X)

    def _score_width(self) -> int:
        return self.machine_._score_width()
