"""Reading rows from files and folders that all workers see, and writing there by the workers."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import Delayed
from numpy.typing import DTypeLike, NDArray

from kmaps.dask.chunks import blocks_of, columns_of, joined, opened
from kmaps.errors import InputError
from kmaps.io import atomic_file, atomic_folder, check_target, read_labels

FORMATS = (".npy", ".zarr", ".parquet")  # the suffixes of outputs


@dataclass(frozen=True)
class SharedRows:
    """Rows in delayed blocks.

    Parameters
    ----------
    name : str
        The name of the file or folder.
    blocks : list of Delayed
        The blocks of rows, in order.
    lengths : tuple of int
        The number of rows of each block.
    n_features : int
        The number of features, d.
    columns : list of str or None, default=None
        The names of the d features; None where they have none.
    labels : dask.array.Array, shape (n,), or None, default=None
        The labels from the column of labels; None where there is none.
    """

    name: str
    blocks: list[Delayed]
    lengths: tuple[int, ...]
    n_features: int
    columns: list[str] | None = None
    labels: da.Array | None = None


def rows_of(path: str | Path, label_column: str | None = None) -> SharedRows:
    """Return the rows of a ``.npy`` file, a Zarr folder, or a Parquet file or folder.

    A path or column that does not exist, or that has no rows of numbers, raises InputError.

    Parameters
    ----------
    path : str or Path
        The file or folder, which all workers see.
    label_column : str or None, default=None
        The column of Parquet that is no feature; None: all columns are features.

    Returns
    -------
    SharedRows
        The rows in delayed blocks, with the labels where there is a ``label_column``.
    """
    collection = opened(path)
    if isinstance(collection, da.Array):
        if label_column is not None:
            raise InputError(f"{path}: has no columns with names; leave label_column out")
        if collection.ndim != 2:
            raise InputError(
                f"{path}: holds an array of shape {collection.shape}, expected rows (n, d)"
            )
        return SharedRows(
            str(path), blocks_of(collection), collection.chunks[0], collection.shape[1]
        )
    names = [str(name) for name in collection.columns]
    if label_column is not None and label_column not in names:
        raise InputError(f"label_column={label_column!r}: expected one of {', '.join(names)}")
    partitions = collection.to_delayed()
    lengths = dask.compute(*(dask.delayed(len)(partition) for partition in partitions))
    if label_column is None:
        return SharedRows(str(path), blocks_of(collection), lengths, len(names), names)
    blocks, classes = columns_of(partitions, label_column)
    dtype = collection.dtypes[label_column]
    is_numeric = isinstance(dtype, np.dtype) and dtype.kind in "biuf"
    labels = joined(classes, lengths, dtype if is_numeric else np.dtype("U1"), ())
    names.remove(label_column)
    return SharedRows(str(path), blocks, lengths, len(names), names, labels)


def column_names(path: str | Path) -> list[str] | None:
    """Return the names of all columns of Parquet; None for rows without names.

    Parameters
    ----------
    path : str or Path
        The ``.npy`` file, the Zarr folder, or the Parquet file or folder.

    Returns
    -------
    list of str or None
        The names, in order, the column of labels included; None for ``.npy`` and Zarr.
    """
    collection = opened(path)
    return None if isinstance(collection, da.Array) else [str(name) for name in collection.columns]


def labels_of(path: str | Path) -> da.Array:
    """Return the labels in a ``.npy`` file, a Zarr folder or a text file.

    Anything else raises InputError. This process reads the text file.

    Parameters
    ----------
    path : str or Path
        The file or folder; a text file ends in ``.txt`` or ``.csv``.

    Returns
    -------
    dask.array.Array, shape (n,)
        The labels, numbers or texts.
    """
    if Path(path).suffix in (".txt", ".csv"):
        return da.from_array(read_labels(path))
    labels = opened(path)
    if not isinstance(labels, da.Array) or labels.ndim != 1:
        raise InputError(f"{path}: expected labels of shape (n,), .npy, .txt or a Zarr folder")
    return labels


def check_output(path: str | Path, *, force: bool = False) -> None:
    """Refuse an output that must not be written or whose name has no known format.

    Parameters
    ----------
    path : str or Path
        The output, whose name ends in ``.npy``, ``.zarr`` or ``.parquet``.
    force : bool, default=False
        Whether an existing file may be replaced. A folder never may.
    """
    if Path(path).suffix not in FORMATS:
        raise InputError(f"{path}: on a cluster the name of OUT ends in {', '.join(FORMATS)}")
    if Path(path).is_dir():
        raise InputError(f"{path}: exists already; folders are never replaced, choose another name")
    check_target(path, force=force)


def write(
    blocks: Sequence[Delayed],
    lengths: Sequence[int],
    path: str | Path,
    *,
    dtype: DTypeLike,
    width: int | None,
    columns: Sequence[str],
    labels: da.Array | None = None,
    force: bool = False,
) -> None:
    """Let the workers write blocks of rows; the file or folder appears when it is complete.

    Parameters
    ----------
    blocks : sequence of Delayed
        The blocks of rows, in order: each an array (m, width), or (m,) without a width.
    lengths : sequence of int
        The number of rows m of each block.
    path : str or Path
        The output: a ``.npy`` file, or a ``.zarr`` or ``.parquet`` folder, which is never replaced.
    dtype : dtype
        The dtype of all blocks.
    width : int or None
        The number of columns; None: the blocks have one dimension.
    columns : sequence of str
        The names of the columns in Parquet.
    labels : dask.array.Array, shape (n,), or None, default=None
        Labels, which Parquet gets as one more column, ``label``.
    force : bool, default=False
        Whether an existing ``.npy`` file is replaced; else it raises InputError.
    """
    shape = () if width is None else (width,)
    Z = joined(blocks, lengths, dtype, shape)
    form = Path(path).suffix
    if form == ".npy":
        _write_npy(Z, path, force=force)
        return
    with atomic_folder(path) as folder:
        if form == ".zarr":  # its chunks must have one size
            Z.rechunk({0: max(1, *lengths)}).to_zarr(str(folder))
            return
        if width is None:
            frame = dd.from_dask_array(Z, columns=columns[0]).to_frame()
        else:
            frame = dd.from_dask_array(Z, columns=list(columns))
        if labels is not None:
            frame = frame.assign(label=dd.from_dask_array(labels))
        frame.to_parquet(str(folder), write_index=False)


def _write_npy(Z: da.Array, path: str | Path, *, force: bool = False) -> None:
    """Let the workers write an array whose chunks are known; it appears when it is complete."""
    with atomic_file(path, force=force) as file:
        descr = np.lib.format.dtype_to_descr(Z.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": Z.shape}
        np.lib.format.write_array_header_1_0(file, header)
        header_bytes = file.tell()
        row_bytes = Z.dtype.itemsize * prod(Z.shape[1:])
        file.truncate(header_bytes + row_bytes * Z.shape[0])
        file.flush()
        path_of_workers = os.path.abspath(file.name)
        write_rows = dask.delayed(_write_rows)
        starts = np.cumsum([0, *Z.chunks[0]])
        tasks = []
        for start, block in zip(starts[:-1], Z.to_delayed().ravel(), strict=True):
            offset = header_bytes + row_bytes * int(start)
            tasks.append(write_rows(path_of_workers, offset, block, Z.dtype))
        dask.compute(*tasks)


def _write_rows(path: str, offset: int, block: NDArray, dtype: np.dtype) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(np.ascontiguousarray(block, dtype).data)
        file.flush()
        os.fsync(file.fileno())
