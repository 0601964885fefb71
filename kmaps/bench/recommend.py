"""`kmaps recommend`: an experiment on a sample of the user's rows, and the rows that none beats."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from scipy.stats import binomtest

from kmaps import num_threads
from kmaps.bench.kinds.load import load
from kmaps.bench.paper.designs import score_interval
from kmaps.bench.records.arrays import CorrectOf, read_correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.file import DEFINITION, write_definition
from kmaps.bench.records.row import Row, is_third_party
from kmaps.bench.report.front import COSTS, FrontPoint, front, points_of
from kmaps.bench.run.runner import RunProgress, run
from kmaps.bench.work.third_party import find
from kmaps.errors import CellsFailed, FileNote, InputError, NothingMeasured
from kmaps.io import LabelledRows, open_writer
from kmaps.kernels import KERNELS
from kmaps.maps import make_map, takes
from kmaps.models import NormalizedRows, stratified_sample
from kmaps.svm import CodedSVC

FILE = "sample.npz"

_SEED = 0
_FEWEST = 2  # rows of a class: one to train on, one to be held out
_PAIRED = range(3, 21)  # classes: more have too many pairs, and two need one model in both cases
_MAPS: tuple[dict[str, Any], ...] = (
    {"map": "intersection", "n_bins": 1, "solver": "coded"},  # one bin: the linear model
    {"map": "homogeneous", "kernel": "chi2", "order": 1, "solver": "coded"},
    {"map": "spline", "n_bins": 10, "solver": "coded"},
)


def _model(name: str, kernel: str, **params: Any) -> dict[str, Any]:
    shared = {"kernel": kernel, "loss": "squared_hinge"}
    return {"estimator": f"kmaps.{name}", "params": shared | params}


_EXPONENTIAL = {"estimator": "kmaps.KernelSVC", "params": {"kernel": "exp-chi2"}}
_MODELS = (
    _model("LandmarkSVC", "exp-chi2", n_landmarks=250),
    _model("LandmarkSVC", "exp-chi2", n_landmarks=1000),
    _model("LandmarkSVC", "rbf", n_landmarks=1000),
    _model("RandomFeatureSVC", "exp-chi2", n_frequencies=8000, structure="fastfood"),
)
_RIVALS: tuple[dict[str, Any], ...] = (
    {"estimator": "kmaps.bench.work.rivals.StandardizedLinearSVC"},
    {
        "estimator": "kmaps.bench.work.rivals.StandardizedSVC",
        "search": {"width": [0.1, 1.0, 10.0]},
    },
    {
        "estimator": "kmaps.bench.work.rivals.BoostedTrees",
        "search": {"learning_rate": [0.05, 0.1]},
    },
)
_NAMES_OF_RIVALS = {
    _RIVALS[0]["estimator"]: "LinearSVC on standardised columns (scikit-learn)",
    _RIVALS[1]["estimator"]: "SVC, rbf, on standardised columns (scikit-learn)",
    _RIVALS[2]["estimator"]: "HistGradientBoosting, boosted trees (scikit-learn)",
}
_EXACT = ("exact-coded", _EXPONENTIAL["estimator"])
_FAST_US = 10
_QUALITY = "accuracy"


@dataclass(frozen=True)
class Limits:
    """What a model may cost."""

    max_bytes: float = inf  # its training rows, tables and weights, as stored
    max_us: float = inf  # microseconds to predict a row

    def hold(self, record: Record) -> bool:
        """Return whether the model of a record costs no more."""
        return record["storage_bytes"] <= self.max_bytes and row_us(record) <= self.max_us


@dataclass(frozen=True)
class Candidate:
    """A measured model, and its point in the figure of accuracy and costs."""

    record: Record
    point: FrontPoint

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval (Wilson's) of its accuracy on the rows held out, in [0, 1]."""
        n_test = self.record["n_test"]
        accuracy = self.record["accuracy"]
        interval = binomtest(round(accuracy * n_test), n_test).proportion_ci(method="wilson")
        return float(interval.low), float(interval.high)

    @property
    def standing(self) -> float:
        """The accuracy by which choices are ordered: of the rows held out and of the folds."""
        record = self.record
        if record["C"] is None:
            accuracy = max(record["search_accuracy"])
        else:
            accuracy_of_C = dict(zip(record["cv_C"], record["cv_accuracy"], strict=True))
            accuracy = accuracy_of_C[record["C"]]
        n_folds = min(record["C_samples"] or record["n_train"], record["n_train"])
        right = record["accuracy"] * record["n_test"] + accuracy * n_folds
        return right / (record["n_test"] + n_folds)


