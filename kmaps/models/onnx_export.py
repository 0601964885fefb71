"""ONNX graphs of everything that has one, pipelines and linear models of scikit-learn included."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from kmaps.errors import ConfigError
from kmaps.onnx_graph import Graph, Tensor, add_step, export
from kmaps.svm.onnx_heads import add_classifier
from kmaps.svm.reduction import Probabilities


def to_onnx(
    model: Any, path: str | Path | None = None, *, dtype: str = "float32", force: bool = False
) -> Any:
    """Return a fitted model as an ONNX graph, which needs neither kmaps nor Python to run.

    Each output is named after a method and has its result, to 1e-5: ``transform`` (n, d·r) of a
    map, dense; ``predict`` (n,), ``decision_function`` (n,) or (n, K), and ``predict_proba`` (n, K)
    of a classifier that has it; ``predict`` (n,) of a regressor. The input is ``X`` (n, d). The
    graph checks nothing: input that kmaps refuses, such as NaN, gives some output, or an error.

    Parameters
    ----------
    model : estimator
        A map, `Quantizer`, `CodedSVC`, `CodedSVCCV`, `CodedSVR`, `CodedRidge`, `LiblinearSVC`,
        `GroupLassoSVC`, `RandomFeatureSVC`, `LandmarkSVC`; scikit-learn's ``LinearSVC`` and
        ``LogisticRegression``; or a ``Pipeline`` of them. Maps and models of kmaps also have it as
        a method.
    path : str or Path, optional
        A file to write, which takes its name once it is complete.
    dtype : {"float32", "float64", "uint8"}, default="float32"
        Type of the input; a model trained on codes takes uint8 only. With float64 numbers in
        the outputs are float64, else float32. A value that both float types hold has the same code
        in both, and the one that kmaps gives it.
    force : bool, default=False
        Whether a file may be replaced.

    Returns
    -------
    onnx.ModelProto
        The checked graph. Its metadata have the version of kmaps, the classes, the map, its version
        and the kernel, and the names of the features, if they have names.

    Raises
    ------
    ConfigError
        For an estimator without a graph, a ``dtype`` that it does not take, or without onnx (the
        extra ``onnx``).
    InputError
        For labels that ONNX cannot hold, a graph above 2 GB, or a file that exists.

    Notes
    -----
    A curve that kmaps computes in double precision by its formula has cubic pieces here, right to
    1e-7, for magnitudes up to 2^127. Sums are rounded in another order than in kmaps, which may
    show where a last digit decides, at a tie of votes. Isotonic probabilities are steep, so the
    scores below them are sums in double precision, here and in kmaps; where the outputs of a map
    already differ in the last digit, as with random frequencies, a step may show it.
    """
    steps = _steps(model)
    if not steps:
        raise ConfigError("Pipeline has no ONNX graph: it has no steps")
    return export(steps, path, dtype=dtype, force=force, add=_add)


def _steps(model: Any) -> list[Any]:
    """Return the steps of a pipeline, pipelines inside it included."""
    if not isinstance(model, Pipeline):
        return [model]
    steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
    return [inner for step in steps for inner in _steps(step)]


def _add(step: Any, graph: Graph, x: Tensor) -> Tensor | None:
    """Add a step to a graph, also one of scikit-learn."""
    if not isinstance(step, LinearSVC | LogisticRegression):
        return add_step(step, graph, x)
    shift = np.broadcast_to(step.intercept_, len(step.coef_))
    curves = _curves(step) if isinstance(step, LogisticRegression) else None
    add_classifier(graph, graph.affine(x, step.coef_.T, shift), step.classes_, "ovr", curves)
    return None


def _curves(model: LogisticRegression) -> Probabilities:
    """Return the curves that turn the scores of a logistic regression into probabilities."""
    n_columns = len(model.coef_)
    reduction = vars(model).get("multi_class")  # scikit-learn 1.8 has removed it
    each = n_columns == 1 or reduction == "ovr" or model.solver == "liblinear"
    slope = 2.0 if n_columns == 1 and reduction == "multinomial" else 1.0
    slopes, shifts = np.full(n_columns, slope), np.zeros(n_columns)
    method = "sigmoid" if each else "temperature"
    return Probabilities(np.arange(n_columns + 1), slopes, shifts, method)
