"""The base of models that are linear on the outputs of a map of all features."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_choice, check_flag, check_positive, check_whole
from kmaps.errors import ConfigError
from kmaps.kernels import WIDTH_KERNELS, check_kernel
from kmaps.matrix_product import product
from kmaps.models.block_descent import Learnt, train_in_blocks
from kmaps.models.choice import Predict, is_chosen
from kmaps.models.mapped_rows import MappedRows, map_rows, single
from kmaps.svm.learner import BlockSource, counting
from kmaps.svm.losses import HINGES
from kmaps.svm.model_file import ModelFile, write_model
from kmaps.svm.parameters import REDUCTIONS, check_bias, check_probability
from kmaps.svm.probabilities import ProbabilisticClassifier
from kmaps.svm.reduction import Labels, Probabilities, combine_scores


@dataclass(frozen=True, eq=False)
class StoredLinear:
    """A model that is linear on the outputs of a map: weights, and the arrays of the map."""

    parameters: Any  # as attributes
    classes: NDArray
    curves: Probabilities | None
    n_features: int
    sigma: float
    coef: NDArray  # (P, outputs)
    intercept: NDArray  # (P,)
    key: int = 0  # the key of random frequencies
    landmarks: Any = None  # (m, d): `Parts`


def check_mapped(parameters: Any) -> None:
    """Refuse parameters out of range that models on a map of all features have in common."""
    check_kernel(parameters.kernel, WIDTH_KERNELS)
    check_positive("C", parameters.C)
    check_choice("loss", parameters.loss, HINGES)
    check_bias(parameters.bias)
    check_positive("tol", parameters.tol)
    check_choice("multiclass", parameters.multiclass, REDUCTIONS)
    check_probability(parameters)


@dataclass(eq=False, repr=False)
class _Shared:
    _: KW_ONLY
    loss: str = "hinge"
    multiclass: str = "ovr"
    bias: float = 1.0
    tol: float = 1e-3
    max_iter: int = 200
    class_weight: dict | str | None = None
    probability: str | bool | None = None
    warm_start: bool = False
    random_state: int | RandomState | None = 0
    verbose: int = 0


class MappedSVC(_Shared, ProbabilisticClassifier):
    """A classifier that is linear on the outputs of a map of all features, and has a width.

    A subclass has the parameters of `RandomFeatureSVC` that are not of its map.
    """

    kernel: str
    C: Any  # a number, several, or the name of a rule
    sigma: Any  # a number, None or "auto"
    C_: float
    map_coef_: NDArray
    map_: Any
    sigma_: float

    _stored: ClassVar[tuple[str, ...]]  # the parameters in files

    @staticmethod
    @abstractmethod
    def _check_stored(parameters: Any) -> None:
        """Refuse a parameter of the files that is out of range."""

    @abstractmethod
    def _make_map(self) -> Any:
        """Return the unfitted map."""

    @abstractmethod
    def _keep(self, fitted_map: Any, weights: NDArray, intercept: NDArray) -> None:
        """Become the model of a map with these weights."""

    @staticmethod
    @abstractmethod
    def _read(file: ModelFile) -> StoredLinear:
        """Return the content of a file."""

    @abstractmethod
    def _parts(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        """Return the arrays of a file, and other learnt values, that only this model has."""

    @abstractmethod
    def _stored_map(self, stored: StoredLinear) -> Any:
        """Return the fitted map that a file describes."""

    @abstractmethod
    def at_widths(
        self, X: Any, y: NDArray, weights: NDArray, mean: float
    ) -> Callable[[float], Predict]:
        """Return a function that makes the ``predict`` of a width; see `widths.HasWidth`."""

    def fit(
        self, X: ArrayLike | MappedRows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the map, encode the samples and train one binary model per problem, as
        `CodedSVC.fit`.

        X (n, d) is dense or CSR, or what :meth:`prepare_rows` made, which has its own fitted map. A
        width that is learnt counts every sample once; samples that are all alike have none.
        """
        if self._chooses:
            return self._fit_chosen(X, y, sample_weight)
        self._check_parameters()
        row_map = self._make_map()
        if isinstance(X, MappedRows):
            labels = self._check_prepared(X, y, sample_weight)
            rows = counting(X, labels)
            self.timings_ = {"encode_s": 0.0}
        else:
            X, labels = self._check_training(X, y, sample_weight)
            X = counting(X, labels)
            self.timings_ = {}
            rows = self._timed("encode_s", map_rows, row_map, X, lambda: [X])
        self.encoded_bytes_ = rows.nbytes
        self._fit_probabilities(rows, labels)
        self._train(rows, labels)
        return self

    def _fit_chosen(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        """Choose the parameters that are "auto", and become the model with these values."""
        from kmaps.models.widths import choose_width  # most models do not need it

        if isinstance(X, MappedRows):
            raise _not_in_blocks(self.sigma, self.C)
        others = clone(self)
        if is_chosen(self.sigma):
            others.set_params(sigma=None)
        if is_chosen(self.C):
            others.set_params(C=1.0)
        others._check_parameters()  # before the choice, which takes long
        X, labels = self._check_training(X, y, sample_weight)
        self.timings_ = {}
        choose = partial(choose_width, self, sample_weight=labels.weights)
        kept, classes = counting(X, labels), self.classes_[labels.codes]
        choice = self._timed("choose_s", choose, kept, classes)
        model = clone(self).set_params(sigma=choice.sigma, C=choice.C)
        model.fit(kept, classes, labels.weights)
        model.timings_ |= self.timings_
        parameters = self.get_params(deep=False)
        self.__dict__.update(
            {name: of for name, of in vars(model).items() if name not in parameters}
        )
        self.width_choice_, self.C_ = choice, choice.C
        return self

    @property
    def _chooses(self) -> bool:
        """Whether the width or C is chosen by cross-validation."""
        return is_chosen(self.sigma) or is_chosen(self.C)

    def _model_weights(self, fitted_map: Any, coef: NDArray[np.float32]) -> NDArray:
        """Return what `_keep` takes, of the weights (P, r) of the map's outputs."""
        return coef

    def _check_parameters(self) -> None:
        self._check_stored(self)
        check_whole("max_iter", self.max_iter, 1)
        check_flag("warm_start", self.warm_start)

    def _train(self, rows: MappedRows, labels: Labels) -> None:
        """Train on encoded rows."""
        train = partial(
            train_in_blocks,
            rows,
            list(self._problems(labels, 2 * rows.map.n_outputs_ + 3 * len(rows))),
            C=self.C,
            loss=self.loss,
            bias=self.bias,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=check_random_state(self.random_state).randint(np.iinfo(np.int32).max),
            before=vars(self).get("_states", []) if self.warm_start else [],
            progress=self._progress(),
        )
        learnt: Learnt = self._timed("train_s", train)
        if self.warm_start:
            self._states = learnt.states
        self.duality_gap_, self.n_iter_ = learnt.gaps, learnt.passes
        self._warn_of_gaps(learnt.gaps, stacklevel=4)
        self._keep(rows.map, self._model_weights(rows.map, learnt.coef), learnt.intercept)

    def prepare_rows(self, source: BlockSource) -> MappedRows:
        """Turn samples, which may be larger than memory, into rows for :meth:`fit`.

        A block of samples is in memory at a time, and all outputs in single precision, up to 1 GB;
        beyond that they are in a temporary file. ``source`` is as for `CodedSVC.prepare_rows`.
        """
        if self._chooses:
            raise _not_in_blocks(self.sigma, self.C)
        self._check_parameters()  # before all samples are read
        row_map = self._make_map()
        sample = single(source.sample()) if row_map.learns_from_data else None
        return map_rows(row_map, sample, lambda: map(single, source.blocks()))

    def decision_function(self, X: ArrayLike | MappedRows) -> NDArray:
        """Score rows, as every classifier here does, rows prepared beforehand included."""
        if not isinstance(X, MappedRows):
            return super().decision_function(X)
        check_is_fitted(self)
        scores = np.empty((len(X), len(self.intercept_)))
        for places, outputs in X.chunks():
            scores[places] = product(outputs, self.map_coef_.T) + self.intercept_
        return combine_scores(scores, len(self.classes_), self.multiclass)

    @property
    def coef_(self) -> NDArray:
        """Not there: scikit-learn takes a column of it for a feature, not for an output of a map.

        ``map_coef_`` has the weights of the outputs.
        """
        raise AttributeError(
            f"{type(self).__name__} has no coef_, since its weights are not of features: map_coef_ "
            "has the weights of the map's outputs"
        )

    def _score_width(self) -> int:
        return self.map_.n_outputs_

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return a model that ``save`` wrote, ready to predict, as ``CodedSVC.load`` does."""
        return cls.from_file(ModelFile(path))

    @classmethod
    def from_file(cls, file: ModelFile) -> Self:
        """Return the model in an opened file, as :meth:`load` does."""
        file.check_estimator(cls)
        stored = cls._read(file)
        model = cls(**file.parameters)
        model.classes_ = stored.classes
        model.n_features_in_ = stored.n_features
        model._probabilities = stored.curves
        file.name_features(model)
        with file.checking():
            fitted = model._stored_map(stored)
        model._keep(fitted, stored.coef, stored.intercept)
        return model

    def save(
        self, path: str | Path, *, force: bool = False, record: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model to an ``.npz`` file: its weights, and the arrays of its map.

        ``CodedSVC.save`` describes the arguments. Parameters that were "auto" are saved as chosen.
        """
        check_is_fitted(self)
        parameters = {name: getattr(self, name) for name in self._stored}
        if is_chosen(self.sigma):
            parameters["sigma"] = self.sigma_
        if is_chosen(self.C):
            parameters["C"] = self.C_
        arrays, fitted = self._parts()
        curves = {} if self._probabilities is None else self._probabilities.arrays
        arrays |= {"intercept": self.intercept_, "classes": self.classes_, **curves}
        fitted = {"n_features": self.n_features_in_, "sigma": self.sigma_, **fitted}
        write_model(path, self, parameters, arrays, fitted=fitted, record=record, force=force)


def _not_in_blocks(sigma: Any, C: Any) -> ConfigError:
    return ConfigError(
        f"sigma={sigma!r}, C={C!r}: not for samples in blocks or already encoded; choose both "
        "with kmaps.models.choose_width"
    )
