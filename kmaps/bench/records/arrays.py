"""Arrays that belong to records and that a line of text cannot hold, in an .npz beside them.

There are two such files: ``arrays.npz``, what figures need, and ``correct.npz``, which test samples
were classified rightly (:mod:`kmaps.bench.records.correct`). While a run is under way each cell has
a file of its own, ``arrays/KEY.npz``; at its end they are put together into ``arrays.npz``. Either
is written under another name first, so that a run that is killed leaves whole files.
"""

import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from tokenize import TokenError
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import DataError
from kmaps.io import atomic_file, remove_unfinished

Arrays = Mapping[str, NDArray[np.generic]]

# What zipfile, zlib and NumPy raise, one way or another, for bytes that are something else.
_DAMAGED = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, SyntaxError),
    *(BadZipFile, zlib.error, RuntimeError, NotImplementedError, MemoryError, TokenError),
)

FIGURES = "arrays"
"""The name of the file of what figures need, without its suffix."""


def write_arrays(folder: Path, key: str, arrays: Arrays, file_name: str = FIGURES) -> None:
    """Write the arrays of one cell; nothing where there are none."""
    if not arrays:
        return
    (folder / file_name).mkdir(exist_ok=True)
    # The folder has thousands of them; it is tidied when they are put together.
    with atomic_file(folder / file_name / f"{key}.npz", force=True, tidy=False) as file:
        np.savez_compressed(file, **arrays)


def collect_arrays(folder: Path, keys: Iterable[str], file_name: str = FIGURES) -> None:
    """Put the arrays of some cells together into one file, and delete those of others."""
    parts = sorted((folder / file_name).glob("*.npz"))
    if not parts:
        return
    together = {
        f"{key}/{name}": array
        for key, arrays in read_arrays(folder, keys, file_name).items()
        for name, array in arrays.items()
    }
    with atomic_file(folder / f"{file_name}.npz", force=True) as file:
        np.savez_compressed(file, **together)
    for part in parts:
        part.unlink()
    remove_unfinished(folder / file_name)
    with suppress(OSError):  # somebody else's file is in it
        (folder / file_name).rmdir()


def read_arrays(
    folder: Path, keys: Iterable[str], file_name: str = FIGURES
) -> dict[str, dict[str, NDArray[np.generic]]]:
    """Return the arrays of cells by their keys, leaving out cells that have none.

    Raises
    ------
    DataError
        When a file is damaged.
    """
    wanted = set(keys)
    found: dict[str, dict[str, NDArray[np.generic]]] = {}
    for name, array in _members(folder / f"{file_name}.npz"):
        key, _, own = name.partition("/")
        if key in wanted:
            found.setdefault(key, {})[own] = array
    for part in (folder / file_name).glob("*.npz"):
        if part.stem in wanted:
            found[part.stem] = dict(_members(part))
    return found


def _members(path: Path) -> list[tuple[str, NDArray[np.generic]]]:
    if not path.exists():
        return []
    try:
        with np.load(path, allow_pickle=False) as file:
            members = list(file.items())
    except _DAMAGED as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{path}: damaged ({reason}); restore it, or measure again into another folder "
            "(kmaps run NAME --out FOLDER)"
        ) from None
    if not all(isinstance(array, np.ndarray) for _, array in members):
        raise DataError(f"{path}: holds something else than arrays; restore it")
    return members
