"""Blocks on two threads and workers against one, and how time grows with the rows.

The histograms are like those of the Daimler pedestrians, of 981 values, 20,000 of them on threads
and 200,000 on workers, which send each other messages; at the larger C the free variables are more,
and conjugate gradients do more of the work. The clusters are of processes of one thread each, on
this machine; starting them is not measured. KMAPS_SCALE_ROWS is the largest number of rows of the
exponents.
"""

import atexit
import os
import tempfile
import time
from contextlib import ExitStack
from functools import cache
from unittest.mock import patch

import dask
import numpy as np

from benchmarks.measure import Limit, Pair, Quantity
from benchmarks.training import histograms
from kmaps import CodedSVC, HomogeneousMap, threads
from kmaps.bench.kinds import load as spec
from kmaps.bench.run.runner import run
from kmaps.dask import CodedSVC as CodedSVCThere
from kmaps.dask.cluster import connected
from kmaps.dask.team import DaskTeam
from kmaps.svm import code_rows
from kmaps.svm.coded import block

_ROWS, _ROWS_THERE, _BLOCKS_OF_BINS = 20_000, 200_000, 109
_MOST_ROWS = int(os.environ.get("KMAPS_SCALE_ROWS", "1000000"))

# Cells of about a second, most of it in LIBSVM and LIBLINEAR.
_GRID = """\
experiment: grid
dataset: {name: digits, train: 900, test: 800}
splits: 8
kernels: [chi2]
reductions: [ovo]
baselines: [exact]
maps: [{map: homogeneous, order: 3}]
C: {grid: [0.1, 0.3, 1, 3, 10, 30, 100, 300], folds: 10}
"""

_NUMBER = {"per_unit": 1.0, "less": "smaller", "warm_up": False}
EXPONENT = Quantity(lambda measured: measured(), unit="  ", digits=2, **_NUMBER)
KILOBYTES = Quantity(lambda measured: measured() / 1000, unit="kB", **_NUMBER)


def pairs() -> list[Pair | Limit]:
    return [*_on_threads(), _grid(), *_one_training(), *_growth()]


def _on_threads() -> list[Pair]:
    X, y = histograms(_ROWS, _BLOCKS_OF_BINS)
    rows = code_rows("chi2", lambda: [X])
    return [
        Pair(
            f"two blocks, two threads, C = {C:g}",
            lambda C=C: _trained(rows, y, C, n_blocks=2, n_threads=2),
            "one descent, one thread",
            lambda C=C: _trained(rows, y, C, n_blocks=1, n_threads=1),
            at_least=1.6 if C > 1 else None,
            runs=3,
        )
        for C in (1.0, 10.0)
    ]


def _trained(rows, y, C, n_blocks, n_threads):
    with threads(n_threads):
        return CodedSVC("chi2", C, n_blocks=n_blocks).fit(rows, y)


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
        "a grid of 16 cells, two workers",
        lambda: measured(2),
        "one worker",
        lambda: measured(1),
        at_least=1.8,
        runs=1,
    )


def _one_training() -> list[Pair | Limit]:
    X, y = histograms(_ROWS_THERE, _BLOCKS_OF_BINS)
    step = _ROWS_THERE // 4
    parts = [slice(start, start + step) for start in range(0, _ROWS_THERE, step)]

    def trained(n_workers: int):
        client = _client(n_workers)
        if n_workers not in there:
            there[n_workers] = [
                [dask.delayed(part) for part in client.scatter([array[of] for of in parts])]
                for array in (X, y)
            ]
        return CodedSVCThere("chi2", tol=1e-3, n_blocks=2, client=client).fit(*there[n_workers])

    there: dict[int, list] = {}
    return [
        Pair(
            "one training, two workers",
            lambda: trained(2),
            "one worker",
            lambda: trained(1),
            at_least=1.5,
            runs=1,
        ),
        # A table takes 63 kB, the codes 196 MB.
        Limit(
            "sent between two workers in a round",
            lambda: _sent_in_a_round(lambda: trained(2)),
            600,
            KILOBYTES,
        ),
    ]


def _sent_in_a_round(train) -> float:
    """Return the bytes that the two workers send to each other, conjugate gradients included."""
    turn, rounds, sent = DaskTeam.turn, 0, 0

    def of_worker(dask_worker) -> int:
        return dask_worker.transfer_outgoing_bytes_total

    def counted(team, step, *shared):
        nonlocal rounds, sent
        before = sum(_client(2).run(of_worker).values())
        result = turn(team, step, *shared)
        sent += sum(_client(2).run(of_worker).values()) - before
        rounds += step is block.descend
        return result

    with patch.object(DaskTeam, "turn", counted):
        train()
    return sent / rounds


class Generated:
    """Histograms of two classes, the same ones whenever a block of them is asked for."""

    def __init__(self, n_rows, n_features=100, block_rows=10_000):
        self.n_rows, self.n_features, self.block_rows = n_rows, n_features, block_rows
        self.seconds = 0.0  # that generating them took so far

    def labelled(self):
        """Yield blocks of rows (float32) and their labels."""
        lean = 1 + 0.2 * (np.arange(self.n_features) % 2)
        for start in range(0, self.n_rows, self.block_rows):
            begun = time.perf_counter()
            rng = np.random.default_rng(start)
            n = min(self.block_rows, self.n_rows - start)
            y = rng.integers(0, 2, n)
            shape = np.where(y[:, None] == 1, lean, lean[::-1]).astype(np.float32)
            X = rng.standard_gamma(shape, dtype=np.float32)
            X /= X.sum(axis=1, keepdims=True)
            self.seconds += time.perf_counter() - begun
            yield X, y

    def blocks(self):
        """Yield the blocks of rows."""
        return (X for X, _ in self.labelled())

    def labels(self):
        """Return all labels."""
        return np.concatenate([y for _, y in self.labelled()])


def _growth() -> list[Limit]:
    """The exponents of coding, training and prediction, by a tenth of the rows and by all."""

    def exponent(what: str) -> float:
        _taken(1000)  # which loads and compiles
        few, many = _taken(_MOST_ROWS // 10), _taken(_MOST_ROWS)
        return float(np.log10(many[what] / few[what]))

    name = "{}, exponent to {:,} rows".format
    return [
        Limit(name(what, _MOST_ROWS), lambda what=what: exponent(what), 1.2, EXPONENT)
        for what in ("code", "train", "predict")
    ]


@cache
def _taken(n_rows: int) -> dict[str, float]:
    """Return seconds, without those in which the rows are generated, at the same C in all."""
    data = Generated(n_rows)
    y = data.labels()

    def timed(function):
        begun, generated = time.perf_counter(), data.seconds
        result = function()
        return result, time.perf_counter() - begun - (data.seconds - generated)

    def predict():
        return sum((model.predict(X) == labels).sum() for X, labels in data.labelled())

    rows, code = timed(lambda: code_rows(HomogeneousMap(), data.blocks))
    model, train = timed(lambda: CodedSVC(C=1000 / n_rows, tol=0.01).fit(rows, y))
    right, predicted = timed(predict)
    assert right > 0.6 * n_rows, right
    return {"code": code, "train": train, "predict": predicted}
