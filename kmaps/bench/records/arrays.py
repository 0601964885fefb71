"""Arrays that belong to records and that a line of text cannot hold, in an .npz next to them.

There are two such files: ``arrays.npz``, what figures need, and ``correct.npz``, which test samples
each cell got right. While a run is under way each cell has a file of its own, ``arrays/KEY.npz``;
at its end they are put together into ``arrays.npz``. Either is written under another name first, so
that a run that is killed leaves whole files.

With ``correct.npz`` two rows are compared on the same samples. It is kept for records with an
accuracy; an average precision has no right and wrong samples, and the ranks behind it are too large
to keep: rows of detectors are compared by their splits and draws alone.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.appended import is_there
from kmaps.bench.records.columns import Record, cell_name
from kmaps.bench.records.file import FILE_NAME, records_path
from kmaps.errors import DataError, InputError
from kmaps.io import atomic_file, remove_unfinished

Arrays = Mapping[str, NDArray[np.generic]]

# zipfile, zlib and NumPy raise these for damaged files.
_DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    SyntaxError,
    BadZipFile,
    zlib.error,
    RuntimeError,
    NotImplementedError,
    MemoryError,
    TokenError,
)

_MOST_BYTES = 1 << 32  # for all arrays of a run, unpacked

FIGURES = "arrays"  # the name, without suffix, of the file of arrays for figures


def write_arrays(folder: Path, key: str, arrays: Arrays, file_name: str = FIGURES) -> None:
    """Write the arrays of one cell; nothing where there are none."""
    if not arrays:
        return
    (folder / file_name).mkdir(exist_ok=True)
    # The folder has thousands of files and is tidied when they are joined.
    with atomic_file(folder / file_name / f"{key}.npz", force=True, tidy=False) as file:
        np.savez_compressed(file, **arrays)


def collect_arrays(folder: Path, keys: Iterable[str], file_name: str = FIGURES) -> None:
    """Put the arrays of some cells together into one file, and delete all other arrays."""
    cell_files = sorted((folder / file_name).glob("*.npz"))
    if not cell_files:
        return
    together = {}
    for key, arrays in read_arrays(folder, keys, file_name).items():
        for name, array in arrays.items():
            together[f"{key}/{name}"] = array
    with atomic_file(folder / f"{file_name}.npz", force=True) as file:
        np.savez_compressed(file, **together)
    for cell_file in cell_files:
        cell_file.unlink()
    remove_unfinished(folder / file_name)
    with suppress(OSError):  # the folder has another file
        (folder / file_name).rmdir()


def read_arrays(
    folder: Path, keys: Iterable[str], file_name: str = FIGURES
) -> dict[str, dict[str, NDArray[np.generic]]]:
    """Return the arrays of cells by their keys, leaving out cells that have none."""
    wanted = set(keys)
    by_key: dict[str, dict[str, NDArray[np.generic]]] = {}
    for name, array in _members(folder / f"{file_name}.npz"):
        key, _, own = name.partition("/")
        if key in wanted:
            by_key.setdefault(key, {})[own] = array
    for cell_file in (folder / file_name).glob("*.npz"):
        if cell_file.stem in wanted:
            by_key[cell_file.stem] = dict(_members(cell_file))
    return by_key


def _members(path: Path) -> list[tuple[str, NDArray[np.generic]]]:
    if not is_there(path):
        return []
    try:
        with np.load(path, allow_pickle=False) as file:
            size = sum(member.file_size for member in file.zip.infolist())
            if size > _MOST_BYTES:
                raise ValueError(f"{size:,} bytes when unpacked, not at most {_MOST_BYTES:,}")
            members = list(file.items())
    except _DAMAGED as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"{path}: damaged ({reason}); restore it, or measure again into another folder "
            "(kmaps run NAME --out FOLDER)"
        ) from None
    if not all(isinstance(array, np.ndarray) for _, array in members):
        raise DataError(f"{path}: holds something other than arrays; restore it")
    return members


CORRECT = "correct"  # the name of the file, without its suffix
_SAMPLES = "samples"

_ROUNDING = 1e-9  # the rounding of an accuracy


@dataclass(frozen=True, eq=False)
class Correct:
    """Which test samples a row got right on one split.

    The samples are class by class in the order of the labels, within a class as in the split:
    the same in the same order for every row.
    """

    correct: NDArray[np.bool_]
    per_class: NDArray[np.integer]  # the number of samples of each class
    samples: NDArray[np.integer] | None = None  # their numbers in the dataset, if on record

    @classmethod
    def of(cls, truth: NDArray, predicted: NDArray) -> "Correct":
        """Compare the predicted labels of test samples with the true ones."""
        _, per_class = np.unique(truth, return_counts=True)
        return cls(in_order_of(truth, predicted == truth), per_class)

    @property
    def accuracy(self) -> float:
        """The share of the samples that were right, in [0, 1]."""
        return float(self.correct.mean())

    @property
    def accuracy_per_class(self) -> float:
        """The mean over the classes of the share of each, in [0, 1]."""
        ends = np.cumsum(self.per_class)[:-1]
        return float(np.mean([of_class.mean() for of_class in np.split(self.correct, ends)]))

    @property
    def columns(self) -> dict[str, float]:
        """The columns of a record that follow from the samples."""
        return {"accuracy": self.accuracy, "accuracy_per_class": self.accuracy_per_class}

    @property
    def arrays(self) -> Arrays:
        """The arrays that the file keeps of a cell: a bit per sample, and the classes' sizes."""
        return {"bits": np.packbits(self.correct), "per_class": self.per_class.astype(np.uint32)}


