"""Predictions of models on codes by NumPy alone: no scikit-learn, SciPy or numba is imported.

A model on codes is levels and tables: the code of each value is looked up in the tables, the values
are added to scores, and scores become votes, labels and probabilities. The scores are those of the
estimator to the last bit.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.checks import refuse_not_finite, warn_outside
from kmaps.codes.codebook import SPARSE
from kmaps.errors import ConfigError, InputError
from kmaps.matrices import issparse, row_blocks
from kmaps.svm import reduction
from kmaps.svm.coded.model import KEPT_BYTES, CodedModel
from kmaps.svm.coded.parameters import CAME_LATER, CHECKS, STORED
from kmaps.svm.model_file import ModelFile
from kmaps.svm.normalization import Normalization
from kmaps.validation import check_codes, refuse_mask

if TYPE_CHECKING:
    from kmaps.models.files import Model

_FLOATS = ("float64", "float32", "uint8")  # types that are not converted; others become float64
_BLOCK_VALUES = 1 << 18  # values of tables that are gathered at a time
_SUMS = 4  # the sums that the compiled loop adds a row's values to, in turn


@dataclass(frozen=True, eq=False)
class Predictor:
    """A model on codes in a file, ready to predict; `kmaps.load_predictor` makes it.

    Parameters
    ----------
    estimator : str
        The class of the model in the file.
    n_features_in_ : int
        The number of features.
    classes_ : ndarray, shape (K,), or None
        The labels; None for a regression.
    feature_names_in_ : ndarray or None
        The names of the features, where the training samples came with names.
    record : dict
        How it was trained, as `kmaps info` shows it.
    _model : CodedModel
        The codebook, the tables and the intercepts.
    _multiclass : str
        How the binary problems make classes, as ``multiclass`` of the estimator.
    _curves : Probabilities or None
        What turns scores into probabilities; None for a model without.
    _normalization : Normalization or None
        How rows are normalised before they are scored.
    """

    estimator: str
    n_features_in_: int
    classes_: NDArray | None
    feature_names_in_: NDArray | None
    record: dict[str, Any]
    _model: CodedModel
    _multiclass: str
    _curves: reduction.Probabilities | None
    _normalization: Normalization | None = None

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the scores of rows, as the estimator does.

        Parameters
        ----------
        X : array-like or CSR, shape (n, d)
            Rows; codes, uint8, for a model that was trained on codes.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, K)
            Positive for the second of two classes; else the largest score wins.
        """
        if self.classes_ is None:
            raise ConfigError(f"{self.estimator}: a regression has no scores; use predict")
        return reduction.combine_scores(self._scores(X), len(self.classes_), self._multiclass)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the label of each row, or the value of a regression.

        Parameters
        ----------
        X : array-like or CSR, shape (n, d)
            Rows, as for :meth:`decision_function`.

        Returns
        -------
        ndarray, shape (n,)
            Labels of the type of ``classes_``, or float64.
        """
        if self.classes_ is None:
            return self._scores(X)[:, 0]
        return self.classes_[reduction.winners(self.decision_function(X))]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class at rows.

        A model that was trained without ``probability`` has none: ConfigError.

        Parameters
        ----------
        X : array-like or CSR, shape (n, d)
            Rows, as for :meth:`decision_function`.

        Returns
        -------
        ndarray of float64, shape (n, K)
            Rows sum to one.
        """
        return self.probabilities_of(self.decision_function(X))

    @property
    def probability(self) -> str | None:
        """How probabilities are measured, or None."""
        return None if self._curves is None else self._curves.method

    def probabilities_of(self, scores: NDArray) -> NDArray[np.float64]:
        """Return the probability of each class from scores.

        Parameters
        ----------
        scores : ndarray, shape (n,) or (n, K)
            What :meth:`decision_function` returned.

        Returns
        -------
        ndarray of float64, shape (n, K)
            Rows sum to one.
        """
        if self._curves is None:
            raise ConfigError(
                f"{self.estimator}: was trained without probabilities; train it with probability="
                "'temperature'"
            )
        return self._curves.of(scores)

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores (n, P) of the binary problems, or of a regression."""
        rows = self._checked(X)
        if self._normalization is not None:
            refuse_not_finite(rows.toarray() if issparse(rows) else rows)
            rows = self._normalization.of(rows)
        # The blocks of the estimator: codes are listed, and summed, alike.
        size = max(1, reduction.BLOCK_VALUES // len(self._model.intercept))
        if issparse(rows):
            size = max(1, min(size, reduction.BLOCK_VALUES // self.n_features_in_))
        blocks = []
        for block in row_blocks(rows, size):
            block = block.toarray() if issparse(block) else block
            refuse_not_finite(block)
            blocks.append(self._block_scores(block))
        return np.concatenate(blocks)

    def _block_scores(self, X: NDArray) -> NDArray[np.float64]:
        model, book = self._model, self._model.book
        if book is None:
            check_codes(X, None, model.levels.shape[1])
            codes = X
        else:
            X = X.astype(np.float32) if X.dtype == np.uint8 else X
            codes = book.codes_in_library(X)
            warn_outside(book.count_outside(X), X.size, self.estimator, stacklevel=6)
        if model.cells is not None:
            feature = np.arange(X.shape[1]) if len(model.cells) > 1 else 0
            codes = model.cells[feature, codes]
        listed = len(model.zero) > 0 and np.count_nonzero(codes != model.zero[0]) < (
            SPARSE * codes.size
        )
        usual = model.zero[0] if listed else None
        small = model.tables.nbytes <= KEPT_BYTES
        groups = self._kept_tables if small else model.tables.groups()
        return model.finished(np.hstack([_sum_rows(codes, usual, tables) for tables in groups]))

    @cached_property
    def _kept_tables(self) -> list[NDArray]:
        return list(self._model.tables.groups())

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
        if rows.dtype.name in _FLOATS or self._model.ends is None:
            return rows.astype(rows.dtype.newbyteorder("="), copy=False)
        if rows.dtype.kind not in "biufO":
            raise InputError(f"X has the type {rows.dtype}: expected real numbers")
        try:
            return rows.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("X: expected real numbers") from None


def load_predictor(path: str | Path) -> "Predictor | Model":
    """Return an object with the predictions of the model in a file.

    For a model on codes (`CodedSVC`, `CodedSVR`, `CodedRidge`) it is a :class:`Predictor`, which
    needs no more than NumPy: loading and a prediction take a fifth of a second, where the imports
    of scikit-learn and numba take two seconds. Its scores are those of the estimator to the last
    bit. For many rows :func:`load_model` is faster, whose loops are compiled. The model of another
    estimator is loaded as :func:`load_model` loads it.

    Parameters
    ----------
    path : str or Path
        A file that `kmaps train` or ``model.save(path)`` wrote. A file that :func:`load_model`
        refuses is refused: InputError.

    Returns
    -------
    Predictor or estimator
        It has ``predict``, ``predict_proba`` and ``decision_function`` (the last two not for a
        regression).

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
    file = ModelFile(path)
    if file.estimator not in STORED:
        from kmaps.models.files import model_of  # imports the estimators

        return model_of(file)
    parameters = file.checked_parameters(STORED[file.estimator], CHECKS[file.estimator], CAME_LATER)
    classes = curves = None
    multiclass = "ovr"
    n_problems = 1
    if file.estimator == "CodedSVC":
        classes = file.labels()
        curves = reduction.read_curves(file, parameters, classes)
        multiclass = parameters.multiclass
        n_problems = reduction.count_problems(len(classes), multiclass)
    model = CodedModel.from_file(file, n_problems)
    file.text("map")
    n_features = model.weights.shape[1]
    return Predictor(
        estimator=file.estimator,
        n_features_in_=n_features,
        classes_=classes,
        feature_names_in_=file.feature_names(n_features),
        record=file.record,
        _model=model,
        _multiclass=multiclass,
        _curves=curves,
        _normalization=file.normalization(n_features),
    )


