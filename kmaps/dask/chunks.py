"""Collections of Dask as lists of delayed blocks of rows: opened, summarised, mapped lazily."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import Delayed
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from kmaps.codes.levels import RunningColumns
from kmaps.errors import ConfigError, InputError
from kmaps.io.digest import data_digest
from kmaps.io.labels import check_labels
from kmaps.io.reader import read_header
from kmaps.matrices import AnyMatrix, stacked
from kmaps.thread_pool import threads
from kmaps.validation import refuse_mask

_BLOCK_VALUES = 1 << 22  # values of a .npy file in a block
_SAMPLE_ROWS = 10_000  # rows of all blocks together, for maps that learn from data
_TOGETHER = 8  # summaries that are merged at a time


def is_collection(X: object) -> bool:
    """Return whether X are samples for Dask rather than samples in this process."""
    if isinstance(X, (da.Array, dd.DataFrame, str, Path)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Delayed)


def opened(X: Any) -> Any:
    """Open a path, Zarr or .npy as a Dask array, Parquet as a DataFrame; leave other X alone."""
    if not isinstance(X, (str, Path)):
        return X
    path = Path(X)
    if not path.exists():
        raise InputError(
            f"{path}: no such path: expected a .npy file, a Zarr folder, a Parquet file or folder"
        )
    if path.suffix == ".npy":
        return read_npy(path)
    if any((path / name).exists() for name in (".zarray", "zarr.json")):
        return da.from_zarr(str(path))
    try:
        return dd.read_parquet(str(path))
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: is neither a Zarr folder nor Parquet ({reason})") from None


def read_npy(path: str | Path) -> da.Array:
    """Return the rows or labels of a file as a lazy array in blocks of 4 million values.

    The workers read the file under the same name. A file that is damaged, or that has neither a
    matrix of numbers nor labels, raises InputError.
    """
    name = str(path)
    with open(path, "rb") as file:
        header = read_header(file, name)
        header.check_size(os.fstat(file.fileno()).st_size, name)
    if header.dtype.kind not in {1: "biufU", 2: "biuf"}.get(len(header.shape), ""):
        raise InputError(
            f"{name}: holds {header.dtype} of shape {header.shape}, expected rows of numbers, "
            "(n, d), or labels, (n,)"
        )
    n, *row_shape = header.shape
    dtype = header.dtype.newbyteorder("=")
    if n == 0:
        return da.zeros(header.shape, dtype=dtype)
    block_rows = max(1, _BLOCK_VALUES // max(1, prod(row_shape)))
    blocks = []
    lengths = []
    for start in range(0, n, block_rows):
        stop = min(start + block_rows, n)
        blocks.append(dask.delayed(_read)(name, start, stop))
        lengths.append(stop - start)
    return joined(blocks, lengths, dtype, tuple(row_shape))


def _read(path: str, start: int, stop: int) -> NDArray:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.array(array[start:stop], array.dtype.newbyteorder("="), order="C")


def blocks_of(X: Any) -> list[Delayed]:
    """Return the blocks of rows of samples or labels, in order.

    X is a dask array (n, d) or (n,), a DataFrame, a Series, a list of delayed blocks, or the path
    of a ``.npy`` file, a Zarr folder, a Parquet file or folder; anything else raises ConfigError or
    InputError. If an array's columns lie in several chunks, these are joined.
    """
    X = opened(X)
    if isinstance(X, da.Array):
        if X.ndim == 2 and X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return [dask.delayed(_array)(block) for block in X.to_delayed().ravel()]
    if isinstance(X, (dd.DataFrame, dd.Series)):
        return [dask.delayed(_array)(partition) for partition in X.to_delayed()]
    if is_collection(X):
        return list(X)
    raise ConfigError(
        f"{type(X).__name__}: expected a Dask array or DataFrame, a list of delayed blocks, or "
        "the path of a .npy file, a Zarr or a Parquet folder"
    )


def labelled(X: Any, y: Any) -> tuple[list[Delayed], list[Delayed]]:
    """Return the blocks of samples and of labels, which may be a column of the samples."""
    X = opened(X)
    if isinstance(y, str) and not isinstance(X, (da.Array, list, tuple)):
        if y not in X.columns:
            raise InputError(f"y={y!r}: no such column (known: {', '.join(map(str, X.columns))})")
        return columns_of(X.to_delayed(), y)
    if isinstance(X, da.Array) and isinstance(y, da.Array):
        if X.shape[0] != y.shape[0] and not np.isnan([X.shape[0], y.shape[0]]).any():
            raise InputError(f"{y.shape[0]} labels for {X.shape[0]} rows")
        if not np.isnan(X.chunks[0]).any() and not np.isnan(y.chunks[0]).any():
            y = y.rechunk({0: X.chunks[0]})
    return blocks_of(X), [dask.delayed(_labels)(block) for block in blocks_of(y)]


def columns_of(partitions: Sequence[Delayed], y: str) -> tuple[list[Delayed], list[Delayed]]:
    """Return the blocks of a DataFrame's features and of its column of labels.

    Both have the same parts: a reader of files may cut each selection of columns in its own way.
    """
    samples = [dask.delayed(_array)(partition.drop(columns=[y])) for partition in partitions]
    labels = [dask.delayed(_labels)(partition[y]) for partition in partitions]
    return samples, labels


def _labels(block: Any) -> NDArray:
    """Return a block of labels as numbers or words; refuse missing labels."""
    labels = np.asarray(_array(block))
    if labels.dtype.kind == "O":
        for label in labels.ravel():
            if not isinstance(label, str):
                raise InputError(f"a label is {label!r}: expected words, or numbers, in all rows")
        labels = labels.astype(str)
    check_labels(labels, "labels")
    return labels


def _array(block: Any) -> AnyMatrix:
    """Return a block of a collection as an array or CSR matrix."""
    if not isinstance(block, np.ndarray):
        block = block.tocsr() if issparse(block) else block.to_numpy()
    refuse_mask(block)
    return block.astype(np.float32) if block.dtype == np.float16 else block


@dataclass(frozen=True)
class Summary:
    """The ranges, the number and a sample of some rows."""

    columns: RunningColumns  # ranges, the distinct values if they are few, the number of rows
    sample: AnyMatrix | None  # some of the rows
    labels: NDArray  # of the sample; empty without labels
    classes: NDArray  # the labels that occur; empty without labels
    counts: NDArray  # how often they occur
    digests: list[str]  # the digest of each block with its labels


def summary_of(
    blocks: Sequence[Delayed], labels: Sequence[Delayed] | None, most: int, sampled: bool
) -> Delayed:
    """Return the delayed summary of all blocks, made in one pass over them.

    It has up to ``most`` distinct values; ``sampled`` adds evenly spaced rows of each block.
    """
    if labels is not None and len(labels) != len(blocks):
        raise InputError(f"labels have {len(labels)} blocks, samples have {len(blocks)}")
    rows = -(-_SAMPLE_ROWS // len(blocks)) if sampled else 0
    parts = [
        dask.delayed(_block_summary)(block, None if labels is None else labels[k], most, rows)
        for k, block in enumerate(blocks)
    ]
    return merged_in_steps(dask.delayed(_merged_summary), parts)


def merged_in_steps(merge: Callable[..., Any], parts: list[Any]) -> Any:
    """Call ``merge`` on lists of neighbouring parts until one part is left."""
    while len(parts) > 1:
        groups = range(0, len(parts), _TOGETHER)
        parts = [merge(parts[start : start + _TOGETHER]) for start in groups]
    return parts[0]


def _block_summary(X: AnyMatrix, y: Any, most: int, rows: int) -> Summary:
    if X.ndim != 2:
        raise InputError(f"a block has the shape {X.shape}: expected rows of features, (n, d)")
    if X.dtype.kind not in "biuf":
        raise InputError(f"a block holds {X.dtype}: expected numbers in every column of features")
    if y is not None and np.shape(y) != (X.shape[0],):
        raise InputError(f"a block of {X.shape[0]} rows has labels of shape {np.shape(y)}")
    columns = RunningColumns(most)
    sample = None
    step = 1
    if X.shape[0]:
        columns.add(X)
        if rows:
            step = -(-X.shape[0] // rows)
            sample = X[::step]
    if y is None:
        return Summary(columns, sample, np.empty(0), np.empty(0), np.empty(0, np.int64), [])
    y = np.asarray(y)
    classes, counts = np.unique(y, return_counts=True)
    labels = y[::step] if rows else y[:0]
    return Summary(columns, sample, labels, classes, counts, [data_digest(X, y)])


def _merged_summary(summaries: list[Summary]) -> Summary:
    columns = RunningColumns(summaries[0].columns.most)
    for summary in summaries:
        columns.merge(summary.columns)
    samples = [summary.sample for summary in summaries if summary.sample is not None]
    sample = stacked(samples) if samples else None
    labelled = [summary for summary in summaries if len(summary.classes)] or summaries[:1]
    labels = np.concatenate([summary.labels for summary in labelled])
    classes = np.unique(np.concatenate([summary.classes for summary in labelled]))
    counts = np.zeros(len(classes), np.int64)
    for summary in labelled:
        counts[np.searchsorted(classes, summary.classes)] += summary.counts
    digests = [digest for summary in summaries for digest in summary.digests]
    return Summary(columns, sample, labels, classes, counts, digests)


def mapped(
    X: Any, function: Callable[[Any], Any], n_features: int, dtype: DTypeLike, width: int | None
) -> Any:
    """Return the results of a function on each block of rows of X, lazily.

    A different number of features raises InputError.

    Parameters
    ----------
    X : dask array (n, d), DataFrame, list of delayed blocks, or path
        The samples, as `BlockwiseSVC.fit` takes them.
    function : callable
        It takes rows (m, n_features) and returns an array (m, width), or (m,) without a width.
    n_features : int
        The number of features that X must have. It is not checked in a list of delayed blocks.
    dtype : dtype
        The dtype of the results, to which each block is converted.
    width : int or None
        The number of columns of the results; None: they have one dimension.

    Returns
    -------
    dask array, shape (n, width) or (n,), or list of delayed blocks
        The results; a list for a list.
    """
    X = opened(X)
    shape = () if width is None else (width,)
    shared = dask.delayed(function, traverse=False, pure=False)  # sent once for all blocks
    blocks = [dask.delayed(_call)(shared, block, dtype, shape) for block in blocks_of(X)]
    if isinstance(X, (list, tuple)):
        return blocks
    if isinstance(X, da.Array):
        n_columns = X.shape[1]
        lengths = X.chunks[0]
    else:
        n_columns = len(X.columns)
        lengths = (np.nan,) * len(blocks)
    if n_columns != n_features:
        raise InputError(f"X has {n_columns} features, expected {n_features}, as in fit")
    return joined(blocks, lengths, dtype, shape)


class LazyPredictions:
    """The predictions of a classifier, by its ``_local_model``, which needs no cluster."""

    n_features_in_: int
    classes_: NDArray
    _local_model: Callable[[], Any]

    def decision_function(self, X: Any) -> Any:
        """Return scores: of a collection lazily, block by block; of an array immediately."""
        check_is_fitted(self)
        score = self._local_model().decision_function
        if not is_collection(X):
            return score(X)
        width = len(self.classes_) if len(self.classes_) > 2 else None
        return mapped(X, score, self.n_features_in_, np.float64, width)

    def predict(self, X: Any) -> Any:
        """Return the class of each row, lazily or not as :meth:`decision_function` does."""
        check_is_fitted(self)
        predict = self._local_model().predict
        if not is_collection(X):
            return predict(X)
        return mapped(X, predict, self.n_features_in_, self.classes_.dtype, None)


def joined(
    blocks: Sequence[Delayed], lengths: Sequence[float], dtype: DTypeLike, shape: tuple[int, ...]
) -> da.Array:
    """Return delayed blocks as one array; they have ``lengths`` rows of the given shape.

    Parameters
    ----------
    blocks : sequence of Delayed
        The blocks, in order, each of which gives an array.
    lengths : sequence of float
        The number of rows of each block; NaN where it is not known.
    dtype : dtype
        The dtype of all blocks.
    shape : tuple of int
        The shape of a row: ``()`` for labels, ``(d,)`` for rows of d values.

    Returns
    -------
    dask.array.Array, shape ``(n, *shape)``
        The array, with a chunk for each block.
    """
    parts = [
        da.from_delayed(block, (length, *shape), dtype=dtype)
        for block, length in zip(blocks, lengths, strict=True)
    ]
    return da.concatenate(parts, axis=0)


def _call(
    function: Callable[[Any], Any], block: Any, dtype: DTypeLike, shape: tuple[int, ...]
) -> Any:
    if not block.shape[0]:  # a filter can leave empty blocks
        return np.empty((0, *shape), dtype)
    with threads(1):
        return np.asarray(function(block), dtype)


def kept(blocks: list[Delayed]) -> list[Delayed]:
    """Let the workers compute blocks once and keep them for all later uses.

    Parameters
    ----------
    blocks : list of Delayed
        The blocks. The workers begin at once.

    Returns
    -------
    list of Delayed
        The same blocks, in order, whose values stay with the workers as long as the list lives.
    """
    return list(dask.persist(*blocks))
