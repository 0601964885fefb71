"""Additive-kernel machines trained on codes of one byte a value.

Each binary problem is LIBLINEAR's, with the bias as one more, regularised weight, on the features φ
of a map (hkm, lac, ...) of which only a table on the levels exists:

    min over w of  w'w / 2 + C * sum over i of loss(y_i * w'φ(x_i)),
    loss(m): hinge max(0, 1 - m), squared_hinge max(0, 1 - m)^2.

As Wu (ECCV 2010) did for the intersection kernel, the dual is solved by coordinate descent on the
codes: the decision function is a sum of one function a feature, f(x) = Σ_j f_j(x_j), and both its
value and its change by a sample are look-ups.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_choice, check_positive, check_whole
from kmaps.codes.codebook import MAX_LEVELS
from kmaps.errors import ConfigError
from kmaps.kernels import get_kernel
from kmaps.maps.capabilities import Tabulated
from kmaps.parallel import for_blocks, num_threads
from kmaps.svm.coded.blocks import code_rows
from kmaps.svm.coded.calibration import logistic_fit
from kmaps.svm.coded.descent import Solution, make_task, solve
from kmaps.svm.coded.model import CodedModel
from kmaps.svm.coded.training import CodedRows, learns, prepare, weights_in_memory
from kmaps.svm.losses import HINGES
from kmaps.svm.model_file import ModelFile, write_model
from kmaps.svm.prepared import BlockSource
from kmaps.svm.reduction import (
    REDUCTIONS,
    BinaryProblem,
    ReducedClassifier,
    check_bias,
    combine_scores,
    count_problems,
)

# The parameters that a file holds.
_STORED = ("C", "loss", "multiclass", "n_levels", "bias", "tol", "max_iter", "calibrate", "form")


class CodedSVC(ReducedClassifier):
    """Additive-kernel SVM, exact or with any additive map, trained on one byte a value.

    Parameters
    ----------
    map : {"chi2", "intersection", "js", "hellinger"} or map, default="chi2"
        The name of a kernel: the machine is exact on the levels. Or an additive map, fitted or not
        (a copy is fitted to X): the machine is the linear one on the map's features of the levels.
    C : float, default=1.0
        Weight of the loss against the penalty.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    multiclass : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one.
    n_levels : int, default=256
        Levels of a feature, from 2 to 256. Values go to the nearest one. The levels are the
        distinct training values, if all features together have no more; else their square roots
        are equally spaced over the range of all features, or, for a map that differs from feature
        to feature, they themselves over the range of each (`kmaps.Quantizer`, strategies
        ``shared`` and ``uniform``).
    bias : float, default=1.0
        Value of a constant feature whose weight makes the intercept. That weight is
        regularised like the others: the larger ``bias``, the less. 0 for no intercept.
    tol : float, default=1e-4
        Stop when the duality gap, the primal objective minus the dual one, is at most this part of
        the primal objective, which is no further above the optimum. At 1e-4, scores are within
        about 0.01 of the optimum's. In float32, 1e-6 is out of reach; at huge C, so may be 1e-4.
    max_iter : int, default=1000
        Most passes; a pass evaluates as many samples as there are, however often each.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; in one-vs-rest only on the class's own side, as in LIBLINEAR.
    calibrate : bool, default=False
        Turn one-vs-rest scores into log-odds, by a logistic regression on the training scores of
        each class, so that classes compare (lac Sect. 6).
    warm_start : bool, default=False
        Start from the dual variables of the last fit: for a path of growing C on the same samples,
        of which the last step, alone, would take nearly as long as all of them.
    random_state : int, RandomState or None, default=0
        Order of the samples. The same number gives the same model, on any number of threads.
    form : {"auto", "low-rank", "full", "local", "two-level"}, default="auto"
        What the solver works on: r columns of a table; the value of the function at each level;
        the weights of local B-splines (`SplineMap` only); the function's values at the ends of
        blocks of levels, and what is between them (kernels like intersection only). All give the
        same machine; ``"auto"`` takes the one with the cheapest look-ups.
    levels : array-like, shape (L,), (1, L) or (d, L), optional
        X is codes already, uint8, of these levels. A map must then be fitted.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
    levels_ : ndarray, shape (1 or d, L)
        The levels; a feature with fewer repeats its last.
    map_ : map or str
        The fitted map, or the name of the kernel.
    model_ : CodedModel
        All that prediction needs: levels, tables, weights, intercepts, as plain arrays.
    objective_, duality_gap_ : ndarray, shape (P,)
        The primal objective, and the relative duality gap, a part of it.
    n_iter_ : ndarray of int, shape (P,)
        Passes, rounded up.
    form_ : str
        The form in use.
    codes_bytes_ : int
        What the training set took.
    n_features_in_ : int
    timings_ : dict
        Seconds: ``convert_s`` (levels, codes, tables) and ``train_s``.
    model_bytes_ : int
        Bytes of ``model_``, which :meth:`save` stores.

    Notes
    -----
    Training takes one byte a value, or three for each value that is not zero when few are not, and
    four bytes a weight, for each of the binary problems that run at once (`kmaps.threads`). The
    float matrix of the map's features, for which LIBLINEAR takes 16 bytes a value, never exists.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]], dtype=np.float32)
    >>> model = CodedSVC("chi2", C=10.0).fit(X, ["up", "up", "right", "right"])
    >>> model.predict(X).tolist()
    ['up', 'up', 'right', 'right']
    """

    _duals: list[NDArray] | None = None  # of the last fit, for a warm start

    def __init__(
        self,
        map: Tabulated | str = "chi2",
        C: float = 1.0,
        *,
        loss: str = "hinge",
        multiclass: str = "ovr",
        n_levels: int = MAX_LEVELS,
        bias: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: dict | str | None = None,
        calibrate: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = 0,
        form: str = "auto",
        levels: ArrayLike | None = None,
    ):
        self.map = map
        self.C = C
        self.loss = loss
        self.multiclass = multiclass
        self.n_levels = n_levels
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.random_state = random_state
        self.form = form
        self.levels = levels

    @property
    def _checks(self) -> dict[str, Any]:
        dtypes = None if self.levels is not None else [np.float64, np.float32, np.uint8]
        return super()._checks | {"dtype": dtypes}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        progress: Callable[[int, float, float], None] | None = None,
    ) -> "CodedSVC":
        """Turn X into codes and train one binary machine for each problem of the reduction.

        Parameters
        ----------
        X : ndarray or CSR of float32, float64 or uint8, shape (n, d)
            Other types are converted to float64. With ``levels``, codes. Or what
            :func:`kmaps.svm.code_rows` made, which has its own map, levels and form.
        y : array-like, shape (n,)
            Labels, numbers or strings, of at least two classes.
        progress : callable, optional
            Called from the training threads with the number of the problem, its passes so far, and
            its duality gap as a part of the objective.

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
            For NaN, infinity, a wrong shape, or labels of one class.
        MemoryError
            Saying how much was needed.
        """
        self._check_parameters()
        self.timings_: dict[str, float] = {}
        if isinstance(X, CodedRows):
            training, classes = X, self._check_prepared(X, y)
            self.timings_["convert_s"] = 0.0
        else:
            X, classes = self._check_training(X, y)
            converted = partial(
                prepare, self.map, X, n_levels=self.n_levels, levels=self.levels, form=self.form
            )
            training = self._timed("convert_s", converted)
        problems = list(self._problems(classes))
        if training.members is not None:
            problems = [replace(p, rows=training.members[p.rows]) for p in problems]
        machines = self._timed("train_s", self._train, training, problems, progress)
        self._keep(training, problems, machines)
        return self

    def prepare_rows(self, source: BlockSource) -> CodedRows:
        """Turn samples that may be larger than memory into codes, which :meth:`fit` trains on.

        Parameters
        ----------
        source : object
            With ``blocks()`` and ``sample()``, as `kmaps.io.LabelledRows` has them.

        Returns
        -------
        CodedRows
            As of :func:`kmaps.svm.code_rows`.

        Raises
        ------
        ConfigError, InputError
            As :meth:`fit`.
        """
        self._check_parameters()
        if self.levels is not None:
            raise ConfigError("levels=…: samples in blocks are coded here; leave levels out")
        sample = source.sample() if learns(self.map) else None
        return code_rows(
            self.map, source.blocks, n_levels=self.n_levels, form=self.form, sample=sample
        )

    def _check_parameters(self) -> None:
        check_choice("multiclass", self.multiclass, REDUCTIONS)
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        if isinstance(self.map, str):
            get_kernel(self.map)
        check_bias(self.bias)
        check_choice("loss", self.loss, HINGES)
        check_whole("n_levels", self.n_levels, 2, MAX_LEVELS)
        check_whole("max_iter", self.max_iter, 1)
        if self.calibrate and self.multiclass == "ovo":
            raise ConfigError(
                "calibrate=True: one-vs-one has no score for each class; choose multiclass='ovr'"
            )

    def _train(
        self,
        training: CodedRows,
        problems: list[BinaryProblem],
        progress: Callable[[int, float, float], None] | None,
    ) -> list[Solution]:
        rows, machinery = training.rows, training.machinery
        norms = machinery.square_norms(rows)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        starts = self._starting_points(problems)
        n_weights = self.n_features_in_ * machinery.form.size

        def train_one(column: int, _: int) -> Solution:
            problem = problems[column]
            costs = self.C * problem.weights[1], self.C * problem.weights[0]
            solution = solve(
                rows,
                machinery.form,
                make_task(problem.rows, problem.signs, norms, costs, self.loss, self.bias),
                n_weights,
                tol=self.tol,
                max_iter=self.max_iter,
                seed=(seed, column),
                alpha=starts[column],
                report=None if progress is None else partial(progress, column),
            )
            return solution._replace(weights=machinery.kept(solution.weights))

        with weights_in_memory(n_weights, min(num_threads(), len(problems))):
            return for_blocks(train_one, len(problems), 1)

    def _starting_points(self, problems: list[BinaryProblem]) -> Sequence[NDArray | None]:
        """Return the dual variables of the last fit, if there are as many."""
        duals = self._duals or []
        sizes = [len(problem.rows) for problem in problems]
        if not self.warm_start or [len(alpha) for alpha in duals] != sizes:
            return [None] * len(problems)
        return duals

    def _keep(
        self, training: CodedRows, problems: list[BinaryProblem], machines: list[Solution]
    ) -> None:
        calibration = None
        if self.calibrate:
            pairs = zip(problems, machines, strict=True)
            fits = [logistic_fit(p.signs * m.margins, p.signs > 0, p.weights) for p, m in pairs]
            calibration = np.array(fits)
        self.map_, self.levels_ = training.map, training.levels
        self.form_, self.codes_bytes_ = training.machinery.name, training.codes_bytes
        book = training.coder.book
        self.model_ = CodedModel(
            levels=training.levels,
            ends=None if book is None else np.stack([book.low, book.high]),
            cells=training.coder.cells,
            zero=training.zero,
            basis=training.machinery.basis,
            weights=np.stack([machine.weights for machine in machines]),
            intercept=np.array([machine.constant * self.bias for machine in machines]),
            calibration=calibration,
        )
        self.model_bytes_ = self.model_.nbytes
        self.objective_ = np.array([machine.primal for machine in machines])
        self.duality_gap_ = np.array([machine.gap for machine in machines])
        self.n_iter_ = np.ceil([machine.passes for machine in machines]).astype(int)
        self._duals = [machine.alpha for machine in machines] if self.warm_start else None
        self._warn_unfinished()

    def _warn_unfinished(self) -> None:
        unfinished = int((self.duality_gap_ > self.tol).sum())
        if unfinished:
            warnings.warn(
                f"the relative duality gap is still {self.duality_gap_.max():.1e} after "
                f"max_iter={self.max_iter} passes, above tol={self.tol:g}, in {unfinished} of "
                f"{len(self.n_iter_)} binary problems: lower C (now {self.C:g}), or raise "
                "max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def decision_function(self, X: ArrayLike | CodedRows) -> NDArray:
        """Score rows, as every classifier here does; also those that were coded beforehand."""
        if not isinstance(X, CodedRows):
            return super().decision_function(X)
        check_is_fitted(self)
        scores = self.model_.score_rows(X.rows)[slice(None) if X.members is None else X.members]
        return combine_scores(scores, len(self.classes_), self.multiclass)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return self.model_.scores(X)

    def _score_width(self) -> int:
        return len(self.model_.intercept)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to an ``.npz`` file, which takes its name once it is complete.

        Parameters
        ----------
        path : str or Path
        force : bool, default=False
            Whether an existing file may be replaced.

        Raises
        ------
        InputError
            When the file exists and ``force`` is off, or when labels are Python objects that are
            not strings.
        """
        check_is_fitted(self)
        parameters = {name: getattr(self, name) for name in _STORED}
        arrays = self.model_.arrays | {"classes": self.classes_}
        write_model(path, self, parameters, arrays, fitted={"map": str(self.map_)}, force=force)

    @classmethod
    def load(cls, path: str | Path) -> "CodedSVC":
        """Return a model that :meth:`save` wrote, ready to predict.

        Of the parameters, it has those that are numbers and words; ``map`` is the text of the map.

        Raises
        ------
        InputError
            When the file is missing, damaged, no model, or one of another version or estimator.
        """
        return cls.from_file(ModelFile(path))

    @classmethod
    def from_file(cls, file: ModelFile) -> "CodedSVC":
        """Return the model in an opened file, as :meth:`load` does."""
        file.check_estimator(cls)
        file.check_parameters(_STORED)
        model = cls(**file.parameters)
        with file.checking():
            model._check_parameters()
        model.classes_ = file.labels()
        n_problems = count_problems(len(model.classes_), model.multiclass)
        model.model_ = CodedModel.from_file(file, n_problems)
        model.map = model.map_ = file.text("map")
        model.levels_ = model.model_.levels
        model.levels = None if model.model_.ends is not None else model.levels_
        model.n_features_in_ = model.model_.weights.shape[1]
        model.model_bytes_ = model.model_.nbytes
        return model
