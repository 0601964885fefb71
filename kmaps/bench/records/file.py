"""The records of a run: one JSON object per line, one line per finished cell.

A line is written whole, flushed and synced before the next cell counts as finished, so a run that
is killed loses at most a half-written last line, which is ignored on reading and cut before
appending.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kmaps.errors import ConfigError, InputError, NothingMeasured

Record = dict[str, Any]

COLUMNS: dict[str, str] = {
    "key": "sha256 of the cell's resolved configuration, the data's digest and the map version",
    "status": "ok or failed",
    "experiment": "name of the experiment",
    "dataset": "name of the dataset",
    "data_digest": "sha256 of the dataset's content",
    "protocol": "how the split is drawn from it, as the experiment has it",
    "features": "name of the features and the parameters that the experiment names",
    "feature_params": "those parameters",
    "normalize": "normalisation of each row: none, l1, l2 or gamma=NUMBER",
    "split": "number of the split, from 0",
    "kernel": "name of the kernel; empty where there is none (the linear baseline)",
    "method": "linear, exact, exact-coded, or the name of a map",
    "params": "the parameters of the map that the experiment names, without the kernel",
    "label": "name of the row in tables: the method, its parameters, and its solver if it is coded",
    "reduction": "multi-class reduction: ovo (one-vs-one) or ovr (one-vs-rest)",
    "learner": "the solver and its settings",
    "C": "regularisation that was used",
    "C_grid": "values it was chosen from",
    "C_folds": "folds of the cross-validation; null without a choice",
    "C_samples": "training samples it used; null for all of them",
    "C_unit_norm": "whether C and the bias are for rows scaled to a root mean square norm of one",
    "cv_accuracy": "cross-validated accuracy of each of them, in [0, 1]; empty without a choice",
    "accuracy": "accuracy on the test samples, in [0, 1]",
    "accuracy_per_class": "mean over the classes of the accuracy on each class, in [0, 1]",
    "average_precision": "mean over the classes of that of each against the rest, in [0, 1]; with "
    "it, other columns of a trade-off are means over the classes too",
    "linf": "largest error of the approximate kernel over all pairs (approximation studies)",
    "rms": "root mean square error of the approximate kernel over all pairs",
    "additive_rms": "that of its part that more projections do not lessen (random-features)",
    "random_rms": "that of its random part",
    "worst": "the pair of values with the largest error",
    "n_train": "training samples",
    "n_test": "test samples",
    "n_skipped": "pictures left out because they cannot be used (--skip-bad)",
    "n_features": "columns before encoding",
    "dim": "columns after encoding (of the Gram matrix for exact, codes for the coded solver)",
    "fit_s": "fitting the map, seconds; for the coded solver part of convert_s",
    "encode_s": "encoding the training samples (exact: their Gram matrix), seconds",
    "convert_s": "building the solver's own structures (coded: levels, tables, codes), seconds",
    "train_s": "training with the chosen C, seconds",
    "predict_s": "predicting the test samples, their encoding or Gram matrix included, seconds",
    "cv_s": "choosing C, seconds",
    "train_bytes": "the training set as the method stores it",
    "table_bytes": "the tables the map needs at prediction",
    "model_bytes": "the model needed at prediction",
    "storage_bytes": "train_bytes + table_bytes + model_bytes",
    "peak_bytes": "memory the method needed beyond its data: peak of its process while fitting, "
    "encoding, training and predicting, less what was in use before",
    "train_peak_bytes": "the same without predicting",
    "seed": "seed of the map and the solver, from the cell's name",
    "threads": "threads of the compiled loops, BLAS and OpenMP",
    "jobs": "cells measured at the same time; times compare only at equal threads and jobs",
    "versions": "versions of the packages that matter",
    "cpu": "model of the processor",
    "cores": "processors of the machine that the run may use",
    "python": "version of Python",
    "commit": "commit of the source checkout; empty when installed from a package",
    "dirty": "whether that checkout's code differs from the commit",
    "map_version": "version of the maps",
    "started": "when the cell started, UTC, ISO 8601",
    "warnings": "what the solver or the map warned of while the cell was measured",
    "error": "why the cell failed, one line; empty when it did not",
    "traceback": "where it failed; empty when it did not",
}
"""Every column with its meaning. Times in seconds, sizes in bytes, null where not measured."""

FILE_NAME = "records.jsonl"


def cell_name(record: Mapping[str, Any]) -> str:
    """Return a record's cell in words.

    Examples
    --------
    >>> cell_name({"split": 0, "reduction": "ovo", "kernel": "", "label": "linear"})
    'split 0 ovo linear'
    """
    split = None if record["split"] is None else f"split {record['split']}"
    words = (split, record["reduction"], record["kernel"], record["label"])
    return " ".join(filter(None, words))


def records_path(path: str | Path) -> Path:
    """Return the records file meant by ``path``: a ``.jsonl`` file, or the folder it is in."""
    path = Path(path)
    return path if path.suffix == ".jsonl" else path / FILE_NAME


def read_records(path: str | Path) -> list[Record]:
    """Read records, the latest of each key, in the order the cells first finished.

    Parameters
    ----------
    path : str or Path
        A records file or the folder it is in.

    Returns
    -------
    list of dict
        With the columns of :data:`COLUMNS`.

    Raises
    ------
    NothingMeasured
        When there is no such file, or no record in it.
    InputError
        When a line other than a half-written last one is not a record.
    """
    path = records_path(path)
    if not path.is_file():
        raise NothingMeasured(f"{path}: no records there; `kmaps run` writes them")
    records, _ = _parse(path.read_bytes(), path)
    if not records:
        raise NothingMeasured(f"{path}: no finished cell yet; `kmaps run` resumes the run")
    return records


def _parse(content: bytes, path: Path) -> tuple[list[Record], int]:
    """Return the records and the length in bytes of the whole lines."""
    by_key: dict[str, Record] = {}
    whole = 0
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            by_key[record["key"]] = record
        except (ValueError, KeyError, TypeError):
            if number == len(lines) and not line.endswith(b"\n"):
                break
            raise InputError(f"{path}:{number}: not a record (one JSON object a line)") from None
        whole += len(line)
    return list(by_key.values()), whole


class RecordsFile:
    """A records file open for appending by one run at a time (context manager).

    Parameters
    ----------
    path : str or Path
        The file, or its folder; both are made when missing.

    Attributes
    ----------
    records : list of dict
        What it held when it was opened.

    Raises
    ------
    ConfigError
        On opening, when another run has the file open.
    InputError
        On opening, when a line in it is not a record.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = records_path(path)

    def __enter__(self) -> "RecordsFile":
        self._made_folder = not self.path.parent.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "a+b")
        try:
            self._lock()
            self._file.seek(0)
            content = self._file.read()
            self.records, whole = _parse(content, self.path)
            self._file.truncate(whole)
            if content[:whole] and not content[:whole].endswith(b"\n"):
                self._file.write(b"\n")
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file.seek(0, 2) == 0:  # nothing to keep, as when the data are missing
            self.path.unlink(missing_ok=True)
            if self._made_folder and not any(self.path.parent.iterdir()):
                self.path.parent.rmdir()
        self._file.close()

    def _lock(self) -> None:
        # The kernel drops the lock with the process, however it ends: no stale lock files.
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"{self.path}: another run is writing it; wait for it or choose another --out"
            ) from None

    def append(self, record: Record) -> None:
        """Write one record and do not return before it is on the disk."""
        odd = set(record) ^ set(COLUMNS)
        if odd:
            raise ValueError(f"missing or unknown columns: {', '.join(sorted(odd))}")
        ordered = {name: record[name] for name in COLUMNS}
        self._file.write(json.dumps(ordered, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def latest(records: Iterable[Record], keys: Iterable[str]) -> list[Record]:
    """Return the latest record of each key, in the order of the keys, leaving out missing ones."""
    by_key = {record["key"]: record for record in records}
    return [by_key[key] for key in keys if key in by_key]
