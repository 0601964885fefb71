"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kmaps.errors import InputError


def check_target(path: str | Path, *, force: bool = False) -> Path:
    """Return the file that ``path`` names, links followed, when it may be written.

    Parameters
    ----------
    path : str or Path
    force : bool
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        When the file exists and ``force`` is off, is no regular file, or has no folder.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: not a regular file; give the name of a file to write")
    if target.exists() and not force:
        raise InputError(f"{path}: exists already; choose another name, or pass force=True")
    if not target.parent.is_dir():
        raise InputError(f"{path}: there is no folder {target.parent}; make it first")
    return target


@contextmanager
def atomic_file(path: str | Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only once it is complete and on the disk.

    It is written beside its target under another name and renamed when the block ends well;
    when the block raises, nothing is left.

    Parameters
    ----------
    path : str or Path
    force : bool
        Whether an existing file may be replaced.

    Yields
    ------
    binary file
        Open for writing and reading.

    Raises
    ------
    InputError
        As :func:`check_target`, before the block and once more before the rename.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_file(f"{folder}/a.txt") as file:
    ...         _ = file.write(b"whole")
    ...         before = os.path.exists(f"{folder}/a.txt")
    ...     before, os.listdir(folder)
    (False, ['a.txt'])
    """
    target = check_target(path, force=force)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(partial, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_target(path, force=force)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
