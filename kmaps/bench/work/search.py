"""Parameters of a third-party row that are chosen inside the training split, together with C.

A width has the rule of :mod:`kmaps.models.widths`. Of values all combinations are compared, each at
its best C; where the best number is the outermost one and beats the one before by more than one
standard error, the next one of the progression is compared too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps import models
from kmaps.bench.records.row import BY_ITSELF
from kmaps.bench.work import third_party
from kmaps.bench.work.classify import Choosing, ModelSpec, choose_c, own, predictor

_MOST = 8  # values of a parameter

Searched = tuple[models.Choice, dict[str, Any], dict[str, list], list[float]]
"""The C, the parameters, the values that were compared, and the accuracies of these."""


def search(
    spec: ModelSpec,
    parameters: dict[str, Any],
    choosing: Choosing,
    x: Any,
    y: NDArray[np.int64],
    groups: NDArray | None = None,
) -> Searched:
    """Choose parameters among values, or a width, on the samples and folds that C is chosen on."""
    has_C = spec.solver != BY_ITSELF or third_party.chooses_c(spec.method, spec.params)
    choosing = choosing if has_C else replace(choosing, grid=[1.0])
    choose = _width if models.AUTO in parameters.values() else _values
    choice, *searched = choose(spec, parameters, choosing, x, y, groups)
    if not has_C:
        choice = choose_c(spec, choosing, x, y)
    return (choice, *searched)


def _with(spec: ModelSpec, chosen: Mapping[str, Any]) -> ModelSpec:
    return replace(spec, params={**spec.params, **chosen})


@dataclass
class _Radial:
    """A row with the kernel exp(-γ D²), as `choose_width` takes models."""

    spec: ModelSpec
    kernel: str = "rbf"
    C: Any = models.AUTO
    sigma: Any = models.AUTO
    verbose: int = 0

    def at_widths(
        self, X: Any, y: Any, weights: Any, mean: float
    ) -> Callable[[float], models.Predict]:
        return lambda sigma: predictor(_with(self.spec, {"gamma": 1 / (2 * sigma**2)}), X, y)


def _width(
    spec: ModelSpec,
    parameters: dict,
    choosing: Choosing,
    x: Any,
    y: NDArray[np.int64],
    groups: NDArray | None,
) -> Searched:
    """Choose the one parameter, a width, together with C by the rule for widths."""
    (name,) = parameters
    if name == "gamma":
        model: Any = _Radial(spec)
    else:
        model = own(_with(spec, {name: models.AUTO}), models.AUTO)
    width = models.choose_width(
        model,
        x,
        y,
        choosing.grid,
        groups=groups,
        cv=choosing.folds,
        random_state=choosing.seed,
        samples=choosing.samples,
    )
    mean = width.sigma / width.fractions[width.chosen] ** 0.5
    values = [mean * fraction**0.5 for fraction in width.fractions]
    if name == "gamma":
        values = [1 / (2 * sigma**2) for sigma in values]
    chosen = {name: values[width.chosen]}
    return width.choices[width.chosen], chosen, {name: values}, list(width.accuracies)


def _values(
    spec: ModelSpec,
    parameters: dict,
    choosing: Choosing,
    x: Any,
    y: NDArray[np.int64],
    groups: NDArray | None,
) -> Searched:
    """Compare all combinations of values, each at its best C; lengthen lists that end too early."""
    sample = models.stratified_sample(y, choosing.samples, choosing.seed)
    x = x[sample]
    y = y[sample]
    groups = None if groups is None else groups[sample]
    folds = models.splits(y, choosing.folds, groups)
    scores: dict[tuple, NDArray] = {}
    choices: dict[tuple, models.Choice] = {}
    grid: dict[str, list] = {}
    longer = parameters
    while longer != grid:
        grid = longer
        for values in product(*grid.values()):
            if values not in scores:
                predict = predictor(_with(spec, dict(zip(grid, values, strict=True))), x, y)
                by_c = models.scores_along_c(predict, choosing.grid, y, folds)
                choices[values] = models.choice_of(by_c, models.rule_of(choosing.grid))
                scores[values] = by_c[choices[values].C]
        best = max(scores, key=lambda values: float(np.mean(scores[values])))
        longer = {}
        for i, (name, listed) in enumerate(grid.items()):
            longer[name] = _longer(listed, i, best, scores)
    compared = {name: [values[i] for values in scores] for i, name in enumerate(grid)}
    accuracies = [float(np.mean(right)) for right in scores.values()]
    return choices[best], dict(zip(grid, best, strict=True)), compared, accuracies


def _longer(values: list, i: int, best: tuple, scores: dict[tuple, NDArray]) -> list:
    """Return the values of parameter i, with the next one where the best is the outermost."""
    are_numbers = all(type(value) in (int, float) and value > 0 for value in values)
    if not are_numbers or not 1 < len(values) < _MOST:
        return values
    if best[i] not in (min(values), max(values)):
        return values
    *_, inner, outer = sorted(values, reverse=best[i] == min(values))
    following = float(f"{outer**2 / inner:.3g}")
    if all(type(value) is int for value in values):
        following = max(2, round(following))  # with one leaf, for example, nothing is learned
    scores_of_inner = scores[*best[:i], inner, *best[i + 1 :]]
    if following in values or models.gains_little(scores_of_inner, scores[best]):
        return values
    return [*values, following]
