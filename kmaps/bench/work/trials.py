"""Accuracy against the time of a test: exact kernels, and random maps that learners thin out.

A trial trains one learner on one draw of frequencies, drops the frequencies that it does not use,
and times the test with the others: encoding and scoring all test samples, best of three. With given
classes, it does so for each of them against the rest, as a detector would, and takes the mean.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import average_precision_score

from kmaps import gram
from kmaps.bench.run.clock import Timing
from kmaps.bench.work.learners import CHOOSERS, LEARNERS
from kmaps.bench.work.samples import Split
from kmaps.errors import ConfigError, suggest
from kmaps.features import Matrix
from kmaps.maps import RandomFeatures
from kmaps.models import AUTO, Choice, Places, Predict, along_c, along_c_precomputed, cross_validate
from kmaps.svm import KernelSVC, frequency_strength, prune, resample

_TIMED = 3

Labels = NDArray[np.int64]
Columns = dict[str, Any]
Tried = tuple[Columns, Labels | None]  # columns of a record, and the predicted labels


@dataclass(frozen=True)
class Tasks:
    """Features of the training and of the test samples, and the labels to be predicted.

    ``labels`` are pairs of training and test labels: one pair with the dataset's labels or, for
    detectors, a pair per class that says which samples are of it. Then ``judge`` returns the
    average precision of scores, given the second of the pair.
    """

    x_train: Matrix
    x_test: Matrix
    labels: list[tuple[Labels, Any]]
    judge: Callable[[Any, NDArray], float] | None
    sizes: Columns

    @property
    def output(self) -> Literal["predict", "decision_function"]:
        """What of a model is scored."""
        return "decision_function" if self.judge else "predict"


def tasks_of(split: Split, classes: Sequence[str] = ()) -> Tasks:
    """Return a split's classes to be separated, or each of some classes from the rest; a
    ConfigError names a class that the dataset does not have."""
    names = list(split.class_names)
    for wanted in classes:
        if wanted not in names:
            hint = suggest(wanted, names)
            raise ConfigError(f"classes: the dataset has no {wanted!r}{hint}")
    labels = [
        ((split.y_train == i).astype(np.int64), (split.y_test == i).astype(np.int64))
        for i in map(names.index, classes)
    ]
    judge = average_precision_score if classes else None
    both = labels or [(split.y_train, split.y_test)]
    return Tasks(split.x_train, split.x_test, both, judge, split.sizes)


class Folds(NamedTuple):
    """How C is chosen: the number of folds, their seed, and the number of samples."""

    folds: int
    seed: int
    samples: int | None = None


def _few_of(tasks: Tasks) -> Tasks:
    ends = [np.unique(y_train, return_index=True)[1] for y_train, _ in tasks.labels]
    spread = np.arange(tasks.x_train.shape[0])[:: max(1, tasks.x_train.shape[0] // 50)]
    rows = np.unique(np.concatenate([spread, *ends]))
    labels = [(y_train[rows], y_test[:50]) for y_train, y_test in tasks.labels]
    judge = (lambda truth, scores: 0.0) if tasks.judge else None
    return Tasks(tasks.x_train[rows], tasks.x_test[:50], labels, judge, {})


@dataclass
class Draw:
    """One draw of frequencies: the fitted map, the encoded training samples, dense models."""

    settings: tuple
    map: Any
    encoded: NDArray
    seconds: dict[str, float]
    dense: dict[tuple, tuple[Any, float]] = field(default_factory=dict)


@dataclass
class Trials:
    """The trials on some tasks; consecutive trials on one draw share its encoded rows."""

    tasks: Tasks
    _draw: Draw | None = None
    _small: "Trials | None" = None

    def few(self) -> "Trials":
        """Return the same trials on a few samples, to warm up on."""
        if self._small is None:
            self._small = Trials(_few_of(self.tasks))
        return self._small

    def exact(self, kernel: str, C: float, timing: Timing) -> Tried:
        """Measure the exact kernel; return the columns of its record, and the predicted labels."""
        tasks = self.tasks
        measured = []
        for y_train, y_test in tasks.labels:
            model = KernelSVC(kernel, C, solver="libsvm").fit(tasks.x_train, y_train)
            timings = model.timings_
            timing.note(encode_s=timings["gram_s"], convert_s=timings["convert_s"])
            timing.note(train_s=timings["train_s"])
            quality, predicted = _score(tasks, model, lambda rows: rows, y_test, timing)
            measured.append(({**quality, "model_bytes": model.model_bytes_}, predicted))
        columns, predicted = _mean(measured)
        return {**columns, **tasks.sizes, "dim": tasks.x_train.shape[0]}, predicted

    def choose_exact(self, kernel: str, folds: Folds) -> Choice:
        """Choose the C of an exact kernel by cross-validation."""
        x = self.tasks.x_train

        def paths(chosen: Places) -> list[Predict]:
            matrix = gram(x[chosen], kernel=kernel)
            model = KernelSVC("precomputed", solver="libsvm")
            return [
                along_c_precomputed(model, matrix, y[chosen], self.tasks.output)
                for y, _ in self.tasks.labels
            ]

        return _choose(self.tasks, paths, folds)

    def choose(
        self, feature_map: Any, learner: Mapping[str, Any], folds: Folds, timing: Timing
    ) -> Choice:
        """Choose the C of a learner on a draw, one for all tasks; what it keeps of the frequencies
        is chosen on each fold."""
        draw = self._drawn(feature_map, timing)

        def paths(chosen: Places) -> list[Predict]:
            x = self.tasks.x_train[chosen]
            encoded = draw.encoded[chosen]
            return [
                _path(draw.map, learner, x, encoded, y[chosen], self.tasks.output)
                for y, _ in self.tasks.labels
            ]

        return _choose(self.tasks, paths, folds)

    def learner(self, feature_map: Any, learner: Mapping[str, Any], timing: Timing) -> Tried:
        """Measure one learner on one draw; ``dim`` is twice the frequencies that are left.

        ``learner`` has a ``name`` of `LEARNERS` or `CHOOSERS`, ``C`` and, for the latter, ``keep``:
        how many frequencies. No labels are predicted for detectors, whose scores are judged.
        """
        draw = self._drawn(feature_map, timing)
        tasks = range(len(self.tasks.labels))
        measured = [self._try(draw, learner, task, timing) for task in tasks]
        timing.note(**draw.seconds)
        columns, predicted = _mean(measured)
        return {**columns, **self.tasks.sizes}, predicted

    def _try(self, draw: Draw, learner: Mapping[str, Any], task: int, timing: Timing) -> Tried:
        y_train, y_test = self.tasks.labels[task]
        if learner["name"] == "dense":
            used = draw.map
            model, train_s = self._dense(draw, learner["C"], task, timing)
        elif "keep" in learner:
            used, model, train_s = self._chosen(draw, learner, task, timing)
        else:
            made = LEARNERS[learner["name"]](learner["C"])
            model, train_s = timing.seconds(lambda: made.fit(draw.encoded, y_train))
            used = draw.map
        timing.note(train_s=train_s)
        used, model = prune(used, model)
        quality, predicted = _score(self.tasks, model, used.transform, y_test, timing)
        sizes = {"dim": 2 * len(used.frequency_indices_), "model_bytes": model.model_bytes_}
        return sizes | quality, predicted

    def _dense(self, draw: Draw, C: float, task: int, timing: Timing) -> tuple[Any, float]:
        """Return the model on all frequencies, also the pilot of strongest, and its seconds."""
        if (C, task) not in draw.dense:
            y_train = self.tasks.labels[task][0]
            made = LEARNERS["dense"](C)
            draw.dense[C, task] = timing.seconds(lambda: made.fit(draw.encoded, y_train))
        return draw.dense[C, task]

    def _chosen(
        self, draw: Draw, learner: Mapping[str, Any], task: int, timing: Timing
    ) -> tuple[Any, Any, float]:
        C = learner["C"]
        keep = learner["keep"]
        x_train = self.tasks.x_train
        y_train = self.tasks.labels[task][0]
        if learner["name"] == "strongest":
            pilot, pilot_s = self._dense(draw, C, task, timing)
            chosen_map, choice_s = timing.seconds(lambda: _strongest(draw.map, pilot, keep))
        else:
            pilot_s = 0.0
            chosen_map, choice_s = timing.seconds(
                lambda: resample(draw.map, x_train, y_train, keep)
            )
        dense = LEARNERS["dense"](C)
        model, train_s = timing.seconds(lambda: dense.fit(chosen_map.transform(x_train), y_train))
        return chosen_map, model, pilot_s + choice_s + train_s

    def _drawn(self, feature_map: Any, timing: Timing) -> Draw:
        settings = type(feature_map), feature_map.get_params(deep=False)
        if self._draw is None or self._draw.settings != settings:
            self._draw = None  # frees its memory for the next draw
            x_train = self.tasks.x_train
            drawn, fit_s = timing.seconds(lambda: clone(feature_map).fit(x_train))
            if not isinstance(drawn, RandomFeatures):
                raise ConfigError(f"map {type(drawn).__name__}: expected a random map")
            encoded, encode_s = timing.seconds(lambda: drawn.transform(x_train))
            seconds = {"fit_s": fit_s, "encode_s": encode_s}
            self._draw = Draw(settings, drawn, encoded, seconds)
        return self._draw


def _path(
    feature_map: Any,
    learner: Mapping[str, Any],
    x: Matrix,
    encoded: NDArray,
    y: Labels,
    output: Literal["predict", "decision_function"],
) -> Predict:
    """Return a function that trains a learner with each C on some samples and judges others."""
    name = learner["name"]
    if name not in CHOOSERS:
        return along_c(LEARNERS[name](1.0), encoded, y, output)

    def predict(grid: Sequence[float], train: Places, test: Places) -> Iterator[NDArray]:
        if name == "resampled":
            chosen_map = resample(feature_map, x[train], y[train], learner["keep"])
        for C in grid:
            if name == "strongest":
                pilot = LEARNERS["dense"](C).fit(encoded[train], y[train])
                chosen_map = _strongest(feature_map, pilot, learner["keep"])
            model = LEARNERS["dense"](C).fit(chosen_map.transform(x[train]), y[train])
            yield getattr(model, output)(chosen_map.transform(x[test]))

    return predict


def _choose(tasks: Tasks, paths: Callable[[Places], list[Predict]], folds: Folds) -> Choice:
    """Choose one C for all tasks: by the labels that are right, or the average precisions.

    The samples are dealt out by the labels of all tasks, so that each fold has some of each class.
    """
    of_tasks, strata = np.unique(
        np.column_stack([y for y, _ in tasks.labels]), axis=0, return_inverse=True
    )

    def prepare(chosen: Places) -> Predict:
        of_task = paths(chosen)

        def predict(grid: Sequence[float], train: Places, test: Places) -> Iterator[NDArray]:
            by_task = [list(path(grid, train, test)) for path in of_task]
            yield from (np.column_stack(of_c) for of_c in zip(*by_task, strict=True))

        return predict

    def right(truth: Labels, predicted: NDArray) -> NDArray:
        return predicted[:, 0] == of_tasks[truth, 0]

    def precisions(truth: Labels, values: NDArray) -> NDArray:
        labels = of_tasks[truth].T
        precisions = [average_precision_score(*pair) for pair in zip(labels, values.T, strict=True)]
        return np.array(precisions)

    score = precisions if tasks.judge else right
    return cross_validate(
        prepare,
        AUTO,
        strata.ravel(),
        score=score,
        cv=folds.folds,
        random_state=folds.seed,
        samples=folds.samples,
    )


def _strongest(feature_map: Any, pilot: Any, keep: int) -> Any:
    """Return a map with the frequencies alone that have the largest weights in a pilot."""
    strength = frequency_strength(feature_map, pilot)
    return feature_map.keep(np.argsort(-strength, kind="stable")[:keep])


def _score(tasks: Tasks, model: Any, encode: Callable, truth: Any, timing: Timing) -> Tried:
    """Return how well a model separates the test samples; time it, encoding included."""
    output = model.decision_function if tasks.judge else model.predict
    outputs = timing.best("predict_s", lambda: output(encode(tasks.x_test)), _TIMED)
    if tasks.judge:
        return {"average_precision": float(tasks.judge(truth, outputs))}, None
    return {"accuracy": float((outputs == truth).mean())}, outputs


def _mean(measured: list[Tried]) -> Tried:
    """Return the means over the tasks; a single task's values stay as they are."""
    if len(measured) == 1:
        return measured[0]
    of_tasks = [columns for columns, _ in measured]
    means = {}
    for name in of_tasks[0]:
        means[name] = float(np.mean([columns[name] for columns in of_tasks]))
    return means, None
