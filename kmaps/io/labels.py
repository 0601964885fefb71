"""Labels in files of their own: ``.npy``, one a row."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.io.npy_header import read_header


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
        with open(path, "rb") as file:
            header = read_header(file, str(path))
            if header.dtype.hasobject:
                raise InputError(f"{path}: of Python objects; expected plain labels")
            header.check_size(os.fstat(file.fileno()).st_size, str(path))
            file.seek(0)
            labels = np.load(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if labels.ndim != 1 or labels.dtype.kind not in "biufU":
        raise InputError(
            f"{path}: holds {labels.dtype} of shape {labels.shape}, expected labels of shape (n,), "
            "numbers or words"
        )
    _refuse_no_label(labels, path)
    return whole(labels)


def _refuse_no_label(labels: NDArray, path: str | Path) -> None:
    """Refuse what is no number or no text: NaN, infinity, code points that Unicode lacks."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        place = int(np.argmin(np.isfinite(labels)))
        raise InputError(f"{path}: label {place} is {labels[place]}, expected a finite number")
    if labels.dtype.kind == "U":
        points = np.frombuffer(labels.astype(labels.dtype.newbyteorder("=")).tobytes(), np.uint32)
        # Beyond Unicode's end, or halves of pairs that UTF-8 cannot write.
        if ((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))).any():
            raise InputError(f"{path}: holds words that are no text; expected plain labels")


def whole(labels: NDArray) -> NDArray:
    """Return labels that are whole numbers, but in floating point, as integers.

    Beyond 2⁵³, where floating point skips some, they are left as they are.

    Examples
    --------
    >>> whole(np.array([1.0, -1.0]))
    array([ 1, -1])
    """
    if labels.dtype.kind == "f" and (np.abs(labels) <= 2**53).all() and not (labels % 1).any():
        return labels.astype(np.int64)
    return labels
