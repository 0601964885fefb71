"""A page that shows an additive model: importances, functions, the terms of single predictions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_whole
from kmaps.errors import InputError, printable
from kmaps.matrices import issparse
from kmaps.svm import CodedSVC
from kmaps.svm.coded.estimator import CodedEstimator
from kmaps.svm.coded.model import FeatureFunction, level_numbers
from kmaps.svm.reduction import Places, class_pairs, combine_scores, winners
from kmaps.templates import render

_BINS = 40  # bins of the density below a function


def explanation(
    model: CodedEstimator,
    X: Any = None,
    *,
    rows: Sequence[int] = (0,),
    n_features: int = 24,
    shape: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
) -> str:
    """Return an HTML page on a model, which needs no other file.

    It shows the importance of the features, the function of each of the most important features
    above the density of the data, and its part of the scores of single rows. The page draws the
    very numbers that predict, which it holds as JSON.

    Parameters
    ----------
    model : CodedSVC, CodedSVR or CodedRidge
        The fitted model.
    X : ndarray or CSR, shape (n, d), optional
        Samples, for the densities and the rows.
    rows : sequence of int
        The rows of X to explain.
    n_features : int
        The number of features to show, the most important ones.
    shape : (int, int), optional
        Height and width of the image whose pixels the features are: the importance of all of them
        is then laid over the mean of X.
    names : sequence of str, optional
        Names of the d features; by default those that the model was fitted with, or x0, x1, ….

    Returns
    -------
    str
        The text of the page.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import CodedSVR
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> page = explanation(CodedSVR("intersection").fit(X, X[:, 0]), X, rows=[4])
    >>> page.startswith("<!doctype html>"), "://" in page.replace("http://www.w3.org", "")
    (True, False)
    """
    check_whole("n_features", n_features, 1)
    if names is not None and len(names) != model.n_features_in_:
        raise InputError(f"names: got {len(names)}, the model has {model.n_features_in_} features")
    values = X
    X = None if X is None else model.check_samples(X)
    order = np.argsort(-model.importance_, kind="stable")[:n_features]
    data: dict[str, Any] = _described(model, X, values, order, rows, names)
    if shape is not None:
        data["image"] = _image(model, X, shape)
    return render("explain.html", data=data)


def _described(
    model: CodedEstimator,
    X: Any,
    samples: Any,
    order: Places,
    rows: Sequence[int],
    names: Sequence[str] | None,
) -> dict[str, Any]:
    """Return what the page shows; ``samples`` are X before the model's own normalisation."""
    functions = [model.function(int(j)) for j in order]
    if names is None:
        titles = [function.name for function in functions]
    else:
        titles = [names[j] for j in order]
    spread = model.model_.importance[:, order].T
    curved = f" The price of curved functions was {model.smooth:g}." if model.smooth else ""
    normalization = vars(model).get("normalization_")
    features = []
    for j, title, function, importance in zip(order, titles, functions, spread, strict=True):
        levels = function.levels
        if normalization is not None:
            levels = normalization.raw(int(j), levels)
        features.append(
            {
                "name": printable(str(title)),
                "levels": levels.tolist(),
                "values": function.values.tolist(),
                "importance": importance.tolist(),
                "ends": [],
                "density": [],
            }
        )
    data: dict[str, Any] = {
        "title": f"{type(model).__name__} of {model.map_}",
        "about": f"This page shows the most important features: {len(order)} of "
        f"{model.n_features_in_:,}.{curved}",
        "columns": [printable(name) for name in model.score_names],
        "baseline": model.baseline_.tolist(),
        "features": features,
        "rows": [],
        "image": None,
    }
    if X is not None:
        numbers = level_numbers(model.model_, X, order)
        for feature, number in zip(features, numbers.T, strict=True):
            levels = np.array(feature["levels"])[number]
            # What is drawn: where features share their levels, most lie beyond a feature's values.
            feature["ends"] = [float(levels.min()), float(levels.max())]
            counts, _ = np.histogram(levels, _BINS, feature["ends"])
            feature["density"] = (counts / len(number)).tolist()  # parts of all samples
        for row in rows:
            described = _row(model, X, row, functions, numbers)
            described["values"] = _values_of(samples, row)[order].tolist()
            if model.model_.ends is None:  # the samples are codes: what was measured is not known
                own = zip(features, described["levels"], strict=True)
                described["values"] = [feature["levels"][level] for feature, level in own]
            data["rows"].append(described)
    return data


def _values_of(samples: Any, row: int) -> NDArray[np.float64]:
    """Return the values (d,) of a row of an array, a CSR or a data frame."""
    if issparse(samples):
        return samples.tocsr()[[row]].toarray()[0].astype(np.float64)
    return np.asarray(samples)[row].astype(np.float64)


def _row(
    model: CodedEstimator, X: Any, number: int, functions: list[FeatureFunction], numbers: Places
) -> dict[str, Any]:
    """Return a row: its levels, the sum of hidden features in its scores, and what is predicted."""
    if not 0 <= number < X.shape[0]:
        raise InputError(f"row {number}: X has {X.shape[0]} rows, which count from 0")
    sample, own = X[[number]], numbers[number]
    scores = model.model_.scores(sample)
    rest = np.zeros(len(model.baseline_))
    if len(functions) < model.n_features_in_:
        terms = [function.values[level] for function, level in zip(functions, own, strict=True)]
        rest = scores[0] - model.baseline_ - np.sum(terms, axis=0)
    return {
        "number": number,
        "levels": own.tolist(),
        "rest": rest.tolist(),
        **_outcome(model, scores),
    }


def _outcome(model: CodedEstimator, scores: NDArray[np.float64]) -> dict[str, Any]:
    """Return what a row with scores (1, P) is predicted as, and which column says the most of it.

    The column is of the predicted class, or of the first of its pairs; the probability is None
    for a model that gives none.
    """
    if not isinstance(model, CodedSVC):
        return {"predicted": f"{scores[0, 0]:.4g}", "column": 0, "probability": None}
    decision = combine_scores(scores, len(model.classes_), model.multiclass)
    winner = int(winners(decision)[0])
    pairs = class_pairs(len(model.classes_), model.multiclass)
    columns = [column for column, pair in enumerate(pairs) if winner in pair]
    probability = None
    if model.probability is not None:
        probability = float(model.probabilities_of(decision)[0, winner])
    return {
        "predicted": printable(str(model.classes_[winner])),
        "column": columns[0],
        "probability": probability,
    }


def _image(model: CodedEstimator, X: Any, shape: tuple[int, int]) -> dict[str, Any]:
    height, width = shape
    if height * width != model.n_features_in_:
        raise InputError(
            f"shape={height}x{width}: has {height * width} pixels, but the model has "
            f"{model.n_features_in_} features"
        )
    mean = np.zeros(model.n_features_in_) if X is None else np.asarray(X.mean(axis=0)).ravel()
    return {
        "height": height,
        "width": width,
        "mean": mean.tolist(),
        "importance": model.model_.importance.tolist(),
    }
