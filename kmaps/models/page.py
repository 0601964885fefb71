"""A page that shows an additive model: importances, functions, the terms of single predictions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmaps.checks import check_whole
from kmaps.errors import InputError, printable
from kmaps.svm import CodedSVC
from kmaps.svm.coded.estimator import CodedEstimator
from kmaps.svm.coded.model import FeatureFunction, level_numbers
from kmaps.svm.reduction import Places, class_pairs
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
    X = None if X is None else model.check_samples(X)
    order = np.argsort(-model.importance_, kind="stable")[:n_features]
    data: dict[str, Any] = _described(model, X, order, rows, names)
    if shape is not None:
        data["image"] = _image(model, X, shape)
    return render("explain.html", data=data)


def _described(
    model: CodedEstimator, X: Any, order: Places, rows: Sequence[int], names: Sequence[str] | None
) -> dict[str, Any]:
    shown = [model.function(int(j)) for j in order]
    titles = [function.name for function in shown] if names is None else [names[j] for j in order]
    spread = model.model_.importance[:, order].T
    curved = f" The price of curved functions was {model.smooth:g}." if model.smooth else ""
    data: dict[str, Any] = {
        "title": f"{type(model).__name__} of {model.map_}",
        "about": f"This page shows the most important features: {len(order)} of "
        f"{model.n_features_in_:,}.{curved}",
        "columns": _columns(model),
        "baseline": model.baseline_.tolist(),
        "features": [
            {
                "name": printable(str(name)),
                "levels": function.levels.tolist(),
                "values": function.values.tolist(),
                "importance": importance.tolist(),
                "ends": [],
                "density": [],
            }
            for name, function, importance in zip(titles, shown, spread, strict=True)
        ],
        "rows": [],
        "image": None,
    }
    if X is not None:
        numbers = level_numbers(model.model_, X, order)
        for feature, function, given in zip(data["features"], shown, numbers.T, strict=True):
            seen = function.levels[given]
            feature["ends"] = [
                float(seen.min()),
                float(seen.max()),
            ]  # what is drawn: levels are shared
            counts, _ = np.histogram(seen, _BINS, feature["ends"])
            feature["density"] = (counts / len(given)).tolist()  # parts of all samples
        data["rows"] = [_row(model, X, row, shown, numbers) for row in rows]
    return data


def _columns(model: CodedEstimator) -> list[str]:
    if not isinstance(model, CodedSVC):
        return ["the prediction"]
    names = [printable(str(label)) for label in model.classes_]
    return [
        names[positive] if negative is None else f"{names[positive]} against {names[negative]}"
        for positive, negative in class_pairs(len(names), model.multiclass)
    ]


def _row(
    model: CodedEstimator, X: Any, number: int, shown: list[FeatureFunction], numbers: Places
) -> dict[str, Any]:
    """Return a row: its levels, and the sum of hidden features in its scores."""
    if not 0 <= number < X.shape[0]:
        raise InputError(f"row {number}: X has {X.shape[0]} rows, which count from 0")
    sample, own = X[[number]], numbers[number]
    rest = np.zeros(len(model.baseline_))
    if len(shown) < model.n_features_in_:
        terms = [function.values[level] for function, level in zip(shown, own, strict=True)]
        rest = model.model_.scores(sample)[0] - model.baseline_ - np.sum(terms, axis=0)
    return {
        "number": number,
        "levels": own.tolist(),
        "rest": rest.tolist(),
        "predicted": printable(str(model.predict(sample)[0])),
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
