"""Accuracy against the time of a test: exact kernels, and random maps that learners thin out.

A trial trains one learner on one draw of projections, drops the projections that it does not use
and times what is left: encoding and scoring all test samples, best of three. With classes given,
it does so for each of them against the rest, as a detector would, and takes the mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import average_precision_score

from kmaps.bench.work.samples import features_cache
from kmaps.data import draw_split, load_dataset
from kmaps.errors import ConfigError, suggest
from kmaps.features import Matrix, extract
from kmaps.svm import GroupLassoSVC, KernelSVC, LiblinearSVC, prune, resample
from kmaps.svm.pruning import projection_strength

LEARNERS: dict[str, Callable[[float], Any]] = {
    "dense": lambda C: LiblinearSVC(C, loss="hinge", tol=0.3),
    "sparse-svm": lambda C: LiblinearSVC(C, penalty="l1", tol=0.01),
    "sparse-lr": lambda C: LiblinearSVC(C, penalty="l1", loss="logistic", tol=0.01),
    "group": lambda C: GroupLassoSVC(C, tol=1e-2),
    "group-hinge": lambda C: GroupLassoSVC(C, loss="hinge", tol=1e-2),
}
"""What trains on the projections: genrbf's SVM dense, SVM sparse and LR sparse (eq. 15-17), and eq.
18 with the squared hinge and as printed. The sparse ones stop at LIBLINEAR's own tolerances, as the
paper's may have."""

CHOOSERS = ("strongest", "resampled")
"""What chooses projections for a dense machine: a dense pilot's weights, or `resample`."""

_TIMED = 3

Labels = NDArray[np.int64]
Columns = dict[str, Any]


@dataclass(frozen=True)
class Samples:
    """Features and labels of the training and of the test samples.

    ``tasks`` are pairs of training and test labels: those of the dataset, or, for each of some
    classes, whether a sample is of it. Then ``judge`` returns the average precision of scores,
    given the second of the pair.
    """

    x_train: Matrix
    x_test: Matrix
    tasks: list[tuple[Labels, Any]]
    judge: Callable[[Any, NDArray], float] | None

    @property
    def sizes(self) -> Columns:
        """The sizes that a record has."""
        n_train, n_features = self.x_train.shape
        return {"n_train": n_train, "n_test": self.x_test.shape[0], "n_features": n_features}


def load_samples(
    name: str,
    protocol: dict[str, Any],
    features: str,
    normalize: str,
    params: dict[str, Any],
    classes: Sequence[str] = (),
) -> Samples:
    """Return the samples of split 0, to be told apart, or each of some classes from the rest.

    Raises
    ------
    ConfigError
        For a class that the dataset does not have.
    """
    data = load_dataset(name)
    known = list(data.class_names)
    for wanted in classes:
        if wanted not in known:
            hint = suggest(wanted, known)
            raise ConfigError(f"classes: {name} has no {wanted!r}{hint}")
    train, test = draw_split(data, protocol, 0)
    rows = np.concatenate([train, test])
    cache = features_cache()
    x = extract(data, features, normalize, rows=rows, train=train, cache=cache, **params)
    labels = [(data.y == known.index(wanted)).astype(np.int64) for wanted in classes] or [data.y]
    tasks = [(y[train], y[test]) for y in labels]
    return Samples(
        x[: len(train)], x[len(train) :], tasks, average_precision_score if classes else None
    )


@dataclass
class Draw:
    """One draw of projections: the fitted map, the encoded training samples, dense machines."""

    encoder: Any
    encoded: NDArray
    fit_s: float
    encode_s: float
    dense: dict[tuple, tuple[Any, float]] = field(default_factory=dict)