def _sum_rows(codes: NDArray, usual: int | None, tables: NDArray) -> NDArray:
    """Return the sums (n, p) of the rows of tables (d, L, p) that codes (n, d) name.

    Without ``usual`` all codes count; else only those that are another.
    """
    size = max(1, _BLOCK_VALUES // (codes.shape[1] * tables.shape[2]))
    return np.concatenate([_sum_block(block, usual, tables) for block in row_blocks(codes, size)])


def _sum_block(codes: NDArray, usual: int | None, tables: NDArray) -> NDArray:
    """Return the sums of `_sum_rows`, each of the bits of `kmaps._loops.forms.sum_codes`.

    Like there, the k-th value of a row is added to sum k mod 4, and a rest to the first one.
    """
    (n, d), width = codes.shape, tables.shape[2]
    if usual is None:
        values = tables[np.arange(d), codes]
        whole = d // _SUMS * _SUMS
        sums = values[:, :whole].reshape(n, -1, _SUMS, width).sum(axis=1)
        for k in range(whole, d):
            sums[:, 0] += values[:, k]
    else:
        row, feature = np.nonzero(codes != usual)
        counts = np.bincount(row, minlength=n)
        place = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
        number = np.where(place < counts[row] // _SUMS * _SUMS, place % _SUMS, 0)
        sums = np.zeros((n, _SUMS, width), tables.dtype)
        np.add.at(sums, (row, number), tables[feature, codes[row, feature]])
    return (sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3])
