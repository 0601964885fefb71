"""Predictions of model files by NumPy alone: no scikit-learn, SciPy or numba is imported.

Models on codes have the very scores of the estimator; the others agree with it to about 1e-6 of the
largest, since logarithms and long sums round otherwise. Many samples at once are left to compiled
loops, where these are installed.
"""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps._loops import compiled
from kmaps.checks import refuse_not_finite
from kmaps.errors import ConfigError, InputError
from kmaps.matrices import issparse
from kmaps.matrix_product import product
from kmaps.models.outputs import RandomOutputs, kernel_values
from kmaps.models.stored import StoredLinear, given_parameters, read_landmarks, read_random_features
from kmaps.svm import reduction
from kmaps.svm.coded.model import CodedModel
from kmaps.svm.model_file import ModelFile, Parts, csr_or_dense, n_rows
from kmaps.svm.stored import StoredKernel, read_kernel_svc
from kmaps.thread_pool import threads
from kmaps.validation import refuse_mask

_MANY = 1 << 22  # with more values, compiled loops save more time than their import takes
_MANY_TERMS = 1 << 28  # the same for terms of kernels with landmarks

Scores = Callable[[NDArray], NDArray]


@dataclass(frozen=True, eq=False)
class Predictor:
    """The model in a file, ready to predict; `kmaps.load_predictor` makes it.

    Attributes
    ----------
    estimator : str
        The class of the model in the file.
    n_features_in_ : int
    classes_ : ndarray, shape (K,), or None
        The labels; None for a regression.
    feature_names_in_ : ndarray or None
        The names of the features, where the training samples came with names.
    record : dict
        How it was trained, as `kmaps info` shows it.
    """

    estimator: str
    n_features_in_: int
    classes_: NDArray | None
    feature_names_in_: NDArray | None
    record: dict[str, Any]
    _scores: Scores
    _width: int  # values that one row needs while it is scored
    _dtypes: tuple[str, ...]  # types that are not converted; others become float64
    _multiclass: str = "ovr"
    _curves: reduction.Probabilities | None = field(default=None)

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the scores (n,) or (n, K) of rows (n, d), dense or CSR, as the estimator does."""
        if self.classes_ is None:
            raise ConfigError(f"{self.estimator}: a regression has no scores; use predict")
        return self._blockwise(X, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the label of each row, or the value of a regression, (n,)."""
        if self.classes_ is None:
            return self._blockwise(X, 2)
        return self.classes_[reduction.winners(self.decision_function(X))]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class at rows, (n, K).

        A model that was trained without ``probability`` has none: ConfigError.
        """
        return self.probabilities_of(self.decision_function(X))

    @property
    def probability(self) -> str | None:
        """How probabilities are measured, or None."""
        return None if self._curves is None else self._curves.method

    def probabilities_of(self, scores: NDArray) -> NDArray[np.float64]:
        """Return the probability of each class (n, K) from scores of `decision_function`."""
        if self._curves is None:
            raise ConfigError(
                f"{self.estimator}: was trained without probabilities; train it with probability="
                "'temperature'"
            )
        return self._curves.of(scores)

    def _blockwise(self, X: ArrayLike, n_classes: int) -> NDArray:
        """Return the decision function, or the first column of scores of a regression."""
        rows = self._checked(X)
        size = max(1, reduction.BLOCK_VALUES // self._width)
        if issparse(rows):
            size = max(1, min(size, reduction.BLOCK_VALUES // self.n_features_in_))
        parts = []
        # NumPy's loops use one thread, so joblib need not be asked for their number.
        with nullcontext() if compiled() else threads(1):
            for start in range(0, rows.shape[0], size):
                part = rows[start : start + size]
                part = part.toarray() if issparse(part) else part
                refuse_not_finite(part)
                scores = self._scores(part)
                parts.append(reduction.combine_scores(scores, n_classes, self._multiclass))
        return np.concatenate(parts)

    def _checked(self, X: Any) -> Any:
        """Return samples, dense or CSR, of a type that scores are made of."""
        refuse_mask(X)
        known, names = self.feature_names_in_, None
        with suppress(AttributeError):
            names = X.columns  # of a data frame
        if names is not None and known is not None and list(names) != known.tolist():
            raise InputError(
                "X has other columns than the model was trained on: expected "
                f"{', '.join(map(str, known[:5]))}{', …' if len(known) > 5 else ''}, in this order"
            )
        rows = X.tocsr() if issparse(X) else np.asarray(X)
        if rows.ndim != 2 or 0 in rows.shape:
            raise InputError(f"X has the shape {rows.shape}: expected (samples, features)")
        if rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {rows.shape[1]} features, but {self.estimator} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if rows.dtype.name in self._dtypes or not self._dtypes:
            return rows.astype(rows.dtype.newbyteorder("="), copy=False)
        if rows.dtype.kind not in "biufO":
            raise InputError(f"X has the type {rows.dtype}: expected real numbers")
        try:
            return rows.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("X: expected real numbers") from None


def load_predictor(path: str | Path) -> Predictor:
    """Return a light object with the predictions of the model in a file.

    It has ``predict``, ``decision_function`` and ``predict_proba``, and needs no more than NumPy:
    loading and a prediction take a tenth of the time and less than half of the memory of
    :func:`load_model`, most of which are the imports of scikit-learn. The same functions
    check the file; a refusal is an InputError. Scores of models on codes equal the estimator's to
    the last bit, other scores to about 1e-6 of the largest.

    From four million values in a call on, compiled loops (numba) are used where they are installed;
    on fewer they would take longer to import than they save.

    See Also
    --------
    load_model : The estimator itself, with its functions and parameters.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from kmaps import CodedSVC, load_predictor
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]], dtype=np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CodedSVC("chi2").fit(X, ["up", "up", "right", "right"]).save(f"{folder}/model.npz")
    ...     predictor = load_predictor(f"{folder}/model.npz")
    >>> predictor.predict(X).tolist(), predictor.decision_function(X).shape
    (['up', 'up', 'right', 'right'], (4,))
    """
    return predictor_of(ModelFile(path))


def predictor_of(file: ModelFile) -> Predictor:
    """Return the predictor of an opened file, as :func:`load_predictor` does."""
    return file.one_of(_READERS)(file)


def _coded(file: ModelFile) -> Predictor:
    given = given_parameters(file)
    classes, curves, n_problems, multiclass = None, None, 1, "ovr"
    if file.estimator == "CodedSVC":
        classes, multiclass = file.labels(), given.multiclass
        curves = reduction.read_curves(file, given, classes)
        n_problems = reduction.count_problems(len(classes), multiclass)
    model = CodedModel.from_file(file, n_problems)
    file.text("map")
    n_features = model.weights.shape[1]

    def scores(X: NDArray) -> NDArray:
        loops = "kmaps.svm.coded.training"
        return model.scores(X) if _worthwhile(X.size, _MANY, loops) else model.plain_scores(X)

    return Predictor(
        estimator=file.estimator,
        n_features_in_=n_features,
        classes_=classes,
        feature_names_in_=file.feature_names(n_features),
        record=file.record,
        _scores=scores,
        _width=n_problems,
        _dtypes=() if model.ends is None else ("float64", "float32", "uint8"),
        _multiclass=multiclass,
        _curves=curves,
    )


def _worthwhile(size: int, many: int, module: str) -> bool:
    """Return whether to compute by a module with compiled loops, which is imported for it."""
    if size < many:
        return False
    try:
        import_module(module)
    except ImportError:
        return False
    return True


def _on_map(file: ModelFile, stored: StoredLinear, outputs: Scores) -> Predictor:
    def scores(X: NDArray) -> NDArray:
        return product(outputs(X), stored.coef.T) + stored.intercept

    return _classifier(file, stored, scores, stored.coef.shape[1])


def _classifier(
    file: ModelFile, stored: StoredLinear | StoredKernel, scores: Scores, width: int
) -> Predictor:
    return Predictor(
        estimator=file.estimator,
        n_features_in_=stored.n_features,
        classes_=stored.classes,
        feature_names_in_=None,
        record=file.record,
        _scores=scores,
        _width=width,
        _dtypes=("float64", "float32"),
        _multiclass=stored.given.multiclass,
        _curves=stored.curves,
    )


def _random_features(file: ModelFile) -> Predictor:
    stored = read_random_features(file)
    made = RandomOutputs(stored)

    def outputs(X: NDArray) -> NDArray:
        _worthwhile(X.size, _MANY, "numba")
        return made(X)

    return _on_map(file, stored, outputs)


def _landmarks(file: ModelFile) -> Predictor:
    stored = read_landmarks(file)
    values = _kernel(stored.landmarks, stored.n_features, stored.given.kernel, stored.sigma)
    return _on_map(file, stored, values)


def _kernel(
    known: Parts, n_features: int, kernel: str, sigma: float | None, gamma: float = 1.0
) -> Scores:
    """Return a function that computes kernel values (n, m) of rows with known ones."""
    many = _MANY_TERMS // n_rows(known)

    def values(X: NDArray) -> NDArray:
        if not _worthwhile(X.size, many, "kmaps.gram_matrix"):
            return kernel_values(X, known, kernel, sigma, gamma)
        gram = import_module("kmaps.gram_matrix").quick_gram
        others = csr_or_dense(known, n_features)
        return gram(X, others, kernel=kernel, gamma=gamma, sigma=sigma)

    return values


def _kernel_svc(file: ModelFile) -> Predictor:
    stored = read_kernel_svc(file)
    given, dual = stored.given, stored.dual
    values = _kernel(stored.vectors, stored.n_features, given.kernel, stored.sigma, given.gamma)

    def scores(X: NDArray) -> NDArray:
        block = values(X)
        if not isinstance(dual, tuple):
            return block @ dual.T + stored.intercept
        data, indices, indptr = dual
        found = np.empty((len(X), len(stored.intercept)))
        for k in range(len(stored.intercept)):
            own = slice(indptr[k], indptr[k + 1])
            found[:, k] = block[:, indices[own]] @ data[own]
        return found + stored.intercept

    return _classifier(file, stored, scores, max(n_rows(dual), len(stored.support)))


_READERS: dict[str, Callable[[ModelFile], Predictor]] = {  # readers of files, by the estimator
    "CodedSVC": _coded,
    "CodedSVR": _coded,
    "CodedRidge": _coded,
    "RandomFeatureSVC": _random_features,
    "LandmarkSVC": _landmarks,
    "KernelSVC": _kernel_svc,
}
