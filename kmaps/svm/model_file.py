"""Models in files: arrays in an ``.npz`` with a header in JSON; nothing in it is ever executed.

The header says the version of the format and which estimator the arrays are of. Compiled loops
believe what they are given, so every array is checked when it is taken out of a file: its dtype,
its shape against the arrays taken before, its values.
"""

import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tokenize import TokenError
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmaps.checks import is_whole
from kmaps.errors import InputError, KmapsError
from kmaps.io import atomic_file
from kmaps.io.atomic import check_source
from kmaps.matrices import AnyMatrix, issparse
from kmaps.svm.normalization import Normalization

FORMAT = "kmaps model"
VERSION = 5
_MOST_ARRAYS = 100  # per file, because each takes time to read

Parts: TypeAlias = NDArray | tuple[NDArray, NDArray, NDArray]  # dense; or the arrays of a CSR
Known = TypeVar("Known")
Size = int | tuple[int, ...] | None  # of one side of an array: a number, one of several, or any


def write_model(
    path: str | Path,
    estimator: Any,
    parameters: Mapping[str, Any],
    arrays: Mapping[str, NDArray],
    *,
    fitted: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    force: bool,
) -> None:
    """Write a fitted model to a file, which takes its name once it is complete.

    The file keeps the name of the estimator's class, by which it is loaded, ``parameters`` (its
    arguments), ``fitted`` (what else was learnt), the names of the features, where the training
    samples came with names, and ``record`` (how it was trained, which
    prediction does not need), in what JSON can hold; and when it was written, by which kmaps. The
    time, a second, is the only difference between two files of one model; where the environment
    variable ``SOURCE_DATE_EPOCH`` has one, it is taken. It raises InputError when the file exists
    and ``force`` is off, or for an array of Python objects.
    """
    arrays = {name: _plain(array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InputError(f"{name}: holds Python objects, which no model file may hold")
    names = vars(estimator).get("feature_names_in_")
    normalization = vars(estimator).get("normalization_")
    if normalization is not None:
        fitted = {**(fitted or {}), "normalization": normalization.as_json()}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "parameters": dict(parameters),
        "fitted": {**(fitted or {}), "feature_names": None if names is None else list(names)},
        "record": dict(record or {}),
        "written": {"time": _now(), "kmaps": import_module("kmaps").__version__},
    }
    text = json.dumps(header, default=lambda scalar: scalar.item())
    with atomic_file(path, force=force) as file:
        # NumPy's types take any name for the name of its one flag.
        np.savez(file, header=np.frombuffer(text.encode(), np.uint8), **arrays)  # type: ignore[arg-type]


def _now() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    is_stated = epoch.isdecimal() and len(epoch) < 12  # a year that dates have
    when = datetime.fromtimestamp(int(epoch), UTC) if is_stated else datetime.now(UTC)
    return when.isoformat(timespec="seconds")


def matrix_arrays(name: str, matrix: "AnyMatrix") -> dict[str, NDArray]:
    """Return a matrix as a file has it: one array, or the three of a CSR matrix."""
    if not issparse(matrix):
        return {name: matrix}
    return {f"{name}_{field}": getattr(matrix, field) for field in ("data", "indices", "indptr")}


def csr_or_dense(parts: Parts, n_columns: int) -> AnyMatrix:
    """Return the matrix whose arrays :meth:`ModelFile.matrix` returned."""
    if not isinstance(parts, tuple):
        return parts
    from scipy.sparse import csr_array

    return csr_array(parts, shape=(n_rows(parts), n_columns))


def n_rows(parts: Parts) -> int:
    """Return the number of rows of a result of :meth:`ModelFile.matrix`."""
    return len(parts[2]) - 1 if isinstance(parts, tuple) else len(parts)


def _plain(array: NDArray) -> NDArray:
    """Return labels that are strings as an array without Python objects."""
    if array.dtype.hasobject and all(isinstance(value, str) for value in array.flat):
        return array.astype(str)
    return array


class ModelFile:
    """The content of a model file, checked piece by piece as an estimator takes it.

    ``estimator`` is the name of the class that the model is of; ``parameters``, ``fitted``,
    ``record`` and ``written`` (time, kmaps; empty in older files) are as the header has them, not
    checked. A file that is missing, no model, damaged,
    or of another version of the format raises InputError.

    Parameters
    ----------
    path : str or Path
        The ``.npz`` file, which is read as a whole.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._arrays = self._read()
        self._taken: set[str] = set()
        header = self._header()
        estimator, parameters = header.get("estimator"), header.get("parameters")
        fitted, record = header.get("fitted"), header.get("record", {})
        written = header.get("written", {})
        if not (
            isinstance(estimator, str) and isinstance(parameters, dict) and isinstance(fitted, dict)
        ):
            raise self.damaged("its header lacks the estimator, its parameters or what it learnt")
        if not isinstance(record, dict):
            raise self.damaged(f"its training record is {record!r}, expected names and values")
        if not isinstance(written, dict):
            raise self.damaged(f"written is {written!r}, expected names and values")
        self.estimator = estimator
        self.parameters: dict[str, Any] = parameters
        self.fitted: dict[str, Any] = fitted
        self.record: dict[str, Any] = record
        self.written: dict[str, Any] = written

    def _read(self) -> dict[str, NDArray]:
        check_source(self.path)
        try:
            with zipfile.ZipFile(self.path) as archive:
                n_arrays = len(archive.infolist())
                if n_arrays > _MOST_ARRAYS:
                    raise self.damaged(f"it holds {n_arrays:,} arrays, more than {_MOST_ARRAYS}")
                # Nothing is packed: a small file cannot unpack to a large one.
                if any(piece.compress_type != zipfile.ZIP_STORED for piece in archive.infolist()):
                    raise self._no_model()
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except KmapsError:
            raise
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror or error})") from None
        except MemoryError:
            raise InputError(
                f"{self.path}: its arrays claim more memory than is free: the model is damaged, or "
                "too large for this computer"
            ) from None
        # zipfile and NumPy raise these, too, for damaged files.
        except (ValueError, KeyError, TypeError, AttributeError, EOFError):
            raise self._no_model() from None
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, SyntaxError, TokenError):
            raise self._no_model() from None
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise self._no_model()
        return arrays

    def _header(self) -> dict[str, Any]:
        try:
            header = json.loads(self._arrays.pop("header").tobytes())
            known, version = header["format"] == FORMAT, header["version"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._no_model() from None
        if not known or type(version) is not int:
            raise self._no_model()
        if version > VERSION:
            raise InputError(
                f"{self.path}: has a model of version {version}, but this kmaps reads the older "
                f"version {VERSION}; update kmaps, or train the model again"
            )
        if version < VERSION:
            raise InputError(
                f"{self.path}: has a model of version {version}, but this kmaps reads the newer "
                f"version {VERSION}; train it again, or use the kmaps that wrote it"
            )
        return header

    def _no_model(self) -> InputError:
        return InputError(
            f"{self.path}: is no kmaps model, or is damaged (cut off?); train and save it again"
        )

    def damaged(self, reason: str) -> InputError:
        """Return the error for content that no estimator can have written.

        Parameters
        ----------
        reason : str
            What is wrong, for the message.

        Returns
        -------
        InputError
            The error, which the caller raises.
        """
        return InputError(f"{self.path}: the model is damaged: {reason}; train and save it again")

    def check_estimator(self, cls: type) -> None:
        """Refuse the model of another estimator than ``cls``.

        Parameters
        ----------
        cls : type
            The estimator's class; its name is compared.
        """
        if self.estimator != cls.__name__:
            raise InputError(
                f"{self.path}: holds a model of {self.estimator}, not {cls.__name__}; load it with "
                "kmaps.load_model"
            )

    def one_of(self, known: Mapping[str, Known]) -> Known:
        """Return what is known of its estimator; refuse one that is not among them.

        Parameters
        ----------
        known : mapping of str to object
            A value of any type for each name of an estimator.

        Returns
        -------
        object
            The value for the file's estimator. An estimator without a value raises InputError.
        """
        if self.estimator not in known:
            raise InputError(
                f"{self.path}: holds a model of {self.estimator!r}, and this kmaps knows only "
                f"{', '.join(known)}; use the kmaps that wrote it"
            )
        return known[self.estimator]

    def check_parameters(
        self, names: tuple[str, ...], came_later: Mapping[str, Any] | None = None
    ) -> None:
        """Refuse parameters of other names than these.

        Parameters
        ----------
        names : tuple of str
            All names that the file must have, in any order.
        came_later : mapping of str to object, optional
            The values of parameters that files of earlier versions lack, and then get.
        """
        for name, value in (came_later or {}).items():
            if name in names:
                self.parameters.setdefault(name, value)
        if set(self.parameters) != set(names):
            different = ", ".join(sorted(set(self.parameters) ^ set(names)))
            raise self.damaged(f"its parameters do not fit {self.estimator} ({different})")

    def checked_parameters(
        self,
        names: tuple[str, ...],
        check: Callable[[Any], object],
        came_later: Mapping[str, Any] | None = None,
    ) -> SimpleNamespace:
        """Return the parameters as attributes; refuse other names, and what ``check`` refuses.

        Parameters
        ----------
        names : tuple of str
            All names that the file must have, in any order.
        check : callable
            Takes the parameters as attributes of an object, and raises an error of `kmaps.errors`
            for a value out of range, which becomes the InputError of a damaged file.
        came_later : mapping of str to object, optional
            The values of parameters that files of earlier versions lack, and then get.

        Returns
        -------
        types.SimpleNamespace
            The parameters as attributes.
        """
        self.check_parameters(names, came_later)
        parameters = SimpleNamespace(**self.parameters)
        with self.checking():
            check(parameters)
        return parameters

    def check_all_taken(self) -> None:
        """Refuse arrays that the estimator did not take."""
        unknown = sorted(set(self._arrays) - self._taken)
        if unknown:
            raise self.damaged(f"{self.estimator} has no {', '.join(unknown)}")

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def array(
        self,
        name: str,
        dtype: DTypeLike | tuple[DTypeLike, ...],
        shape: tuple[Size, ...],
        low: float = -np.inf,
        high: float = np.inf,
    ) -> NDArray:
        """Return an array that must be there, with one of the dtypes, or raise InputError.

        Its values must be finite.

        Parameters
        ----------
        name : str
            Name of the array in the file.
        dtype : dtype or tuple of dtype
            The dtype that the array must have, or several, of which it must have one.
        shape : tuple of int, tuple of int, or None
            What each side must measure: a number, one of several numbers, or, for None, any number
            above 0.
        low, high : float, default=-inf and inf
            The least and the largest value allowed.

        Returns
        -------
        ndarray
            The array, contiguous in C order.
        """
        if name not in self._arrays:
            raise self.damaged(f"it has no {name}")
        self._taken.add(name)
        array = self._arrays[name]
        fits = array.ndim == len(shape) and all(map(_measures, array.shape, shape))
        dtypes = [np.dtype(stated) for stated in (dtype if isinstance(dtype, tuple) else (dtype,))]
        if array.dtype not in dtypes or not fits:
            kinds, sides = " or ".join(map(str, dtypes)), ", ".join(map(_in_words, shape))
            sides += "," if len(shape) == 1 else ""
            raise self.damaged(
                f"{name} is {array.dtype} of shape {array.shape}, expected {kinds} of shape "
                f"({sides})"
            )
        if not np.isfinite(array).all():
            raise self.damaged(f"{name} has values that are not finite")
        if array.size and not (low <= array.min() and array.max() <= high):
            raise self.damaged(f"{name} has values that are not from {low:g} to {high:g}")
        return np.ascontiguousarray(array)

    def matrix(
        self, name: str, dtype: DTypeLike | tuple[DTypeLike, ...], shape: tuple[Size, int]
    ) -> Parts:
        """Return a matrix that `matrix_arrays` wrote, as `array` does, or the arrays of a CSR.

        Parameters
        ----------
        name : str
            Name of the matrix, by which `matrix_arrays` wrote it.
        dtype : dtype or tuple of dtype
            The dtype that the values must have, or several, of which they must have one.
        shape : tuple of (int, tuple of int or None, int)
            The number of rows, as a side in `array`, and the number of columns.

        Returns
        -------
        ndarray or tuple of (ndarray, ndarray, ndarray)
            A dense matrix; of a CSR matrix the values, the column numbers and the row pointers (the
            last two int32 or int64), for `csr_or_dense`.
        """
        if f"{name}_data" not in self:
            return self.array(name, dtype, shape)
        data = self.array(f"{name}_data", dtype, (None,))
        whole = np.int32, np.int64
        indices = self.array(f"{name}_indices", whole, (len(data),), 0, shape[1] - 1)
        indptr = self.array(f"{name}_indptr", whole, (None,), 0, len(data))
        if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
            raise self.damaged(f"{name}: its row pointers do not cut the values into rows")
        if not _measures(len(indptr) - 1, shape[0]):
            raise self.damaged(f"{name} has {len(indptr) - 1} rows, expected {_in_words(shape[0])}")
        return data, indices, indptr

    def labels(self) -> NDArray:
        """Return the array ``classes``: two or more different labels, in ascending order.

        Returns
        -------
        ndarray, shape (K,)
            The labels: numbers, bools or texts.
        """
        if "classes" not in self._arrays:
            raise self.damaged("it has no classes")
        self._taken.add("classes")
        labels = self._arrays["classes"]
        if labels.ndim != 1 or labels.dtype.kind not in "biufUS" or len(labels) < 2:
            raise self.damaged(
                f"classes is {labels.dtype} of shape {labels.shape}, expected two or more labels"
            )
        if not (labels[1:] > labels[:-1]).all():
            raise self.damaged("classes are not different labels in ascending order")
        return labels

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Turn an estimator's error about its parameters into the error of a damaged file."""
        try:
            yield
        except MemoryError:
            raise self.damaged("its parameters need more memory than is free") from None
        except KmapsError as error:
            raise self.damaged(str(error)) from None

    def text(self, name: str) -> str:
        """Return a text among the learnt values.

        Parameters
        ----------
        name : str
            Name of the value in the header.

        Returns
        -------
        str
            The text. A value of another type, or none, raises InputError.
        """
        value = self.fitted.get(name)
        if not isinstance(value, str):
            raise self.damaged(f"{name} is {value!r}, expected a text")
        return value

    def feature_names(self, n_features: int) -> NDArray | None:
        """Return the names of the features, if the training samples came with some.

        `kmaps train` writes the columns of its file into the record.

        Parameters
        ----------
        n_features : int
            The number of features of the model, d.

        Returns
        -------
        ndarray of object, shape (d,), or None
            A text for each feature; None where the file has no names.
        """
        names = self.fitted.get("feature_names")
        if names is not None:
            if not _are_names(names, n_features):
                raise self.damaged(f"feature_names: expected {n_features} texts, or none")
            return np.array(names, object)
        columns = self.record.get("columns")
        return np.array(columns, object) if _are_names(columns, n_features) else None

    def normalization(self, n_features: int) -> Normalization | None:
        """Return how rows are normalised before the model sees them.

        Parameters
        ----------
        n_features : int
            The number of features of the model, d.

        Returns
        -------
        Normalization or None
            None where rows are taken as they are.
        """
        stored = self.fitted.get("normalization")
        if stored is None:
            return None
        try:
            return Normalization.from_json(stored, n_features)
        except ValueError as error:
            raise self.damaged(str(error)) from None

    def name_features(self, model: Any) -> None:
        """Give a loaded model the names of its features, and its normalisation, if it has them.

        Parameters
        ----------
        model : estimator
            It has ``n_features_in_`` and gets ``feature_names_in_`` and ``normalization_``.
        """
        normalization = self.normalization(model.n_features_in_)
        if normalization is not None:
            model.normalization_ = normalization
        names = self.feature_names(model.n_features_in_)
        if names is not None:
            model.feature_names_in_ = names

    def whole(self, name: str, low: int, high: int) -> int:
        """Return a whole number among the learnt values, within a range.

        Parameters
        ----------
        name : str
            Name of the value in the header.
        low, high : int
            The least and the largest number allowed.

        Returns
        -------
        int
            The number. Another value, or none, raises InputError.
        """
        value = self.fitted.get(name)
        if not is_whole(value, low, high):
            raise self.damaged(f"{name} is {value!r}, expected a whole number from {low} to {high}")
        return int(value)


def _are_names(names: object, n_features: int) -> bool:
    if not isinstance(names, list) or len(names) != n_features:
        return False
    return all(isinstance(name, str) for name in names)


def _measures(size: int, wanted: Size) -> bool:
    if wanted is None:
        return size > 0
    return size in (wanted if isinstance(wanted, tuple) else (wanted,))


def _in_words(wanted: Size) -> str:
    if wanted is None:
        return "any"
    return " or ".join(map(str, dict.fromkeys(wanted if isinstance(wanted, tuple) else (wanted,))))
