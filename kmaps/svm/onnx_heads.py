"""The steps of classifiers from scores on, in ONNX: decisions, labels, probabilities.

It is computed in double precision, as votes and ties ask for.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.onnx_graph import Graph, Tensor
from kmaps.svm.reduction import class_pairs


def add_classifier(
    graph: Graph, scores: Tensor, classes: NDArray, reduction: str, curves: Any = None
) -> None:
    """Add the outputs of a classifier, named as its methods, for scores (n, P) of its problems.

    ``curves`` are the `kmaps.svm.reduction.Probabilities` of a model that has some.
    """
    columns = graph.cast(scores, np.float64)
    if len(classes) > 2:
        columns = _votes(graph, columns, len(classes)) if reduction == "ovo" else columns
        decision = columns
        chosen = graph.node("ArgMax", columns, dtype=np.int64, axis=1, keepdims=0)
    else:
        decision = graph.node("Squeeze", columns, [1])
        chosen = graph.cast(graph.node("Greater", decision, 0.0, dtype=bool), np.int64)
    labels = graph.constant(_labels(classes))
    graph.add_output("predict", graph.node("Gather", labels, chosen), 1)
    graph.add_output("decision_function", decision, min(2, len(classes) - 1))
    if curves is not None:
        probabilities = _probabilities(graph, columns, len(classes), curves)
        graph.add_output("predict_proba", probabilities, 2)


def _labels(classes: NDArray) -> NDArray:
    """Return labels in a type that ONNX has."""
    if all(isinstance(label, str) for label in classes):
        for label in classes:
            if any("\ud800" <= character <= "\udfff" for character in label):
                raise InputError(
                    f"ONNX holds labels in UTF-8, and {label!a} has a lone surrogate, which UTF-8 "
                    "cannot write; train on other labels"
                )
        return classes.astype(object)
    if classes.dtype.kind not in "biuf":
        raise InputError(f"ONNX has no labels of type {classes.dtype}: train on texts or numbers")
    return classes


def _votes(graph: Graph, scores: Tensor, n_classes: int) -> Tensor:
    """Return one-vs-one decisions, as `kmaps.svm.reduction.combine_scores` has them."""
    pairs = np.array(class_pairs(n_classes, "ovo"))
    sides = np.zeros((len(pairs), n_classes))
    sides[np.arange(len(pairs)), pairs[:, 0]] = 1
    sides[np.arange(len(pairs)), pairs[:, 1]] = -1
    won = graph.cast(graph.node("Greater", scores, 0.0, dtype=bool), np.float64)
    votes = graph.affine(won, sides, (sides < 0).sum(axis=0).astype(float))
    sums = graph.node("MatMul", scores, sides)
    size = graph.node("Mul", graph.node("Add", graph.node("Abs", sums), 1.0), 3.0)
    return graph.node("Add", votes, graph.node("Div", sums, size))


def _probabilities(graph: Graph, columns: Tensor, n_classes: int, curves: Any) -> Tensor:
    """Return the probabilities (n, K), as `kmaps.svm.reduction.Probabilities.of` has them."""
    if curves.method == "isotonic":
        probabilities = _isotonic(graph, columns, curves)
    else:
        exponents = graph.node("Add", graph.node("Mul", columns, curves.x), curves.p)
        if n_classes > 2:
            if curves.method == "sigmoid":
                exponents = _log_sigmoid(graph, exponents)
            return graph.node("Softmax", exponents, axis=1)
        probabilities = graph.node("Sigmoid", exponents)
    if n_classes == 2:
        other = graph.node("Add", graph.node("Neg", probabilities), 1.0)
        return graph.node("Concat", other, probabilities, axis=1)
    total = graph.node("ReduceSum", probabilities, [1])
    some = graph.node("Greater", total, 0.0, dtype=bool)
    one, equal = graph.constant(1.0), graph.constant(1 / n_classes)
    divisor = graph.node("Where", some, total, one, dtype=np.float64)
    parts = graph.node("Div", probabilities, divisor)
    return graph.node("Where", some, parts, equal, dtype=np.float64)


def _log_sigmoid(graph: Graph, z: Tensor) -> Tensor:
    """Return log(1 / (1 + exp(-z))) = min(z, 0) - log(1 + exp(-|z|)): no sigmoid becomes zero."""
    small = graph.node("Exp", graph.node("Neg", graph.node("Abs", z)))
    return graph.node(
        "Sub", graph.node("Min", z, 0.0), graph.node("Log", graph.node("Add", small, 1.0))
    )


def _isotonic(graph: Graph, columns: Tensor, curves: Any) -> Tensor:
    """Return straight lines between points, flat outside of them, (n, K)."""
    sizes = np.diff(curves.bounds)
    cells = len(sizes), 1 + int(sizes.max())
    edges = np.full((cells[0], cells[1] - 1), np.inf)
    begin, width, pieces = np.zeros(cells), np.ones(cells), np.zeros((*cells, 2, 1))
    for k, (m, first) in enumerate(zip(sizes, curves.bounds, strict=False)):
        x, p = curves.x[first : first + m], curves.p[first : first + m]
        edges[k, :m] = x
        begin[k, 1 : m + 1], width[k, 1:m] = x, np.diff(x)
        pieces[k, : m + 1, 0, 0], pieces[k, 1:m, 1, 0] = np.r_[p[0], p], np.diff(p)
    values = graph.piecewise(columns, edges, begin, width, pieces)
    return graph.node("Squeeze", values, [-1])
