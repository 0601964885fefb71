"""Files that appear whole or not at all."""

import glob
import os
import platform
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from kmaps.errors import InputError

_SUFFIX = ".part"
_LONGEST_STEM, _LONGEST_NODE = (
    120,
    60,
)  # bytes of names: with what is added they are no longer than 255


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

    It is written beside its target under another name and renamed when the block ends well; when
    the block raises, nothing is left. A file that is replaced keeps its permissions, and what a
    process left behind that was killed meanwhile is deleted by the next one that writes the file.

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
    _remove_of_the_dead(target)
    # A name that cannot be foreseen, and a new file: nothing planted there is written through.
    partial = target.with_name(f"{_stem(target)}{os.getpid()}.{token_hex(8)}{_SUFFIX}")
    try:
        handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "w+b") as file:
            if target.exists():
                os.fchmod(handle, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_target(path, force=force)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _stem(target: Path) -> str:
    """Return what the temporary names of a file begin with, those of this machine's processes."""
    name = os.fsencode(target.name)[:_LONGEST_STEM].decode(errors="ignore")
    return f".{name}.{platform.node()[:_LONGEST_NODE]}."


def _remove_of_the_dead(target: Path) -> None:
    """Delete what processes of this machine left behind that ended while they wrote this file."""
    if not Path("/proc/self").exists():
        return
    stem = _stem(target)
    for path in target.parent.glob(f"{glob.escape(stem)}*{_SUFFIX}"):
        process = path.name.removeprefix(stem).partition(".")[0]
        if process.isdigit() and not Path("/proc", process).exists():
            path.unlink(missing_ok=True)
