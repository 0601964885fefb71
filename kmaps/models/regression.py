"""Training of regressions from files: some rows held out, C chosen by cross-validation."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kmaps.errors import InputError
from kmaps.models.choice import (
    FOLD_TOL,
    Choice,
    Places,
    along_c,
    choice_of,
    first_values,
    rule_of,
    scores_along_c,
)
from kmaps.models.training import FOLDS, Report, fit_and_warn
from kmaps.progress import showing
from kmaps.svm import CodedSVR
from kmaps.svm.learner import LabelledSource


def train_regression(
    model: CodedSVR,
    source: LabelledSource,
    costs: list[float] | str,
    *,
    folds: int | None = None,
    hold_out: float | None = None,
    seed: int = 0,
    report: Report = lambda stage, done, total: None,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, Any]:
    """Read rows, hold some out, choose C, and train the model; return the facts about it.

    Parameters
    ----------
    model : CodedSVR
        The model, which is trained.
    source : object
        An object with ``blocks()``, ``sample()`` and ``labels()``, such as `kmaps.io.LabelledRows`;
        the labels are the targets, numbers.
    costs : list of float or the name of a rule
        Values of C, or "auto", "path" or "plateau"; several are compared by R², and one is when
        ``folds`` are given.
    folds : int, optional
        Parts of the rows in cross-validation, three by default.
    hold_out : float, optional
        The part of the rows, drawn at random, that is only used to measure R².
    seed : int
        Draws the folds and the rows held out.
    report : callable
        ``report(stage, done, total)`` is called while rows are read and trained on.
    clock : callable
        Returns seconds.

    Returns
    -------
    dict
        As `train_model` returns it, in what JSON can hold, with ``r2`` where there ``accuracy``
        stands: 1 minus the mean square error over the variance of the targets.
    """
    start = clock()
    with showing(report):
        rows: Any = model.prepare_rows(source)
    y = source.labels()
    try:
        y = y.astype(np.float64)  # numbers of a table such as 151.0 are text as labels of classes
    except ValueError:
        raise InputError("the labels are text: a regression needs numbers") from None
    held_rows = None
    if hold_out is not None:
        members, left_out = _drawn_apart(len(y), hold_out, seed)
        held_rows = rows.take(left_out)
        held_y = y[left_out]
        rows = rows.take(members)
        y = y[members]
    read = clock()
    compared = []
    with showing(report):
        if isinstance(costs, str) or len(costs) > 1 or folds is not None:
            choice = _choose_c(model, rows, y, costs, folds or FOLDS, seed)
            model.set_params(C=choice.C)
            compared = [
                {"C": C, "r2": r2} | ({"missed_tol": True} if C in choice.missed else {})
                for C, r2 in zip(choice.grid, choice.accuracies, strict=True)
            ]
        else:
            model.set_params(C=costs[0])
        chosen = clock()
        unfinished = fit_and_warn(model, rows, y)
    trained = clock()
    return {
        "rows": len(rows),
        "features": model.n_features_in_,
        "classes": None,
        "levels": model.levels_.shape[1],
        "codes_bytes": model.codes_bytes_,
        "duality_gap": float(model.duality_gap_.max()),
        "passes": int(model.n_iter_.max()),
        "model_bytes": model.model_bytes_,
        "C": model.C,
        "cv": compared,
        "folds": (folds or FOLDS) if compared else None,
        "hold_out": None
        if held_rows is None
        else {"rows": len(held_y), "r2": _r2(held_y, model.predict(held_rows))},
        "unfinished": unfinished,
        "code_s": read - start,
        "cv_s": chosen - read,
        "train_s": trained - chosen,
    }


def _drawn_apart(n_rows: int, part: float, seed: int) -> tuple[Places, Places]:
    """Return the numbers of the rows to train on, and of a random part that is held out."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_held = min(max(1, round(part * n_rows)), n_rows - 1)
    return np.sort(order[n_held:]), np.sort(order[:n_held])


def _choose_c(
    model: CodedSVR, rows: Any, y: NDArray, costs: list[float] | str, folds: int, seed: int
) -> Choice:
    """Compare values of C by R² on rows left out, each once, in random folds."""
    first_values(costs)
    if len(y) < folds:
        raise InputError(f"{len(y)} samples cannot be cut into folds={folds}: use fewer folds")
    fold = np.random.default_rng(seed).permutation(len(y)) % folds
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
    variance = y.var() or 1.0
    learner = clone(model).set_params(tol=max(model.tol, FOLD_TOL))
    predict = along_c(learner, rows, y)
    scores = scores_along_c(
        predict,
        costs,
        y,
        parts,
        lambda truth, predicted: 1 - (truth - predicted) ** 2 / variance,
    )
    return choice_of(scores, rule_of(costs), predict.missed)


def _r2(truth: NDArray, predicted: NDArray) -> float | None:
    """Return R², or None where all targets are the same."""
    spread = ((truth - truth.mean()) ** 2).sum()
    return float(1 - ((truth - predicted) ** 2).sum() / spread) if spread else None
