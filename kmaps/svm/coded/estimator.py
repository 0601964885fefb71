"""The base of classifiers and regressors on codes: parameters, codes, the descent, files.

Each problem is one of LIBLINEAR's, with the bias as one more, regularised weight, on the features φ
of a map (hkm, lac, ...) of which only a table on the levels exists:

    min over w of  w'w / 2 + C * sum over i of weight_i * loss_i(w'φ(x_i)).

As Wu (ECCV 2010) did for the intersection kernel, the dual is solved by coordinate descent on the
codes: the decision function is a sum of one function per feature, f(x) = Σ_j f_j(x_j), and both its
value and its change by a sample are look-ups. Where that creeps, because classes overlap and rows
outnumber weights, Newton's method goes on from there (`kmaps.svm.newton`).
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kmaps._loops.forms import CodeRows
from kmaps._loops.train import Task
from kmaps.checks import MAX_LEVELS, check_whole
from kmaps.errors import ConfigError, suggest
from kmaps.kernels import ScalarKernel, get_kernel
from kmaps.maps.capabilities import FeatureMap, Tabulated
from kmaps.maps.version import MAP_VERSION
from kmaps.mercer import kernel_name
from kmaps.svm.coded.descent import solve
from kmaps.svm.coded.model import CodedModel, FeatureFunction, code_counts, deviations, function_of
from kmaps.svm.coded.parameters import CAME_LATER
from kmaps.svm.coded.problem import CodedProblem, CodedSolution
from kmaps.svm.coded.training import (
    CodedRows,
    code_rows,
    code_samples,
    learns,
    warn_of_unweighted,
    weights_in_memory,
)
from kmaps.svm.learner import BlockSource, Learner, NamedColumns, input_errors
from kmaps.svm.model_file import ModelFile, write_model
from kmaps.svm.newton import single_threaded_blas
from kmaps.thread_pool import for_blocks, num_threads, threads
from kmaps.validation import validate_data

if TYPE_CHECKING:
    from kmaps.displays import FunctionDisplay

Progress = Callable[[int, float, float], None] | None  # (number of a problem, passes, gap)
Model = TypeVar("Model", bound="CodedEstimator")

_NOTHING = np.empty(0)


@dataclass(eq=False, repr=False)
class CodedEstimator(Learner):
    """A model on codes. A kind of it states its problems, :meth:`_task`, and names them.

    Parameters
    ----------
    map : {"chi2", "intersection", "js", "hellinger"}, callable or map, default="chi2"
        The name of a kernel, a scalar kernel ``k(x, y)``, or an additive map.
    n_levels : int, default=256
        Most levels of a feature, from 2 to 256.
    bias : float, default=1.0
        Value of a constant feature, whose weight gives the intercept; 0 for none.
    tol : float, default=1e-4
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most passes over the samples.
    warm_start : bool, default=False
        Start from the dual variables of the last fit.
    random_state : int, RandomState or None, default=0
        Order of the samples.
    form : {"auto", "low-rank", "full", "local", "two-level"}, default="auto"
        The solver's variables. All forms give the same model.
    levels : array-like, shape (L,), (1, L) or (d, L), optional
        With these levels X must be codes of them, uint8. A map must then be fitted.
    level_ranges : {"auto", "shared", "own"}, default="auto"
        Whether features share their levels or have levels of their own.
    """

    map: "Tabulated | ScalarKernel | str" = "chi2"
    _: KW_ONLY
    n_levels: int = MAX_LEVELS
    bias: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    warm_start: bool = False
    random_state: int | np.random.RandomState | None = 0
    form: str = "auto"
    levels: "ArrayLike | None" = None
    level_ranges: str = "auto"
    smooth: float = field(default=0.0, init=False)  # the price of curvature
    n_blocks: int | str = field(default=1, init=False)  # blocks per problem

    _duals: list[NDArray] | None = field(default=None, init=False)  # from the last fit

    _stored: ClassVar[tuple[str, ...]]  # the parameters that a file holds

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""

    @property
    def _checks(self) -> dict[str, Any]:
        dtypes = None if self.levels is not None else [np.float64, np.float32, np.uint8]
        return super()._checks | {"dtype": dtypes}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.map, FeatureMap):
            tags.input_tags.positive_only = self.map.__sklearn_tags__().input_tags.positive_only
        return tags

    @property
    def _form(self) -> str:  # the form of the codes of samples
        return self.form

    @property
    def _coding(self) -> dict[str, Any]:
        return {
            "n_levels": self.n_levels,
            "level_ranges": self.level_ranges,
            "form": self._form,
            "smooth": self.smooth,
        }

    def prepare_rows(self, source: BlockSource) -> CodedRows:
        """Turn samples that may be larger than memory into codes, which :meth:`fit` trains on.

        Parameters
        ----------
        source : BlockSource
            The samples (n, d), in blocks of rows, such as `kmaps.io.LabelledRows`. Its sample is
            read where the map learns from data.

        Returns
        -------
        CodedRows
            The n samples as codes, with a fitted copy of the map. ``levels`` must not be set, and
            raise ConfigError.
        """
        self._check_parameters()
        if self.levels is not None:
            raise ConfigError("levels=…: fit codes samples in blocks itself; leave levels out")
        sample = source.sample() if learns(self.map) else None
        rows = code_rows(self.map, source.blocks, sample=sample, **self._coding)
        names = source.columns if isinstance(source, NamedColumns) else None
        warn_of_unweighted(rows, names, stacklevel=3)
        return rows

    def _check_map(self) -> None:
        if isinstance(self.map, str):
            get_kernel(self.map)
        elif not (isinstance(self.map, Tabulated) or callable(self.map)):
            raise ConfigError(
                f"map={self.map!r}: expected the name of a kernel, a scalar kernel k(x, y), or an "
                "additive map"
            )

    def _coded(self, X: Any, names: Sequence[str] | None = None) -> CodedRows:
        """Return samples as codes; ``names`` of the features, for a warning about some."""
        convert = partial(code_samples, levels=self.levels, **self._coding)
        rows = self._timed("convert_s", convert, self.map, X)
        names = vars(self).get("feature_names_in_", names)
        warn_of_unweighted(rows, names, stacklevel=4)
        return rows

    def _descend(
        self,
        training: CodedRows,
        tasks: Sequence[Callable[[NDArray[np.float64]], Task]],
        sizes: Sequence[int],
        progress: Progress,
        with_margins: bool = False,
    ) -> list[CodedSolution]:
        """Solve problems, each made from the square norms of all rows, with so many members.

        What a solution has for each member takes memory in every problem: the variables are kept
        for a warm start alone, the margins ``with_margins``.
        """
        rows, layout = training.rows, training.layout
        norms = layout.square_norms(rows)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        starts = self._starting_points(sizes)
        n_weights = training.n_features * layout.form.size
        self.n_blocks_ = np.array([self._count_blocks(rows, size) for size in sizes])
        printed = self._progress(len(tasks))
        progress = progress or (printed.report_gap if printed.is_heard else None)

        def train_one(column: int, n_threads: int) -> CodedSolution:
            n_blocks, solver = int(self.n_blocks_[column]), solve
            if n_blocks > 1:
                from kmaps.svm.coded.rounds import solve_in_blocks

                solver = partial(solve_in_blocks, n_blocks=n_blocks, n_threads=n_threads)
            with threads(n_threads):
                solution = solver(
                    CodedProblem(rows, layout, tasks[column](norms), n_weights),
                    tol=self.tol,
                    max_iter=self.max_iter,
                    seed=(seed, column),
                    alpha=starts[column],
                    report=None if progress is None else partial(progress, column),
                )
            return solution._replace(
                weights=layout.kept(solution.weights),
                alpha=solution.alpha if self._keeps_duals else _NOTHING,
                margins=solution.margins if with_margins else _NOTHING,
            )

        at_once = min(num_threads(), len(tasks))
        most = int(self.n_blocks_.max())
        n_in_memory = at_once if most == 1 else 3 * at_once * most
        # Here, because a thread of the pool could not: only one thread sets the limit at a time.
        with weights_in_memory(n_weights, n_in_memory), single_threaded_blas():
            n_threads = num_threads() // at_once
            counted = printed.counted(lambda column, _: train_one(column, n_threads))
            return for_blocks(counted, len(tasks), 1)

    def _count_blocks(self, rows: CodeRows, n_members: int) -> int:
        n_rows = len(rows.bounds) - 1
        if self.n_blocks == "auto":
            from kmaps.svm.coded.rounds import count_blocks

            return min(count_blocks(len(rows.codes) * n_members // n_rows), n_members)
        return min(int(self.n_blocks), n_members)

    @property
    def _keeps_duals(self) -> bool:
        """Whether the next training may begin at the dual variables of this one."""
        return self.warm_start

    def _starting_points(self, sizes: Sequence[int]) -> Sequence[NDArray | None]:
        """Return the dual variables of the last fit, if there are as many."""
        duals = self._duals or []
        if not self.warm_start or [len(alpha) for alpha in duals] != list(sizes):
            return [None] * len(sizes)
        return duals

    def _keep(
        self,
        training: CodedRows,
        solutions: list[CodedSolution],
        weights: NDArray[np.float64],
        shift: float = 0.0,
        calibration: NDArray | None = None,
    ) -> None:
        """Keep the arrays for prediction, with ``shift`` in the intercepts, and the gaps.

        ``weights`` are the weights of the samples.
        """
        self.map_, self.levels_ = training.map, training.levels
        self.form_, self.codes_bytes_ = training.layout.name, training.codes_bytes
        book = training.coder.book
        model = CodedModel(
            levels=training.levels,
            ends=None if book is None else np.stack([book.low, book.high]),
            cells=training.coder.cells,
            zero=training.zero,
            basis=training.layout.basis,
            weights=np.stack([solution.weights for solution in solutions]),
            intercept=np.array([solution.constant * self.bias + shift for solution in solutions]),
            calibration=calibration,
            importance=np.empty((0, 0), np.float32),
            unweighted=None if book is None or not len(book.unweighted) else book.unweighted,
            exact=vars(self).get("probability") == "isotonic",
        )
        self.model_ = replace(model, importance=self._importances(model, training, weights))
        self.model_bytes_ = self.model_.nbytes
        self.objective_ = self._objectives(np.array([solution.primal for solution in solutions]))
        self.duality_gap_ = np.array([solution.gap for solution in solutions])
        self.n_iter_ = np.ceil([solution.passes for solution in solutions]).astype(int)
        self._duals = [solution.alpha for solution in solutions] if self._keeps_duals else None
        self._warn_of_gaps(self.duality_gap_, 4, passes=self.n_iter_)

    def _importances(
        self, model: CodedModel, training: CodedRows, weights: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return the standard deviation of each function over the training samples, (P, d)."""
        members = np.arange(len(weights)) if training.members is None else training.members
        shape = model.weights.shape[1], model.n_rows
        counts = code_counts(training.rows, members, weights, shape, model.zero)
        return deviations(model, counts)

    def _objectives(self, primal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the objective in the units of the class from the objective of the solver."""
        return primal

    def check_samples(self, X: ArrayLike) -> Any:
        """Return samples as predictions are made of, or raise InputError.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Values of the features; where ``levels`` were set, codes of them.

        Returns
        -------
        ndarray or CSR, shape (n, d)
            The samples in float64, float32 or uint8 (any dtype where ``levels`` were set). NaN,
            infinity or another number of features than in ``fit`` raise InputError.
        """
        check_is_fitted(self)
        with input_errors():
            return self._normalized(validate_data(self, X, reset=False, **self._checks))

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return self.model_.scores(X, type(self).__name__)

    def _graph_scores(self, graph: Any, x: Any) -> Any:
        """Return the scores (n, P) of rows in an ONNX graph, and say which map they are of."""
        if isinstance(self.map_, FeatureMap):
            self.map_.describe_in(graph)
        else:  # a model from a file has a text as its map, such as "HomogeneousMap()"
            what = "map" if self._map_text.endswith(")") else "kernel"
            graph.facts |= {what: self._map_text, "map_version": str(MAP_VERSION)}
        return self.model_.graph_scores(graph, x)

    def _score_width(self) -> int:
        return len(self.model_.intercept)

    def _scores_of_rows(self, rows: CodedRows) -> NDArray[np.float64]:
        """Return the scores (n, P) of samples that were coded beforehand."""
        check_is_fitted(self)
        scores = self.model_.score_rows(rows.rows)
        return scores if rows.members is None else scores[rows.members]

    @property
    def importance_(self) -> NDArray[np.float64]:
        """How much each feature changes the scores over the training samples, (d,).

        The standard deviation of its function; for several columns of scores their RMS.
        """
        check_is_fitted(self)
        return np.sqrt((self.model_.importance.astype(np.float64) ** 2).mean(axis=0))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """As ``importance_``; by this name scikit-learn's RFE and SelectFromModel look for it."""
        return self.importance_

    @property
    def baseline_(self) -> NDArray[np.float64]:
        """The scores (P,) before any feature adds to them."""
        check_is_fitted(self)
        return self.model_.baseline

    @property
    def score_names(self) -> list[str]:
        """The names of the columns of scores: classes, pairs of them, or the prediction."""
        return ["the prediction"]

    def feature_values(self, X: ArrayLike, feature: int | str) -> NDArray:
        """Return the values of a feature as its function takes them.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Samples, as :meth:`check_samples` takes them.
        feature : int or str
            The feature's number, from 0 on, or its name.

        Returns
        -------
        ndarray, shape (n,)
            The values; of codes, their levels.
        """
        number = self._feature_number(feature)
        samples = self.check_samples(X)[:, [number]]
        values = samples.toarray()[:, 0] if issparse(samples) else samples[:, 0]
        if self.model_.ends is None:
            return self.model_.levels[number if len(self.model_.levels) > 1 else 0][values]
        return values

    def plot_function(
        self, feature: int | str, *, X: ArrayLike | None = None, ax: Any = None
    ) -> "FunctionDisplay":
        """Draw the function that a feature adds to the scores, by default in new axes.

        Parameters
        ----------
        feature : int or str
            The feature's number, from 0 on, or its name.
        X : array-like or sparse matrix, shape (n, d), optional
            Samples: the function is drawn where their values lie, above their density.
        ax : matplotlib.axes.Axes, optional
            The axes to draw in. By default they are new.

        Returns
        -------
        FunctionDisplay
            The drawn function, with its axes.
        """
        from kmaps.displays import FunctionDisplay

        return FunctionDisplay.from_estimator(self, feature, X=X, ax=ax)

    def function(self, feature: int | str) -> FeatureFunction:
        """Return the function that a feature adds to the scores, on its levels.

        The scores of a sample are ``baseline_`` plus the values of all features, each on the level
        nearest to the sample's: a column for each class in one-vs-rest, for each pair in
        one-vs-one, and one for two classes or a regression.

        Parameters
        ----------
        feature : int or str
            The feature's number, from 0 on, or its name, if the training samples came with names.
            An unknown one raises ConfigError.

        Returns
        -------
        FeatureFunction
            The name of the feature, its levels (l,), and the values (l, P) of the function there.

        Examples
        --------
        >>> import numpy as np
        >>> from kmaps import CodedSVR
        >>> X = np.random.default_rng(0).random((100, 2)).round(1)
        >>> model = CodedSVR("intersection", C=10.0).fit(X, X[:, 0] ** 2 - X[:, 1])
        >>> parts = [model.function(j) for j in range(2)]
        >>> terms = [f.values[np.searchsorted(f.levels, X[5, j]), 0] for j, f in enumerate(parts)]
        >>> bool(abs(model.baseline_[0] + sum(terms) - model.predict(X[5:6])[0]) < 1e-6)
        True
        """
        check_is_fitted(self)
        number = self._feature_number(feature)
        return function_of(self.model_, number, self._feature_names()[number])

    def _feature_number(self, feature: int | str) -> int:
        """Return the number of a feature; refuse an unknown one."""
        if isinstance(feature, str):
            names = self._feature_names()
            if feature not in names:
                raise ConfigError(f"feature={feature!r}: no such feature{suggest(feature, names)}")
            return names.index(feature)
        check_whole("feature", feature, 0, self.n_features_in_ - 1)
        return int(feature)

    def _feature_names(self) -> list[str]:
        names = vars(self).get("feature_names_in_")
        if names is not None:
            return [str(name) for name in names]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def save(
        self, path: str | Path, *, force: bool = False, record: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model to an ``.npz`` file, which takes its name once it is complete.

        Parameters
        ----------
        path : str or Path
            Where the file is written.
        force : bool, default=False
            Whether an existing file is replaced; else it raises InputError.
        record : mapping of str to object, optional
            How the model was trained, in what JSON can hold, for `kmaps info`.
        """
        check_is_fitted(self)
        parameters = {name: getattr(self, name) for name in self._stored}
        arrays = self.model_.arrays | self._own_arrays()
        fitted = {"map": self._map_text}
        write_model(path, self, parameters, arrays, fitted=fitted, record=record, force=force)

    @property
    def _map_text(self) -> str:
        return str(self.map_) if isinstance(self.map_, Tabulated) else kernel_name(self.map_)

    def _own_arrays(self) -> dict[str, NDArray]:
        """Return the arrays of a file besides ``model_``."""
        return {}

    @classmethod
    def load(cls: type[Model], path: str | Path) -> Model:
        """Return a model that :meth:`save` wrote, ready to predict.

        It has those parameters that are numbers and words; ``map`` is the text of the map. A file
        that is missing, damaged, no model, or of another version or estimator raises InputError.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        CodedEstimator
            The fitted model.
        """
        return cls.from_file(ModelFile(path))

    @classmethod
    def from_file(cls: type[Model], file: ModelFile) -> Model:
        """Return the model in an opened file, as :meth:`load` does.

        Parameters
        ----------
        file : ModelFile
            The opened file, whose content is checked as it is taken.

        Returns
        -------
        CodedEstimator
            The fitted model.
        """
        file.check_estimator(cls)
        file.check_parameters(cls._stored, CAME_LATER)
        model = cls(**file.parameters)
        with file.checking():
            model._check_parameters()
        model.model_ = CodedModel.from_file(file, model._take_own(file))
        model.map = model.map_ = file.text("map")
        model.levels_ = model.model_.levels
        model.levels = None if model.model_.ends is not None else model.levels_
        model.n_features_in_ = model.model_.weights.shape[1]
        model.model_bytes_ = model.model_.nbytes
        file.name_features(model)
        return model

    def _take_own(self, file: ModelFile) -> int:
        """Take :meth:`_own_arrays` out of a file; return the number of problems."""
        return 1
