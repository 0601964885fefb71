"""What ``kmaps train`` does with rows: it chooses C, trains, measures, and says what it found."""

from collections.abc import Callable
from functools import partial
from math import log
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kmaps import __version__
from kmaps.errors import InputError

if TYPE_CHECKING:
    from warnings import WarningMessage

    from numpy.typing import NDArray

    from kmaps.cli.compiling import Compiled
    from kmaps.io import LabelledRows, Reader
    from kmaps.models import RandomFeatureSVC
    from kmaps.svm import CodedSVC, PreparedRows

Report = Callable[[str, int, int], None]  # of a stage: what is done, and the total

DEFAULT_FOLDS = 3


def train(
    model: "CodedSVC | RandomFeatureSVC",
    source: "LabelledRows",
    costs: list[float] | str,
    *,
    folds: int | None,
    hold_out: float | None,
    seed: int,
    report: Report,
    warned: list["WarningMessage"],
    compiled: "Compiled",
) -> dict[str, Any]:
    """Read the rows, hold some out, choose C, train; return what there is to tell.

    Compiling is no part of the times.
    """

    def now() -> float:
        return perf_counter() - compiled.seconds

    start = now()
    rows: PreparedRows = model.prepare_rows(source)
    y = source.labels()
    held = None
    if hold_out is not None:
        members, left_out = _parts(y, hold_out, seed)
        held = rows.take(left_out), y[left_out]
        rows, y = rows.take(members), y[members]
    read = now()
    cv = _choose_c(model, rows, y, costs, folds, seed, report)
    chosen = now()
    own = _fit(model, rows, y, report, warned)
    trained = now()
    return {
        "rows": len(rows),
        "features": rows.n_features,
        "classes": len(model.classes_),
        **own,
        "model_bytes": model.model_bytes_,
        "C": model.C,
        "cv": cv,
        "folds": (folds or DEFAULT_FOLDS) if cv else None,
        "hold_out": None if held is None else _measured(model, *held),
        "encode_s" if "n_frequencies" in own else "code_s": read - start,
        "cv_s": chosen - read,
        "train_s": trained - chosen,
    }


def _parts(y: "NDArray", part: float, seed: int) -> tuple["NDArray", "NDArray"]:
    """Return the numbers of the rows to train on, and of a stratified part that is held out."""
    import numpy as np

    from kmaps.models.folds import stratified_sample

    left_out = np.sort(stratified_sample(y, max(1, round(part * len(y))), seed))
    members = np.setdiff1d(np.arange(len(y)), left_out)
    gone = np.setdiff1d(y[left_out], y[members])
    if len(gone):
        raise InputError(
            f"hold_out={part:g}: no row of class {gone[0]} is left to train on; hold out fewer"
        )
    return members, left_out


def _measured(model: Any, rows: Any, y: "NDArray") -> dict[str, Any]:
    """Return how well a model does on rows that it was not trained on."""
    import numpy as np

    return {"rows": len(y), "accuracy": float(np.mean(model.predict(rows) == y))}


def _fit(
    model: "CodedSVC | RandomFeatureSVC",
    rows: Any,
    y: "NDArray",
    report: Report,
    warned: list["WarningMessage"],
) -> dict[str, Any]:
    """Train; return what is told of this kind of model, and what did not converge."""
    from sklearn.exceptions import ConvergenceWarning

    from kmaps.models import RandomFeatureSVC
    from kmaps.models.streamed_rows import StreamedRows

    n_before = len(warned)
    if isinstance(model, RandomFeatureSVC):
        model.fit(rows, y)
        own = {
            "n_frequencies": len(model.map_.frequency_indices_),
            "sigma": model.sigma_,
            "encoded_bytes": rows.nbytes,
        }
        if isinstance(rows, StreamedRows):
            gap, passes = float(model.duality_gap_.max()), int(model.n_iter_.max())
            own |= {"duality_gap": gap, "passes": passes}
    else:
        model.fit(rows, y, progress=_Gap(model, len(set(y.tolist())), report))
        own = {
            "levels": rows.levels.shape[1],
            "codes_bytes": rows.codes_bytes,
            "duality_gap": float(model.duality_gap_.max()),
            "passes": int(model.n_iter_.max()),
        }
    unfinished = [
        str(one.message)
        for one in warned[n_before:]
        if issubclass(one.category, ConvergenceWarning)
    ]
    return {**own, "unfinished": unfinished}


def record_of(
    model: "CodedSVC | RandomFeatureSVC",
    found: dict[str, Any],
    reader: "Reader",
    label_column: str | None,
) -> dict[str, Any]:
    """Return what a model file keeps of its training: no times, which would make files differ."""
    own = ("features", "classes", "levels", "sigma", "C", "model_bytes", "n_frequencies")
    times = ("code_s", "encode_s", "cv_s", "train_s")
    of_map = {"kernel": None} if isinstance(model.map_, str) else model.map_.get_params()
    return {
        "by": f"kmaps {__version__}",
        "file": Path(reader.name).name,
        "index_base": reader.index_base,
        "dtype": None if reader.is_text else reader.dtype.name,
        "columns": reader.columns,
        "label_column": label_column,
        "kernel": of_map.get("kernel"),
        **{name: value for name, value in found.items() if name not in own + times},
    }


def _choose_c(
    model: "CodedSVC | RandomFeatureSVC",
    rows: "PreparedRows",
    y: "NDArray",
    costs: list[float] | str,
    folds: int | None,
    seed: int,
    report: Report,
) -> list[dict[str, float]]:
    """Give the model the best C; return the accuracy of each.

    Of a single one without ``folds`` none is measured.
    """
    from kmaps.models import along_c, choose_along_path, cross_validate
    from kmaps.svm import CodedSVC

    single = not isinstance(costs, str) and len(costs) == 1
    if single and folds is None:
        model.set_params(C=costs[0])
        return []
    folds = folds or DEFAULT_FOLDS
    progress = partial(report, "choose C")
    # A choice compares machines that stop early; what a single C reaches is measured as it trains.
    if isinstance(model, CodedSVC) and not single:
        choice = choose_along_path(model, rows, y, costs, folds=folds, seed=seed, progress=progress)
    else:
        choice = cross_validate(
            lambda of: along_c(model, rows.take(of), y[of]),
            costs,
            y,
            folds=folds,
            seed=seed,
            progress=progress,
        )
    model.set_params(C=choice.C)
    tried = zip(choice.grid, choice.accuracies, strict=True)
    return [{"C": C, "accuracy": accuracy} for C, accuracy in tried]


class _Gap:
    """Progress of training: how far the duality gaps have come, by their logarithms."""

    def __init__(self, model: "CodedSVC", n_classes: int, report: Report) -> None:
        from kmaps.svm import count_problems

        self._n = count_problems(n_classes, model.multiclass)
        self._tol, self._report = model.tol, report
        self._come = dict.fromkeys(range(self._n), 0.0)

    def __call__(self, problem: int, passes: int, gap: float) -> None:
        come = min(1.0, log(max(gap, 1e-300)) / log(self._tol)) if 0 < self._tol < 1 else 1.0
        self._come[problem] = max(self._come[problem], come)
        self._report("train", int(1000 * sum(self._come.values())), 1000 * self._n)
