"""NumPy's ``.npy`` files that all workers see, read and written block by block."""

import os
from math import prod
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.io import atomic_file
from kmaps.io.reader import read_header

_BLOCK_VALUES = 1 << 22


def read_npy(path: str | Path) -> da.Array:
    """Return the rows, or labels, of a file as a lazy array in blocks of 4 million values.

    The workers read it under the same name. A file that is damaged, or neither a matrix of numbers
    nor labels, raises InputError.
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
    n, width = header.shape[0], header.shape[1:]
    rows, dtype = max(1, _BLOCK_VALUES // max(1, prod(width))), header.dtype.newbyteorder("=")
    blocks = [
        da.from_delayed(
            dask.delayed(_read)(name, start, min(start + rows, n)),
            (min(rows, n - start), *width),
            dtype=dtype,
        )
        for start in range(0, n, rows)
    ]
    return da.concatenate(blocks) if blocks else da.zeros((0, *width), dtype=dtype)


def _read(path: str, start: int, stop: int) -> NDArray:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.array(mapped[start:stop], mapped.dtype.newbyteorder("="), order="C")


def write_npy(Z: da.Array, path: str | Path, *, force: bool = False) -> None:
    """Let the workers write an array whose chunks are known; it appears when it is complete."""
    with atomic_file(path, force=force) as file:
        descr = np.lib.format.dtype_to_descr(Z.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": Z.shape}
        np.lib.format.write_array_header_1_0(file, header)
        first, row_bytes = file.tell(), Z.dtype.itemsize * prod(Z.shape[1:])
        file.truncate(first + row_bytes * Z.shape[0])
        file.flush()
        starts = np.cumsum([0, *Z.chunks[0]])
        write = dask.delayed(_write)
        dask.compute(
            *(
                write(os.path.abspath(file.name), first + row_bytes * int(start), block, Z.dtype)
                for start, block in zip(starts[:-1], Z.to_delayed().ravel(), strict=True)
            )
        )


def _write(path: str, offset: int, block: NDArray, dtype: np.dtype) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(np.ascontiguousarray(block, dtype).data)
        file.flush()
        os.fsync(file.fileno())
