"""Two threads and workers against one, and how time grows with the rows.

The histograms are like those of the Daimler pedestrians, of 981 values, 200,000 of them. Blocks,
which a cluster has, are on two threads to compare. The clusters are of processes of one thread
each, on this machine; starting them is not measured.
KMAPS_SCALE_ROWS is the largest number of rows of the exponents.
"""

import atexit
import os
import tempfile
import time
from contextlib import ExitStack
from functools import cache
from statistics import median
from unittest.mock import patch

import dask
import numpy as np

from benchmarks.measure import Limit, Pair, Quantity
from benchmarks.training import histograms
from kmaps import CodedSVC, HomogeneousMap, threads
from kmaps.bench.kinds import load as spec
from kmaps.bench.run.runner import run
from kmaps.dask import BlockwiseSVC
from kmaps.dask.cluster import connected
from kmaps.dask.team import DaskTeam
from kmaps.svm import code_rows
from kmaps.svm.coded import block

_MANY, _BLOCKS_OF_BINS = 200_000, 109
_TOL = 1e-3
_MOST_ROWS = int(os.environ.get("KMAPS_SCALE_ROWS", "4000000"))

# Cells of a second, most of it in LIBSVM and LIBLINEAR on data that the cache of one core holds; so
# many that one worker waits little for the last cell of the other.
_GRID = """\
experiment: grid
dataset: {name: digits, train: 450, test: 800}
splits: 16
kernels: [chi2]
reductions: [ovo]
baselines: [exact]
maps: [{map: homogeneous, order: 1}]
C: {grid: [0.1, 0.3, 1, 3, 10, 30, 100, 300], folds: 10}
"""

_NUMBER = {"per_unit": 1.0, "less": "smaller", "warm_up": False}
EXPONENT = Quantity(lambda measured: measured(), unit="  ", digits=2, **_NUMBER)
NANOSECONDS = Quantity(lambda measured: measured() * 1e9, unit="ns", **_NUMBER)
KILOBYTES = Quantity(lambda measured: measured() / 1000, unit="kB", **_NUMBER)


def pairs() -> list[Pair | Limit]:
    return [*_on_threads(), _grid(), *_one_training(), *_growth()]


def _on_threads() -> list[Pair]:
    X, y = _samples()
    rows = code_rows("chi2", lambda: [X])
    return [
        Pair(
            f"{_MANY:,} rows, C = 1, two threads, two blocks",
            lambda: _trained(rows, y, 1.0, n_blocks=2, n_threads=2),
            "one thread",
            lambda: _trained(rows, y, 1.0, n_blocks=1, n_threads=1),
            runs=5,
        )
    ]


@cache
def _samples():
    return histograms(_MANY, _BLOCKS_OF_BINS)


def _trained(rows, y, C, n_blocks, n_threads):
    with threads(n_threads):
        return CodedSVC("chi2", C, tol=_TOL, n_blocks=n_blocks).fit(rows, y)


@cache
def _client(n_workers: int):
    """Return the client of workers that end with this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(connected(f"local:{n_workers}"))


def _grid() -> Pair:
    def measured(n_workers: int):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(spec.parse(_GRID), folder, client=_client(n_workers), threads=1)
            assert not outcome.failed, outcome.failed[0]["error"]

    return Pair(
        "a grid of 32 cells, two workers",
        lambda: measured(2),
        "one worker",
        lambda: measured(1),
        at_least=1.8,
        runs=3,
    )


def _one_training() -> list[Pair | Limit]:
    X, y = _samples()
    step = _MANY // 4
    parts = [slice(start, start + step) for start in range(0, _MANY, step)]

    def trained(n_workers: int):
        client = _client(n_workers)
        if n_workers not in there:
            there[n_workers] = [
                [dask.delayed(part) for part in client.scatter([array[of] for of in parts])]
                for array in (X, y)
            ]
        return BlockwiseSVC("chi2", tol=_TOL, n_blocks=2, client=client).fit(*there[n_workers])

    there: dict[int, list] = {}
    return [
        Pair(
            "one training, two workers",
            lambda: trained(2),
            "one worker",
            lambda: trained(1),
            at_least=1.5,
            runs=3,
        ),
        Pair(
            "coding and training, two workers",
            lambda: trained(2),
            "one thread, here",
            lambda: _coded_and_trained(X, y),
            runs=3,
        ),
        # The codes take 196 MB.
        Limit(
            "tables sent in a round, two workers",
            lambda: _sent_in_a_round(lambda: trained(2)),
            600,
            KILOBYTES,
        ),
    ]


def _coded_and_trained(X, y):
    with threads(1):
        return CodedSVC("chi2", tol=_TOL).fit(X, y)


def _sent_in_a_round(train) -> float:
    """Return the bytes of the tables to and from all blocks, conjugate gradients included."""
    step_of_all, rounds, sent = DaskTeam.run, 0, 0

    def counted(team, step, *shared):
        nonlocal rounds, sent
        before = team.waiting
        result = step_of_all(team, step, *shared)
        tables = [table for table in (before, team.waiting) if table is not None]
        sent += team.n_blocks * sum(table.nbytes for table in tables)
        rounds += step is block.descend
        return result

    with patch.object(DaskTeam, "run", counted):
        train()
    return sent / rounds


def drawn(n_rows: int, n_features: int = 100, block_rows: int = 10_000):
    """Yield blocks of histograms (float32) of two classes, and their labels."""
    lean = 1 + 0.2 * (np.arange(n_features) % 2)
    for start in range(0, n_rows, block_rows):
        rng = np.random.default_rng(start)
        n = min(block_rows, n_rows - start)
        y = rng.integers(0, 2, n)
        shape = np.where(y[:, None] == 1, lean, lean[::-1]).astype(np.float32)
        X = rng.standard_gamma(shape, dtype=np.float32)
        X /= X.sum(axis=1, keepdims=True)
        yield X, y


def _growth() -> list[Limit]:
    """The exponents of coding, training and prediction, by a quarter of the rows and by all.

    The codes of a quarter are more than the caches hold, too: before that time grows faster.
    """

    def exponent(what: str) -> float:
        _taken(1000)  # which loads and compiles
        few, many = _taken(_MOST_ROWS // 4), _taken(_MOST_ROWS)
        return float(np.log(many[what] / few[what]) / np.log(4))

    name = "{}, exponent to {:,} rows".format
    return [
        Limit(name(what, _MOST_ROWS), lambda what=what: exponent(what), 1.2, EXPONENT)
        for what in ("code", "train", "predict")
    ]


@cache
def _taken(n_rows: int) -> dict[str, float]:
    """Return seconds, medians of five, at the same C in all."""
    blocks, labels = zip(*drawn(n_rows), strict=True)
    y = np.concatenate(labels)

    def timed(function):
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            result = function()
            taken.append(time.perf_counter() - begun)
        return result, median(taken)

    rows, code = timed(lambda: code_rows(HomogeneousMap(), lambda: blocks))
    model, train = timed(lambda: CodedSVC(C=1000 / n_rows, tol=0.01).fit(rows, y))
    predicted, predict = timed(lambda: np.concatenate([model.predict(X) for X in blocks]))
    assert (predicted == y).mean() > 0.6
    return {"code": code, "train": train, "predict": predict}
