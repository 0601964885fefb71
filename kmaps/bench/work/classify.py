"""One cell, measured: times, memory, storage and accuracy.

Every time is taken with ``perf_counter`` after a warm-up on a few samples along the same path, so
that compiling and loading libraries stay outside. C is chosen inside the training split before the
measured part begins.
"""

import ctypes
import gc
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from kmaps.bench.kinds.grid import Cell
from kmaps.bench.spec.map_rows import map_arguments
from kmaps.bench.work.samples import split_features
from kmaps.bench.work.storage import coded_storage, storage
from kmaps.data import load_dataset
from kmaps.gram_matrix import gram
from kmaps.kernels import EXP_KERNELS, KERNELS
from kmaps.maps import MAPS
from kmaps.parallel import threads as compiled_threads
from kmaps.svm import CodedSVC, KernelSVC, LiblinearSVC, gram_rows

Array = NDArray[np.float32]

_BLOCK_VALUES = 1 << 18  # encoded values, where only their norms are wanted


@dataclass(frozen=True)
class Split:
    """Features and labels of one split, and how many of its pictures were left out."""

    x_train: Array
    y_train: NDArray[np.int64]
    x_test: Array
    y_test: NDArray[np.int64]
    n_skipped: int = 0


def measure_cell(cell: Cell, threads: int, *, skip_bad: bool = False) -> dict[str, Any]:
    """Measure one cell.

    Parameters
    ----------
    cell : Cell
    threads : int
        Threads of BLAS, OpenMP and the compiled loops alike.
    skip_bad : bool
        Whether to leave out pictures that cannot be used.

    Returns
    -------
    dict
        The columns of a record that a measurement fills.
    """
    with pinned(threads):
        split = load_split(cell, skip_bad=skip_bad)
        with warnings.catch_warnings(action="ignore"):
            _warm_up(cell, split)
            start = perf_counter()
            best, scores = choose_c(cell, split.x_train, split.y_train)
            cv_s = perf_counter() - start
        with peak_memory() as peak, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            measured = evaluate(cell, best, split, peak.note_training)
    return {
        "C": best,
        "cv_accuracy": scores,
        "cv_s": cv_s,
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "n_skipped": split.n_skipped,
        "n_features": split.x_train.shape[1],
        "peak_bytes": peak.bytes,
        "train_peak_bytes": peak.training_bytes,
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
        **measured,
    }


def load_split(cell: Cell, *, skip_bad: bool = False) -> Split:
    """Load the data of a cell: the rows of its split, with its features."""
    dataset = load_dataset(cell.dataset, skip_bad=skip_bad)
    x, y, n, n_skipped = split_features(cell, dataset, skip_bad=skip_bad)
    return Split(x[:n], y[:n], x[n:], y[n:], n_skipped)


def _warm_up(cell: Cell, split: Split) -> None:
    """Compile and load what the cell needs, along the path that its measurement takes."""
    C = cell.C["grid"][0]
    if cell.learner["solver"] == "coded":
        # Which loops are compiled follows from the levels and from how many codes are zero.
        machine = _coded(cell, C, 1.0, max_iter=1, tol=0.9)
        machine.fit(split.x_train, split.y_train).predict(split.x_test[:50])
    else:
        evaluate(cell, C, _few(split))


