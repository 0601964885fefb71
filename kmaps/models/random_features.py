"""Exponential kernels: a linear model on the outputs of a random map.

An exponential kernel exp(-D² / 2σ²) is about the inner product of the random features of two
samples, so that an SVM with that kernel is about LIBLINEAR's on the features.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_whole
from kmaps.kernels import WIDTH_KERNELS, check_kernel
from kmaps.maps import GeneralizedRBFMap, RandomFourierMap
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.models.block_descent import train_in_blocks
from kmaps.models.mapped_rows import MAX_FEATURES, MappedRows, StreamedRows, map_rows, single
from kmaps.models.random_features_file import check_versions, described, read_map
from kmaps.parallel import product
from kmaps.svm import LiblinearSVC
from kmaps.svm.learner import BlockSource
from kmaps.svm.model_file import ModelFile, write_model
from kmaps.svm.probabilities import ProbabilisticClassifier
from kmaps.svm.reduction import Labels, combine_scores, count_problems, counting

MAX_ORDER = 100

_STORED = (
    "kernel",
    "n_frequencies",
    "C",
    "order",
    "sigma",
    "structure",
    "loss",
    "multiclass",
    "bias",
    "tol",
    "probability",
)


@dataclass(eq=False, repr=False)
class RandomFeatureSVC(ProbabilisticClassifier):
    r"""SVM with an exponential kernel, approximated by random Fourier features.

    The kernel is :math:`e^{-D^2(x, y) / 2\sigma^2}` with the metric D of chi2, intersection, js,
    hellinger or, for rbf, the Euclidean one (genrbf eq. 12). A random map
    (:class:`kmaps.GeneralizedRBFMap`, for rbf :class:`kmaps.RandomFourierMap`) turns it into the
    inner product of 2m outputs, on which LIBLINEAR trains. `kmaps.KernelSVC` is the exact model;
    the map's error falls as :math:`1/\sqrt m`.

    Use it for histograms whose features interact, and more samples than an exact model can take.
    The exponential form of a user's scalar kernel is
    ``GeneralizedRBFMap(additive=ExactMap(kernel))`` with `LiblinearSVC` in a pipeline.

    Parameters
    ----------
    kernel : str, default="exp-chi2"
        "exp-chi2", "exp-intersection", "exp-js", "exp-hellinger" or "rbf".
    n_frequencies : int, default=1000
        m ≥ 1, the number of frequencies. Training and prediction take time and memory in
        proportion to it.
    order : int, default=1
        From 0 to 100, of the homogeneous map inside the random one: how well the metric is met.
        exp-hellinger and rbf are met exactly and do not use it.
    sigma : float or None, default=None
        Width of the kernel, > 0. None: σ² is the mean squared distance D² between training rows, or
        1,000 of them.
    structure : {"dense", "orthogonal", "fastfood"}, default="dense"
        How frequencies are drawn, as in :class:`kmaps.RandomFourierMap`; fastfood is the fastest
        for many features.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        The hinge is the loss of `KernelSVC`, which this approximates.
    random_state : int, RandomState or None, default=0
        Draws the key of the frequencies and seeds LIBLINEAR.
    C, multiclass, bias, tol, max_iter, class_weight, probability
        As in :class:`kmaps.LiblinearSVC`.

    Attributes
    ----------
    map_ : GeneralizedRBFMap or RandomFourierMap
        The fitted map. It holds the key of its frequencies, not the frequencies.
    sigma_ : float
        The width used.
    duality_gap_ : ndarray, shape (P,)
        The relative duality gap, only where rows were trained on in blocks.
    timings_ : dict
        Seconds: ``encode_s`` (fitting the map and encoding), ``convert_s`` (building LIBLINEAR's
        rows) and ``train_s``.
    encoded_bytes_ : int
        Bytes of the encoded training set; a model from a file has none, nor ``n_iter_``.
    classes_, coef_, intercept_, n_iter_, n_features_in_, model_bytes_
        As in :class:`kmaps.LiblinearSVC`, ``coef_`` (P, 2m) in the dtype of the training data.

    See Also
    --------
    CodedSVC : Additive kernels, exact and faster.
    KernelSVC : The exact exponential kernel, for up to some ten thousand samples.
    GeneralizedRBFMap : The map alone.
    RandomFourierMap : The map of ``kernel="rbf"``.

    Notes
    -----
    Training holds about 24 bytes for each of a row's 2m outputs, four of them the output itself in
    single precision and the others LIBLINEAR's. Prediction maps some rows at a time.

    Where all rows have more than 2²⁸ outputs together (a million rows, more than 134 frequencies),
    no output stays in memory: the rows are encoded again in every pass, and the dual is descended
    on in blocks of 2²⁴ outputs (Yu et al., KDD 2010), for the hinges alone. ``tol`` is the relative
    duality gap then, by default 0.01, and ``max_iter`` counts passes over all rows, by default 100.

    References
    ----------
    Vempati, Vedaldi, Zisserman and Jawahar, Generalized RBF Feature Maps for Efficient Detection,
    BMVC 2010.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 3))
    >>> y = np.where(np.abs(X - 0.5).sum(axis=1) < 0.7, "centre", "rim")
    >>> model = RandomFeatureSVC("exp-js", n_frequencies=500, C=100.0).fit(X[:150], y[:150])
    >>> model.score(X[150:], y[150:]) > 0.9
    True
    """

    kernel: str = "exp-chi2"
    n_frequencies: int = 1000
    C: float = 1.0
    _: KW_ONLY
    order: int = 1
    sigma: float | None = None
    structure: str = "dense"
    loss: str = "hinge"
    multiclass: str = "ovr"
    bias: float = 1.0
    tol: float | None = None
    max_iter: int | None = None
    class_weight: dict | str | None = None
    probability: str | None = None
    random_state: int | RandomState | None = 0

    def fit(
        self,
        X: ArrayLike | MappedRows | StreamedRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> "RandomFeatureSVC":
        """Fit the map, encode the samples and train one binary model per problem, as
        `CodedSVC.fit`.

        X (n, d) is dense or CSR, or what :meth:`prepare_rows` made, which has its own fitted map. A
        width that is learnt counts every sample once; samples that are all alike have none.
        """
        linear, random_map = self._make_learner(), self._make_map()
        if isinstance(X, (MappedRows, StreamedRows)):
            labels = self._check_prepared(X, y, sample_weight)
            rows = counting(X, labels)
            self.timings_ = {"encode_s": 0.0}
        else:
            X, labels = self._check_training(X, y, sample_weight)
            X = counting(X, labels)
            self.timings_ = {}
            rows = self._timed("encode_s", map_rows, random_map, X, lambda: [X])
        self.encoded_bytes_ = rows.nbytes
        self._fit_probabilities(rows, labels)
        if isinstance(rows, StreamedRows):
            return self._fit_streamed(rows, labels)
        linear.fit(rows.matrix(), self.classes_[labels.codes], labels.weights)
        self.timings_ |= linear.timings_
        self.n_iter_ = linear.n_iter_
        self._keep(rows.map, linear.coef_, linear.intercept_)
        return self

    def _fit_streamed(self, rows: StreamedRows, labels: Labels) -> "RandomFeatureSVC":
        """Train on rows that are encoded again in every pass."""
        learnt = self._timed(
            "train_s",
            partial(
                train_in_blocks,
                rows,
                list(self._problems(labels)),
                C=self.C,
                loss=self.loss,
                bias=self.bias,
                tol=self.tol,
                max_iter=self.max_iter,
                seed=check_random_state(self.random_state).randint(np.iinfo(np.int32).max),
            ),
        )
        self.duality_gap_, self.n_iter_ = learnt.gaps, learnt.passes
        self._keep(rows.map, learnt.coef, learnt.intercept)
        return self

    def prepare_rows(self, source: BlockSource) -> MappedRows | StreamedRows:
        """Turn samples that may be larger than memory into what :meth:`fit` trains on.

        No more than a block of the samples is in memory at a time; all outputs are, in single
        precision, 8 bytes × ``n_frequencies`` per row, up to 1 GB; beyond that none are, and they
        are encoded again in every pass. ``source`` is a :class:`BlockSource`, as for `CodedSVC`.
        """
        self._make_learner()  # a parameter out of range is found before all is read
        random_map = self._make_map()
        sample = single(source.sample()) if random_map.learns_from_data else None
        return map_rows(random_map, sample, lambda: map(single, source.blocks()))

    def _make_map(self) -> RandomFeatures:
        """Return the unfitted map, its parameters checked but for sigma and structure."""
        check_kernel(self.kernel, WIDTH_KERNELS)
        check_whole("n_frequencies", self.n_frequencies, 1)
        check_whole("order", self.order, 0, MAX_ORDER)
        given = self.n_frequencies, self.sigma, self.structure, self.random_state
        if self.kernel == "rbf":
            return RandomFourierMap(*given)
        return GeneralizedRBFMap(self.kernel, self.order, *given)

    def _make_learner(self) -> LiblinearSVC:
        """Return the unfitted linear learner, its parameters checked."""
        learner = LiblinearSVC(
            self.C,
            loss=self.loss,
            multiclass=self.multiclass,
            bias=self.bias,
            tol=self.tol,
            max_iter=self.max_iter,
            class_weight=self.class_weight,
            random_state=self.random_state,
        )
        learner.check_parameters()
        self._check_probability()
        return learner

    def _keep(self, random_map: RandomFeatures, coef: NDArray, intercept: NDArray) -> None:
        self.map_, self.sigma_ = random_map, random_map.sigma_
        self.coef_, self.intercept_ = coef, intercept
        self.model_bytes_ = coef.nbytes + intercept.nbytes

    def decision_function(self, X: ArrayLike | MappedRows | StreamedRows) -> NDArray:
        """Score rows, as every classifier here does; also those that were prepared beforehand."""
        if not isinstance(X, (MappedRows, StreamedRows)):
            return super().decision_function(X)
        check_is_fitted(self)
        if isinstance(X, MappedRows):
            scores = product(X.matrix(), self.coef_.T) + self.intercept_
        else:
            scores = np.empty((len(X), len(self.intercept_)))
            for places, outputs in X.chunks():
                scores[places] = product(outputs, self.coef_.T) + self.intercept_
        return combine_scores(scores, len(self.classes_), self.multiclass)

    def _scores(self, X: Any) -> NDArray:
        return product(self.map_.transform(X), self.coef_.T) + self.intercept_

    def _score_width(self) -> int:
        return self.coef_.shape[1]

    def save(
        self, path: str | Path, *, force: bool = False, record: Mapping[str, Any] | None = None
    ) -> None:
        """Write the weights and the key of the map's frequencies, as ``CodedSVC.save``."""
        check_is_fitted(self)
        parameters = {name: getattr(self, name) for name in _STORED}
        fitted = {"n_features": self.n_features_in_, **described(self.map_)}
        arrays = {"coef": self.coef_, "intercept": self.intercept_, "classes": self.classes_}
        if self._probabilities is not None:
            arrays |= self._probabilities.arrays
        write_model(path, self, parameters, arrays, fitted=fitted, record=record, force=force)

    @classmethod
    def load(cls, path: str | Path) -> "RandomFeatureSVC":
        """Return a saved model; InputError if this kmaps cannot make its frequencies again."""
        return cls.from_file(ModelFile(path))

    @classmethod
    def from_file(cls, file: ModelFile) -> "RandomFeatureSVC":
        """Return the model in an opened file, as :meth:`load` does."""
        file.check_estimator(cls)
        file.check_parameters(_STORED)
        check_versions(file)
        model = cls(**file.parameters)
        with file.checking():
            model._make_learner()
            random_map = model._make_map()
        model.classes_ = file.labels()
        file.check_arrays(("classes", "coef", "intercept", *model._take_probabilities(file)))
        n_problems = count_problems(len(model.classes_), model.multiclass)
        single_or_double = np.float32, np.float64
        coef = file.array("coef", single_or_double, (n_problems, 2 * model.n_frequencies))
        intercept = file.array("intercept", coef.dtype, (n_problems,))
        model.n_features_in_ = file.whole("n_features", 1, MAX_FEATURES)
        fitted_map = read_map(file, random_map, model.sigma, model.n_features_in_)
        model._keep(fitted_map, coef, intercept)
        return model