WANTED: dict[str, Callable[[Record], bool]] = {
    "as accurate as possible": lambda record: True,
    f"within {_FAST_US} µs per row": lambda record: row_us(record) <= _FAST_US,
    "exact": lambda record: record["method"] in _EXACT,
}
"""What users want; the best model for each is named."""


@dataclass(frozen=True)
class Recommendation:
    """What is recommended of the measured models."""

    records: list[Record]  # records of all models, including failed ones
    choices: list[Candidate]  # models that no other one beats, the best one first, then named ones
    points: list[
        FrontPoint
    ]  # all models within the limits, in the order of a figure: choices first
    named: dict[str, int | None]  # the number of the best choice for each of WANTED, from 1
    comparison: str | None = None  # of the best models of kmaps and of scikit-learn

    @property
    def failed(self) -> list[Record]:
        """The records of models that could not be measured."""
        return [record for record in self.records if record["status"] == "failed"]


def row_us(record: Record) -> float:
    """Return the microseconds that a row takes to predict."""
    return 1e6 * record["predict_s"] / record["n_test"]


def draw_sample(source: LabelledRows | NormalizedRows, n_rows: int, folder: Path) -> NDArray:
    """Draw rows of a file class by class, always the same ones, and write them to a folder.

    The file is read twice, block by block: for its labels, which are returned, and for the rows.
    """
    for _ in source.blocks():  # the labels of a file are known after reading
        pass
    y = source.labels()
    chosen = np.sort(stratified_sample(y, n_rows, _SEED))
    _check_classes(y, y[chosen], n_rows)
    parts = []
    start = 0
    for block in source.blocks():
        first, last = np.searchsorted(chosen, [start, start + block.shape[0]])
        parts.append(block[chosen[first:last] - start])
        start += block.shape[0]
    X = vstack(parts, "csr") if issparse(parts[0]) else np.concatenate(parts)
    folder.mkdir(parents=True, exist_ok=True)
    with open_writer(folder / FILE, force=True, n_rows=X.shape[0]) as writer:
        writer.write(X, y[chosen])
    return y