def in_order_of(truth: NDArray, values: NDArray) -> NDArray:
    """Return values of the test samples class by class, in each as in the split."""
    return values[np.argsort(truth, kind="stable")]


def _split_key(split: int) -> str:
    return f"split-{split}"


def collect(
    folder: Path, cells: Mapping[str, Any], tested: Callable[[], Mapping[int, NDArray]]
) -> None:
    """Put together the arrays of cells, by their keys, and, where some have outcomes of test
    samples, which samples the splits test."""
    collect_arrays(folder, cells)
    if (folder / CORRECT).is_dir():
        for split, samples in tested().items():
            write_arrays(folder, _split_key(split), {_SAMPLES: samples}, CORRECT)
    splits = dict.fromkeys(_split_key(cell.split) for cell in cells.values())
    collect_arrays(folder, [*cells, *splits], CORRECT)


CorrectOf = dict[str, Correct]  # by the keys of cells

NOT_ON_RECORD: Mapping[str, Correct] = MappingProxyType({})
"""No cell of a run has them, as in records of earlier versions."""


def read_correct(path: Path, records: Iterable[Record]) -> CorrectOf:
    """Return which test samples the cells of a run got right, by their keys.

    Cells of which it is not on record are left out; a file that is damaged, or has other
    samples or accuracies than the records, is refused.
    """
    records_file = records_path(path)
    if records_file.name != FILE_NAME:  # a copy of records: the file next to it belongs to others
        return {}
    folder = records_file.parent
    by_key = {record["key"]: record for record in records if record["status"] == "ok"}
    names = {_split_key(cell["split"]) for cell in by_key.values() if cell["split"] is not None}
    correct = {}
    tested = {}
    all_arrays = read_arrays(folder, [*by_key, *names], CORRECT)
    for name in names & all_arrays.keys():
        samples = all_arrays[name].get(_SAMPLES)
        if samples is not None and not _are_different(samples):
            samples = np.empty(0)  # of no record
        tested[name] = samples
    for key, arrays in all_arrays.items():
        if key not in names:
            correct[key] = _checked(arrays, by_key[key], folder, tested)
    return correct


def _checked(
    arrays: Arrays, record: Record, folder: Path, tested: Mapping[str, NDArray | None]
) -> Correct:
    file = f"{folder / CORRECT}.npz: {cell_name(record)}"
    bits = arrays.get("bits")
    per_class = arrays.get("per_class")
    n = record["n_test"]
    samples = tested.get(_split_key(record["split"]))
    if (
        bits is None
        or per_class is None
        or n is None
        or bits.dtype != np.uint8
        or per_class.dtype != np.uint32
        or bits.shape != (-(-n // 8),)
        or per_class.ndim != 1
        or per_class.sum() != n
        or not per_class.all()
        or (samples is not None and samples.shape != (n,))
    ):
        raise InputError(
            f"{file}: has not one bit per test sample, of {n}; restore the file, or measure "
            "again into another folder (kmaps run NAME --out FOLDER)"
        )
    correct = Correct(np.unpackbits(bits, count=n).astype(bool), per_class, samples)
    for column, ours in correct.columns.items():
        recorded = record[column]
        if recorded is not None and abs(recorded - ours) > _ROUNDING:
            raise InputError(
                f"{file}: the samples that were right make its {column} {ours:.6g}, the record has "
                f"{recorded:.6g}; one of the two was changed: restore it, or measure again into "
                "another folder (kmaps run NAME --out FOLDER)"
            )
    return correct


def _are_different(samples: NDArray) -> bool:
    """Return whether an array holds numbers of samples, each once."""
    return (
        samples.dtype.kind == "u" and samples.ndim == 1 and len(np.unique(samples)) == len(samples)
    )
