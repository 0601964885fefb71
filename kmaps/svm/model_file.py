"""Models in files: arrays in an ``.npz`` with a header in JSON; nothing in it is ever executed."""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.io import atomic_file

FORMAT = "kmaps model"
VERSION = 1


def write_model(
    path: str | Path, header: dict[str, Any], arrays: dict[str, NDArray], *, force: bool
) -> None:
    """Write a model; ``header`` is of what JSON can say.

    Raises
    ------
    InputError
        When the file exists and ``force`` is off, or for arrays of Python objects.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InputError(f"{name}: of Python objects, which no model file holds")
    header = {"format": FORMAT, "version": VERSION, **header}
    text = json.dumps(header, default=lambda scalar: scalar.item())
    with atomic_file(path, force=force) as file:
        np.savez(file, header=np.frombuffer(text.encode(), np.uint8), **arrays)


def read_model(
    path: str | Path, needed: Iterable[str]
) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Return the header and the arrays of a model, among them those that are ``needed``.

    Raises
    ------
    InputError
        When the file is missing, damaged, no model, or of another version.
    """
    damaged = InputError(
        f"{path}: no kmaps model, or a damaged one (cut off?); train and save it again"
    )
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
        known, version = header["format"] == FORMAT, header["version"]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        raise damaged from None
    if not known:
        raise damaged
    if version != VERSION:
        raise InputError(
            f"{path}: a model of version {version}, this kmaps reads version {VERSION}; train it "
            "again, or use the kmaps that wrote it"
        )
    if not arrays.keys() >= set(needed):
        raise damaged
    return header, arrays