def _few(split: Split) -> Split:
    """Return some fifty samples of every part, with every class in the training part."""
    y = split.y_train
    spread = stratified_order(y, 0)[:: max(1, len(y) // 50)]
    rows = np.union1d(spread, np.unique(y, return_index=True)[1])
    return Split(split.x_train[rows], y[rows], split.x_test[:50], split.y_test[:50])


@contextmanager
def pinned(threads: int) -> Iterator[None]:
    """Give the compiled loops, BLAS and OpenMP (LIBSVM's) the same number of threads."""
    with threadpool_limits(threads), compiled_threads(threads):
        yield


Trained = Callable[[], None]


def evaluate(cell: Cell, C: float, split: Split, trained: Trained = lambda: None) -> dict[str, Any]:
    """Train with the given C, call ``trained``, predict; return times, sizes and accuracies."""
    by_solver = {
        "libsvm": _evaluate_exact,
        "liblinear": _evaluate_linear,
        "coded": _evaluate_coded,
    }
    return by_solver[cell.learner["solver"]](cell, C, split, trained)


def _evaluate_exact(cell: Cell, C: float, split: Split, trained: Trained) -> dict[str, Any]:
    scale = _mean_square(split.x_train, cell.kernel) if cell.C["unit_norm"] else 1.0
    model = KernelSVC(kernel=cell.kernel, C=C / scale, multiclass=cell.reduction)
    model.fit(split.x_train, split.y_train)
    trained()
    start = perf_counter()
    predicted = model.predict(split.x_test)
    times = model.timings_
    return {
        "dim": len(split.y_train),
        "fit_s": 0.0,
        "encode_s": times["gram_s"],
        "convert_s": times["convert_s"],
        "train_s": times["train_s"],
        "predict_s": perf_counter() - start,
        **storage(split.x_train, None, split.x_train, model.model_bytes_),
        **_accuracies(split.y_test, predicted),
    }


def _evaluate_linear(cell: Cell, C: float, split: Split, trained: Trained) -> dict[str, Any]:
    encoder = make_map(cell)
    start = perf_counter()
    encoder.fit(split.x_train)
    fitted = perf_counter()
    encoded = encoder.transform(split.x_train)
    ready = perf_counter()
    model = _liblinear(cell, C, encoded).fit(encoded, split.y_train)
    stored = storage(split.x_train, encoder, encoded, model.model_bytes_)
    dim = encoded.shape[1]
    del encoded
    trained()
    start_of_test = perf_counter()
    predicted = model.predict(encoder.transform(split.x_test))
    return {
        "dim": dim,
        "fit_s": fitted - start,
        "encode_s": ready - fitted,
        "convert_s": model.timings_["convert_s"],
        "train_s": model.timings_["train_s"],
        "predict_s": perf_counter() - start_of_test,
        **stored,
        **_accuracies(split.y_test, predicted),
    }


def _evaluate_coded(cell: Cell, C: float, split: Split, trained: Trained) -> dict[str, Any]:
    scale = _coded_scale(cell, split.x_train)
    model = _coded(cell, C, scale).fit(split.x_train, split.y_train)
    trained()
    start = perf_counter()
    predicted = model.predict(split.x_test)
    return {
        "dim": split.x_train.shape[1],
        "fit_s": 0.0,
        "encode_s": 0.0,
        "convert_s": model.timings_["convert_s"],
        "train_s": model.timings_["train_s"],
        "predict_s": perf_counter() - start,
        **coded_storage(model, len(split.y_train)),
        **_accuracies(split.y_test, predicted),
    }


class _Identity:
    """The map of the linear baseline."""

    def fit(self, x: Array) -> "_Identity":
        return self

    def transform(self, x: Array) -> Array:
        return x


def make_map(cell: Cell) -> Any:
    """Return the cell's map, unfitted, seeded by the cell."""
    if cell.method == "linear":
        return _Identity()
    arguments = map_arguments(cell.method, cell.kernel, cell.params)
    if "random_state" in inspect.signature(MAPS[cell.method]).parameters:
        arguments = {"random_state": cell.seed, **arguments}
    return MAPS[cell.method](**arguments)


def _liblinear(cell: Cell, C: float, encoded: Any) -> LiblinearSVC:
    """Return the learner of a cell for these encoded training rows."""
    settings = {key: value for key, value in cell.learner.items() if key != "solver"}
    if cell.C["unit_norm"]:
        scale = _mean_square(encoded)
        C, settings["bias"] = C / scale, settings["bias"] * scale**0.5
    return LiblinearSVC(C=C, multiclass=cell.reduction, random_state=cell.seed, **settings)


def _coded(cell: Cell, C: float, scale: float, **options: Any) -> CodedSVC:
    """Return the machine of a cell; ``scale`` is the mean square norm that C and bias are for."""
    settings = {key: cell.learner[key] for key in ("loss", "n_levels", "calibrate", "form")}
    settings |= {"tol": cell.learner["gap"], "bias": cell.learner["bias"] * scale**0.5, **options}
    encoder = cell.kernel if cell.method == "exact-coded" else make_map(cell)
    seeded = {"multiclass": cell.reduction, "random_state": cell.seed}
    return CodedSVC(encoder, C / scale, **seeded, **settings)


def _coded_scale(cell: Cell, x: Array) -> float:
    if not cell.C["unit_norm"]:
        return 1.0
    if cell.method == "exact-coded":
        return _mean_square(x, cell.kernel)
    encoder = make_map(cell).fit(x)
    width = encoder.transform(x[:1]).shape[1]
    rows = max(1, _BLOCK_VALUES // width)
    parts = (encoder.transform(x[start : start + rows]) for start in range(0, x.shape[0], rows))
    # The mean square of a part is of its own rows, the last may have fewer.
    return sum(_mean_square(part) * part.shape[0] for part in parts) / x.shape[0]


def _mean_square(rows: Any, kernel: str = "linear") -> float:
    """Return the mean of k(x, x) over some rows; for the linear kernel, their mean square norm."""
    if kernel in EXP_KERNELS or kernel == "rbf":
        return 1.0
    values = rows.data if issparse(rows) else rows
    # Every additive kernel has k(x, x) = x.
    total = np.abs(values).sum(dtype=float) if kernel in KERNELS else np.vdot(values, values)
    return float(total) / rows.shape[0] or 1.0


def _accuracies(truth: NDArray, predicted: NDArray) -> dict[str, float]:
    right = predicted == truth
    by_class = [right[truth == label].mean() for label in np.unique(truth)]
    return {"accuracy": float(right.mean()), "accuracy_per_class": float(np.mean(by_class))}


def choose_c(cell: Cell, x: Array, y: NDArray[np.int64]) -> tuple[float, list[float]]:
    """Choose C by cross-validation on training samples.

    Every method sees the same samples and folds (their seed is the split's, not the method's). The
    samples are encoded, or their Gram matrix computed, once. Ties go to the smaller C.

    Parameters
    ----------
    cell : Cell
    x : ndarray of float32, shape (n, d)
        Training features; nothing of the test split comes near.
    y : ndarray of int, shape (n,)

    Returns
    -------
    C : float
    accuracies : list of float
        Cross-validated, for each value of the grid; empty when there is nothing to choose.
    """
    grid = cell.C["grid"]
    if len(grid) == 1:
        return grid[0], []
    rows = stratified_order(y, cell.choice_seed)
    samples = min(cell.C["samples"] or len(y), len(y))
    rows = rows[np.arange(samples) * len(y) // samples]
    fold = np.arange(samples) % cell.C["folds"]
    x, y = x[rows], y[rows]
    predict = _predictor(cell, x, y)
    right = np.zeros(len(grid), int)
    for held_out in range(cell.C["folds"]):
        train, test = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        right += [np.sum(found == y[test]) for found in predict(grid, train, test)]
    return grid[int(right.argmax())], (right / samples).tolist()


Predict = Callable[[list[float], NDArray, NDArray], Iterator[NDArray[np.int64]]]


def _predictor(cell: Cell, x: Array, y: NDArray[np.int64]) -> Predict:
    """Return ``predict(grid, train, test)``: with each C, train on some rows, predict others."""
    if cell.learner["solver"] == "coded":
        scale = _coded_scale(cell, x)

        def predict_coded(grid: list[float], train: NDArray, test: NDArray) -> Iterator[NDArray]:
            model = _coded(cell, 1.0, scale, warm_start=True)
            for C in grid:
                model.set_params(C=C / scale).fit(x[train], y[train])
                yield model.predict(x[test])

        return predict_coded
    if cell.method == "exact":
        matrix = gram(x, kernel=cell.kernel)
        nodes = gram_rows(matrix)
        scale = _mean_square(x, cell.kernel) if cell.C["unit_norm"] else 1.0

        def predict_exact(grid: list[float], train: NDArray, test: NDArray) -> Iterator[NDArray]:
            for C in grid:
                model = KernelSVC("precomputed", C=C / scale, multiclass=cell.reduction)
                yield model.fit(nodes.take(train), y[train]).predict(matrix[np.ix_(test, train)])

        return predict_exact
    encoded = make_map(cell).fit(x).transform(x)

    def predict(grid: list[float], train: NDArray, test: NDArray) -> Iterator[NDArray]:
        for C in grid:
            model = _liblinear(cell, C, encoded)
            yield model.fit(encoded[train], y[train]).predict(encoded[test])

    return predict


def stratified_order(y: NDArray[np.int64], seed: int) -> NDArray[np.intp]:
    """Return the samples class by class, in random order within each class.

    Every m-th of them is a stratified draw: each class has its share, to within one sample.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]


class Peak:
    """The memory a block needed: ``bytes``, None where the system does not tell.

    ``training_bytes`` is what it had needed when `note_training` was called.
    """

    bytes: int | None = None
    training_bytes: int | None = None
    before: int | None = None

    def note_training(self) -> None:
        """Write down the peak so far."""
        self.training_bytes = self.so_far()

    def so_far(self) -> int | None:
        """Return the peak since the block began."""
        return None if self.before is None else max(0, _status("VmHWM") - self.before)


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the memory a block needs beyond what the process holds before it.

    The kernel's high-water mark of the resident memory is reset before the block (Linux:
    ``/proc/self/clear_refs``), so what came earlier, loading data or choosing C, does not hide what
    the block needs. Freed memory that the allocator kept is given back first, for the same reason.
    """
    peak = Peak()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # the GNU library has it
    if trim is not None:
        trim(0)
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        peak.before = _status("VmRSS")
    except OSError:
        pass
    yield peak
    peak.bytes = peak.so_far()
    if peak.training_bytes is not None:  # the system counts pages of threads late, now and then
        peak.bytes = max(peak.bytes, peak.training_bytes)


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024