@dataclass
class Trials:
    """The trials of a study; what those of one draw share is made once, if they run in a row."""

    samples: Samples
    _draw: Draw | None = None

    def exact(self, kernel: str, C: float) -> Columns:
        """Measure the exact kernel; return the columns of its record."""
        samples, measured = self.samples, []
        for y_train, y_test in samples.tasks:
            model = KernelSVC(kernel, C=C).fit(samples.x_train, y_train)
            scored = _score(samples, model, lambda rows: rows, y_test)
            times = {"encode_s": model.timings_["gram_s"], "train_s": model.timings_["train_s"]}
            measured.append({**scored, **times, "model_bytes": model.model_bytes_})
        return {**_mean(measured), **samples.sizes, "dim": samples.x_train.shape[0]}

    def learner(self, encoder: Any, learner: dict[str, Any]) -> Columns:
        """Measure one learner on one draw; return the columns of its record.

        Parameters
        ----------
        encoder : RandomFourierMap or GeneralizedRBFMap
            Unfitted.
        learner : dict
            ``name`` (of `LEARNERS` or `CHOOSERS`), ``C`` and, for the latter, ``keep``: how many
            projections.

        Returns
        -------
        dict
            ``dim`` is twice the projections that are left.
        """
        draw = self._drawn(encoder)
        shared = {"fit_s": draw.fit_s, "encode_s": draw.encode_s, **self.samples.sizes}
        tasks = range(len(self.samples.tasks))
        return {**_mean([self._try(draw, learner, task) for task in tasks]), **shared}

    def _try(self, draw: Draw, learner: dict[str, Any], task: int) -> Columns:
        y_train, y_test = self.samples.tasks[task]
        if learner["name"] == "dense":
            encoder, (model, train_s) = draw.encoder, self._dense(draw, learner["C"], task)
        elif "keep" in learner:
            encoder, model, train_s = self._few(draw, learner, task)
        else:
            start = perf_counter()
            model = LEARNERS[learner["name"]](learner["C"]).fit(draw.encoded, y_train)
            encoder, train_s = draw.encoder, perf_counter() - start
        encoder, model = prune(encoder, model)
        return {
            "dim": 2 * len(encoder.projections_),
            "train_s": train_s,
            "model_bytes": model.model_bytes_,
            **_score(self.samples, model, encoder.transform, y_test),
        }

    def _dense(self, draw: Draw, C: float, task: int) -> tuple[Any, float]:
        """Train on all projections; it is the pilot of strongest, too."""
        if (C, task) not in draw.dense:
            start = perf_counter()
            model = LEARNERS["dense"](C).fit(draw.encoded, self.samples.tasks[task][0])
            draw.dense[C, task] = model, perf_counter() - start
        return draw.dense[C, task]

    def _few(self, draw: Draw, learner: dict[str, Any], task: int) -> tuple[Any, Any, float]:
        """Find the projections to keep, and train on them."""
        C, keep, pilot_s = learner["C"], learner["keep"], 0.0
        x_train, y_train = self.samples.x_train, self.samples.tasks[task][0]
        if learner["name"] == "strongest":
            pilot, pilot_s = self._dense(draw, C, task)
        start = perf_counter()
        if learner["name"] == "strongest":
            strength = projection_strength(draw.encoder, pilot)
            encoder = draw.encoder.keep(np.argsort(-strength, kind="stable")[:keep])
        else:
            encoder = resample(draw.encoder, x_train, y_train, keep)
        model = LEARNERS["dense"](C).fit(encoder.transform(x_train), y_train)
        return encoder, model, pilot_s + perf_counter() - start

    def _drawn(self, encoder: Any) -> Draw:
        last = self._draw
        if last is None or _settings(last.encoder) != _settings(encoder):
            self._draw = last = None  # its memory is needed for the next
            start = perf_counter()
            encoder = clone(encoder).fit(self.samples.x_train)
            fitted = perf_counter()
            if not hasattr(encoder, "projections_"):
                raise ConfigError(f"map {type(encoder).__name__}: draws no projections")
            encoded = encoder.transform(self.samples.x_train)
            self._draw = last = Draw(encoder, encoded, fitted - start, perf_counter() - fitted)
        return last


def _settings(encoder: Any) -> tuple:
    return type(encoder), encoder.get_params(deep=False)


def _score(samples: Samples, model: Any, encode: Callable, truth: Any) -> Columns:
    """Return how well and how fast a model tells the test samples apart, encoding included."""
    output = model.decision_function if samples.judge else model.predict
    times = []
    for _ in range(_TIMED):  # the first also compiles
        start = perf_counter()
        found = output(encode(samples.x_test))
        times.append(perf_counter() - start)
    if samples.judge:
        quality = {"average_precision": float(samples.judge(truth, found))}
    else:
        quality = {"accuracy": float((found == truth).mean())}
    return {**quality, "predict_s": min(times)}


def _mean(measured: list[Columns]) -> Columns:
    if len(measured) == 1:
        return measured[0]
    return {name: float(np.mean([one[name] for one in measured])) for name in measured[0]}