def _check_classes(y: NDArray, drawn: NDArray, n_rows: int) -> None:
    """Refuse labels of which there is nothing to learn, or nothing to measure."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"all {len(y)} labels are {classes[0]!s}; two classes are needed")
    if counts.min() < _FEWEST:
        raise InputError(
            f"class {classes[counts.argmin()]!s} has one row; expected one to train on and one to "
            "hold out: leave the class out, or add rows of it"
        )
    counts = np.array([(drawn == label).sum() for label in classes])
    if counts.min() < _FEWEST:
        raise InputError(
            f"n_rows={n_rows}: class {classes[counts.argmin()]!s} would have {counts.min()} rows "
            "in the sample, expected two; draw more"
        )


def content(n_classes: int, *, hold_out: float, exact_only: bool = False) -> dict[str, Any]:
    """Return the experiment that compares models of ``kmaps train``, as its YAML says it."""
    return {
        "experiment": "recommend",
        "about": "Models compared on a sample of the user's rows.",
        "dataset": {
            "files": {"data": FILE, "keep_large": True},
            "train": round(1 - hold_out, 6),
            "stratified": True,
        },
        "kernels": list(KERNELS),
        "reductions": ["ovr", "ovo"] if n_classes in _PAIRED else ["ovr"],
        "baselines": ["exact-coded"],
        "maps": [] if exact_only else [dict(entry) for entry in _MAPS],
        "classifiers": [
            {**entry, "search": {"sigma": "auto"}}
            for entry in (_EXPONENTIAL, *([] if exact_only else _MODELS))
        ]
        + [dict(entry) for entry in ([] if exact_only else _RIVALS)],
        "learner": {"loss": "squared_hinge", "gap": 1e-4},
        "C": {"grid": "auto", "folds": 3, "samples": 1000},
    }


def recommend(
    folder: Path,
    n_classes: int,
    *,
    hold_out: float,
    limits: Limits,
    exact_only: bool = False,
    threads: int | None = None,
    progress: Callable[[RunProgress], None] = lambda progress: None,
    command: str = "",
) -> Recommendation:
    """Measure models on the sample in a folder, and choose those that no other one beats.

    The folder gets the experiment and its records; existing records are kept. ``threads`` models
    are measured at a time, each on one thread.
    """
    write_definition(folder, content(n_classes, hold_out=hold_out, exact_only=exact_only), None)
    experiment = load(folder / DEFINITION)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileNote)  # of the sample: the file was looked at before
        result = run(
            experiment,
            folder,
            jobs=threads or num_threads(),
            threads=1,  # few searches use more threads
            progress=progress,
            command=command,
        )
    records = result.records
    # What is measured for one-vs-one too has no reduction in scikit-learn, and is the same twice.
    records = [
        record
        for record in records
        if record["status"] == "failed" or not is_rival(record) or record["reduction"] == "ovr"
    ]
    measured = [record for record in records if record["status"] == "ok"]
    if not measured:
        raise CellsFailed(f"all {len(records)} models failed; first error: {records[0]['error']}")
    fitting = [record for record in measured if limits.hold(record)]
    if not fitting:
        raise NothingMeasured(_nearest(measured, limits))
    all_points = points_of(records, [_QUALITY, *COSTS])
    points = {}
    for point in all_points:
        for record in point.records:
            if record["status"] == "ok":
                points[record["key"]] = _named_point(point, record)
    choices, named = chosen_of(fitting, points)
    chosen = [choice.record for choice in choices]
    others = [record for record in fitting if record not in chosen]
    shown = [points[record["key"]] for record in (*chosen, *others)]
    every = [Candidate(record, points[record["key"]]) for record in fitting]
    sentence = comparison(every, read_correct(folder, records))
    return Recommendation(records, choices, shown, named, sentence)


def _nearest(measured: Sequence[Record], limits: Limits) -> str:
    """Return the costs of the models that are beyond the limits."""
    limit_values = {"max_bytes": limits.max_bytes, "max_us": limits.max_us}
    named = " and ".join(f"{name}={limit:g}" for name, limit in limit_values.items() if limit < inf)
    smallest = min(record["storage_bytes"] for record in measured)
    return (
        f"none of {len(measured)} models is within {named}; the smallest stores {smallest:,} "
        f"bytes, the fastest takes {min(map(row_us, measured)):.3g} microseconds per row"
    )


def chosen_of(
    records: Sequence[Record], points: dict[str, FrontPoint]
) -> tuple[list[Candidate], dict[str, int | None]]:
    """Return the models that no other model beats, the best first, then the other models that
    `WANTED` names; and the numbers of the named models, from 1."""
    by_point = {id(points[record["key"]]): record for record in records}
    shown = [point for point in points.values() if id(point) in by_point]
    unbeaten = {id(point) for cost in COSTS for point in front(shown, cost, _QUALITY)}
    every = [Candidate(by_point[id(point)], point) for point in shown]
    every.sort(key=lambda choice: (-choice.standing, choice.point.values["time"]))
    choices = [choice for choice in every if id(choice.point) in unbeaten]
    named: dict[str, int | None] = dict.fromkeys(WANTED)
    for wanted, fits in WANTED.items():
        fitting = [choice for choice in every if fits(choice.record)]
        if fitting:
            best = fitting[0]
            if best not in choices:
                choices.append(best)
            named[wanted] = choices.index(best) + 1
    for choice in every:
        if is_rival(choice.record) and choice not in choices:
            choices.append(choice)
    return choices, named


def _named_point(point: FrontPoint, record: Record) -> FrontPoint:
    """Return the point of a model, of scikit-learn's with a name that says what it is, which
    figures show too."""
    if not is_rival(record):
        return point
    name = _NAMES_OF_RIVALS[record["method"]]
    return replace(point, name=name, brief=name)


def is_rival(record: Record) -> bool:
    """Return whether the model of a record is scikit-learn's."""
    return record["method"] in _NAMES_OF_RIVALS


