"""Functions of blocks of rows, applied to collections of Dask when their results are asked for."""

from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from numpy.typing import DTypeLike

from kmaps.dask.chunks import blocks_of, opened
from kmaps.errors import InputError
from kmaps.parallel import threads


def mapped(
    X: Any, function: Callable[[Any], Any], n_features: int, dtype: DTypeLike, width: int | None
) -> Any:
    """Return what a function makes of each block of rows of X; nothing is computed.

    The function takes rows (n, n_features) to an array (n, width), or (n,) without a width. The
    result is a dask array, or a list of delayed arrays for a list of delayed blocks. Another number
    of features raises InputError.
    """
    X, shape = opened(X), () if width is None else (width,)
    shared = dask.delayed(function, traverse=False, pure=False)  # one for all blocks
    blocks = [dask.delayed(_called)(shared, block, dtype, shape) for block in blocks_of(X)]
    if isinstance(X, (list, tuple)):
        return blocks
    given = len(X.columns) if not isinstance(X, da.Array) else X.shape[1]
    if given != n_features:
        raise InputError(f"X has {given} features, expected {n_features}, as in fit")
    lengths = X.chunks[0] if isinstance(X, da.Array) else (np.nan,) * len(blocks)
    return joined(blocks, lengths, dtype, shape)


def joined(
    blocks: Sequence[Delayed], lengths: Sequence[float], dtype: DTypeLike, shape: tuple[int, ...]
) -> da.Array:
    """Return delayed blocks of so many rows, each of some shape, as one array."""
    parts = [
        da.from_delayed(block, (length, *shape), dtype=dtype)
        for block, length in zip(blocks, lengths, strict=True)
    ]
    return da.concatenate(parts, axis=0)


def _called(
    function: Callable[[Any], Any], block: Any, dtype: DTypeLike, shape: tuple[int, ...]
) -> Any:
    if not block.shape[0]:  # as a filter leaves them
        return np.empty((0, *shape), dtype)
    with threads(1):
        return np.asarray(function(block), dtype)


def kept(blocks: list[Delayed]) -> list[Delayed]:
    """Let the workers compute blocks once and keep them, for all that is made of them."""
    return list(dask.persist(*blocks))
