"""Reading rows from files, block by block, against pandas and scikit-learn, which read them whole.

What others return is made what ours is: rows, one after the other, of finite numbers. All on one
processor: pandas parses by two threads otherwise. Blocks of text are parsed by pandas, too.
"""

import atexit
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from benchmarks.measure import Pair
from kmaps.io import open_reader, read_blocks


def pairs() -> list[Pair]:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(20_000, 100)).astype(np.float32)
    table = pd.DataFrame(X, columns=[f"bin {j}" for j in range(100)])
    labels = rng.choice(["up", "down"], len(X))
    files = {name: Path(folder.name, name) for name in ("t.csv", "l.csv", "t.parquet", "t.svm")}
    table.to_csv(files["t.csv"], index=False)
    table.assign(kind=labels).to_csv(files["l.csv"], index=False)
    table.to_parquet(files["t.parquet"])
    dump_svmlight_file(X, labels == "up", str(files["t.svm"]), zero_based=False)
    rows = "2 million values"
    reads = {
        f"csv, {rows}": (files["t.csv"], pd.read_csv, 0.5),
        "csv, the same with labels": (files["l.csv"], pd.read_csv, 0.3),
        f"Parquet, {rows}": (files["t.parquet"], pd.read_parquet, 1),
        f"svmlight, {rows}": (files["t.svm"], load_svmlight_file, 1),
    }
    return [
        Pair(name, _pinned(_ours, path), read.__name__, _pinned(_theirs, read, path), at_least)
        for name, (path, read, at_least) in reads.items()
    ]


def _pinned(read: Callable, *arguments: object) -> Callable[[], object]:
    """Return a call on one processor."""

    def call() -> object:
        processors = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(processors)})
        try:
            return read(*arguments)
        finally:
            os.sched_setaffinity(0, processors)

    return call


def _ours(path: Path) -> int:
    label_column = "kind" if path.name == "l.csv" else None
    blocks = read_blocks(open_reader(path, label_column=label_column))
    return sum(block.shape[0] for block, _ in blocks)


def _theirs(read: Callable, path: Path) -> bool:
    rows = read(str(path))
    if isinstance(rows, pd.DataFrame):
        numbers = rows.drop(columns="kind", errors="ignore").to_numpy()
        return bool(np.isfinite(np.ascontiguousarray(numbers)).all())
    return bool(np.isfinite(rows[0].data).all())