def comparison(choices: Sequence[Candidate], correct: CorrectOf) -> str | None:
    """Return the sentence on the best models of kmaps and of scikit-learn.

    They are compared on the same held-out rows; the interval of the difference is paired.

    Parameters
    ----------
    choices : sequence of Candidate
        The models.
    correct : mapping
        Which held-out rows each model got right, by the keys of records.

    Returns
    -------
    str or None
        None without models of both.
    """
    own = [choice for choice in choices if not is_rival(choice.record)]
    rivals = [choice for choice in choices if is_rival(choice.record)]
    if not own or not rivals:
        return None
    ours = max(own, key=lambda choice: choice.standing)
    rival = max(rivals, key=lambda choice: choice.standing)
    right_of_rival = correct[rival.record["key"]].correct
    right_of_ours = correct[ours.record["key"]].correct
    low, high = score_interval(
        float((right_of_rival & ~right_of_ours).mean()),
        float((right_of_ours & ~right_of_rival).mean()),
        len(right_of_ours),
        0.05,
    )
    difference = 100 * (rival.record["accuracy"] - ours.record["accuracy"])
    sentence = (
        f"{rival.point.name}: {difference:+.2f} points against the best model of kmaps on the "
        f"held-out rows (95 % interval {100 * low:+.2f} to {100 * high:+.2f}): "
    )
    if low > 0:
        return sentence + "use it"
    if high < 0:
        return sentence + "kmaps is better here"
    return sentence + "these rows do not decide between them"


def model_of(record: Record) -> Any:
    """Return the unfitted model of a record, with the C that was chosen."""
    row = Row.of(record)
    method = row.method
    params = row.all_params
    shared = {"C": record["C"], "multiclass": record["reduction"]}
    if is_third_party(method):
        chosen = {**params, **record["search_chosen"], "random_state": record["seed"]}
        return find(method)(**chosen, **shared)
    shared["loss"] = record["settings"]["loss"]
    if method == "exact-coded":
        return CodedSVC(record["kernel"], **shared)
    return CodedSVC(make_map(method, record["kernel"], params), **shared)


def options_of(record: Record) -> list[str]:
    """Return the options of ``kmaps train`` for the model of a record; none if it has none."""
    if record["method"] == _EXPONENTIAL["estimator"] or is_rival(record):
        return []
    options = [*_kernel_options(record), "-C", f"{record['C']:g}"]
    if record["reduction"] != "ovr":
        options += ["--multiclass", record["reduction"]]
    return [*options, "--loss", "squared_hinge"]  # all models above


def _kernel_options(record: Record) -> list[str]:
    method = record["method"]
    kernel = record["kernel"]
    if method == "exact-coded":
        return ["--kernel", kernel]
    params = record["params"]
    if is_third_party(method):
        of_rbf = params["kernel"] == "rbf"
        chosen = ["--map", "random-fourier"] if of_rbf else ["--kernel", params["kernel"]]
        if "n_landmarks" in params:
            chosen += ["--n-landmarks", str(params["n_landmarks"])]
        of_map = {name: params[name] for name in ("n_frequencies", "structure") if name in params}
        params = {**of_map, **record["search_chosen"], "random_state": record["seed"]}
    else:
        chosen = ["--map", method]
        if takes(method, "kernel"):
            chosen += ["--kernel", kernel]
    for name, value in params.items():
        chosen += [f"--{name.replace('_', '-')}", str(value)]
    return chosen


def python_of(record: Record) -> str:
    """Return Python that trains the model of a record on rows ``X`` with labels ``y``."""
    if is_rival(record):
        return _python_of_rival(record)
    model = model_of(record)
    classes = [type(model).__name__]
    if isinstance(model, CodedSVC) and not isinstance(model.map, str):
        classes.append(type(model.map).__name__)
    call = " ".join(repr(model).split())
    return f"from kmaps import {', '.join(classes)}\nmodel = {call}.fit(X, y)"


def _python_of_rival(record: Record) -> str:
    """Return Python that trains a model of scikit-learn with what was chosen."""
    chosen = record["search_chosen"] or {}
    if "learning_rate" in chosen:
        return (
            "from sklearn.ensemble import HistGradientBoostingClassifier\n"
            f"model = HistGradientBoostingClassifier(learning_rate={chosen['learning_rate']:g})"
            ".fit(X, y)"
        )
    if "width" in chosen:
        gamma = chosen["width"] / record["n_features"]
        model = f"SVC(C={record['C']:g}, gamma={gamma:.3g})"
    else:
        model = f"LinearSVC(C={record['C']:g})"
    return (
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import StandardScaler\n"
        f"from sklearn.svm import {model.partition('(')[0]}\n"
        f"model = make_pipeline(StandardScaler(), {model}).fit(X, y)"
    )
