"""The distances of rows to landmarks in ONNX graphs."""

from typing import Any

import numpy as np

from kmaps.kernels import EXP_KERNELS
from kmaps.matrices import AnyMatrix, issparse

_TINY = np.finfo(float).tiny


def add_distances(graph: Any, x: Any, landmarks: AnyMatrix, kernel: str) -> Any:
    """Return the squared distances (n, m) of rows to landmarks, by an exponential kernel's metric.

    They are in double precision, being small differences of large terms.
    """
    node, x = graph.node, graph.cast(x, np.float64)
    size, sign = node("Abs", x), node("Sign", x)

    def squared_to(landmark: Any) -> Any:
        if kernel == "rbf":
            terms = node("Pow", node("Sub", x, landmark), 2.0)
        else:
            other, signs = node("Abs", landmark), node("Mul", sign, node("Sign", landmark))
            shared = node("Mul", signs, _kernel(graph, EXP_KERNELS[kernel], size, other))
            terms = node("Sub", node("Add", size, other), node("Mul", shared, 2.0))
        return node("ReduceSum", terms, [1], keepdims=0)

    rows = landmarks.toarray() if issparse(landmarks) else landmarks
    return graph.for_each(rows.astype(np.float64), squared_to)


def _kernel(graph: Any, kernel: str, x: Any, y: Any) -> Any:
    """Return an additive kernel of values x, y >= 0."""
    node, total = graph.node, graph.node("Add", x, y)
    if kernel == "chi2":
        return node("Div", node("Mul", node("Mul", x, y), 2.0), node("Max", total, _TINY))
    if kernel == "js":
        terms = [node("Mul", of, node("Log", node("Max", of, _TINY))) for of in (total, x, y)]
        return node("Div", node("Sub", node("Sub", *terms[:2]), terms[2]), 2 * np.log(2))
    if kernel == "intersection":
        return node("Min", x, y)
    return node("Mul", node("Sqrt", x), node("Sqrt", y))
