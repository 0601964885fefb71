"""Labels in files of their own: ``.npy``, one a row."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError


def read_labels(path: str | Path) -> NDArray:
    """Read labels: numbers or words, shape (n,), from a ``.npy`` file.

    Raises
    ------
    InputError
        When the file is missing, damaged, or holds something else.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/y.npy", np.array(["cat", "dog"]))
    ...     read_labels(f"{folder}/y.npy").tolist()
    ['cat', 'dog']
    """
    if Path(path).suffix.lower() != ".npy":
        raise InputError(f"{path}: labels come in a .npy file (or within a .svm file)")
    try:
        labels = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, EOFError) as error:
        reason = "of Python objects" if "pickle" in str(error) else "not a whole .npy file"
        raise InputError(f"{path}: {reason}; expected plain labels") from None
    if labels.ndim != 1 or labels.dtype.kind not in "biufU":
        raise InputError(
            f"{path}: holds {labels.dtype} of shape {labels.shape}, expected labels of shape (n,), "
            "numbers or words"
        )
    return whole(labels)


def whole(labels: NDArray) -> NDArray:
    """Return labels that are whole numbers, but in floating point, as integers.

    Examples
    --------
    >>> whole(np.array([1.0, -1.0]))
    array([ 1, -1])
    """
    if (
        labels.dtype.kind == "f"
        and (labels == np.floor(labels)).all()
        and np.isfinite(labels).all()
    ):
        return labels.astype(np.int64)
    return labels
