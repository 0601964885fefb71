"""Files and folders that appear whole or not at all, standard output, and texts read whole."""

import errno
import io
import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, cast

from kmaps.errors import InputError, printable

MOST_TEXT = 1 << 30  # bytes of a text that is read whole
_SUFFIX = ".part"
# Bytes of names: with all additions they are no longer than 255.
_LONGEST_STEM = 120
_LONGEST_NODE = 60


def check_target(path: str | Path, *, force: bool = False) -> Path:
    """Return the file that ``path`` names, links followed, when it may be written.

    Parameters
    ----------
    path : str or Path
        The file to write.
    force : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        With links followed.

    Raises
    ------
    InputError
        When the file exists and ``force`` is off, is no regular file, has no folder, or one in
        which nothing may be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not a regular file; give the name of a file to write")
    if target.exists() and not force:
        raise InputError(f"{path}: exists already; choose another name, or pass force=True")
    if not target.parent.is_dir():
        raise InputError(f"{path}: its folder {target.parent} does not exist; make it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(
            f"{path}: the folder {target.parent} cannot be written; choose another one, or change "
            "its permissions"
        )
    return target


def check_source(path: str | Path) -> None:
    """Refuse other than regular files before opening them: a pipe would wait, a device not end."""
    source = Path(path)
    if not source.exists():
        raise InputError(f"{path}: no such file")
    if source.is_dir():
        raise InputError(f"{path}: is a folder, expected a file")
    if not source.is_file():
        raise InputError(f"{path}: is a device or a pipe, expected a file; copy it")


def read_text(path: str | Path) -> str:
    """Return the text of a regular file in UTF-8; refuse one of more than a gibibyte.

    Parameters
    ----------
    path : str or Path
        The file; a byte-order mark is dropped.

    Returns
    -------
    str

    Raises
    ------
    InputError
        When it is no regular file, too long, cannot be read, or is not UTF-8.
    """
    check_source(path)
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_TEXT + 1)
        if len(content) > MOST_TEXT:
            raise InputError(f"{path}: has more than {MOST_TEXT:,} bytes, which is too long")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a text in UTF-8 ({error.reason})") from None


_FULL = (errno.ENOSPC, errno.EFBIG, *([errno.EDQUOT] if sys.platform != "win32" else []))
"""The errors of a disk, a file or a share of a disk that is full."""


@contextmanager
def naming_full_disks(path: str | Path) -> Iterator[None]:
    """Give an error of a full disk the name of the file that a block writes.

    The system names no file when a write fails. An error with the name of another file keeps it.

    Parameters
    ----------
    path : str or Path
        The file as the user knows it.
    """
    try:
        yield
    except OSError as error:
        has_other_name = error.filename is not None and not str(error.filename).endswith(_SUFFIX)
        if error.errno not in _FULL or has_other_name:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def atomic_file(path: str | Path, *, force: bool = False, tidy: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only once it is complete and on the disk.

    It is written next to its target under another name and renamed when the block ends well; when
    the block raises, nothing is left. A replaced file keeps its permissions. Leftovers of a
    killed process are deleted by the next process that writes the file.

    Parameters
    ----------
    path : str or Path
    force : bool
        Whether an existing file may be replaced.
    tidy : bool
        Whether to look for leftovers of this file, which takes longer with more files in the
        folder; :func:`remove_unfinished` does it for all files at once.

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
    partial = _unfinished(target, tidy)
    try:
        # A new file with an unpredictable name: nobody can plant a link there beforehand.
        with naming_full_disks(path), open(partial, "x+b") as file:
            if target.exists():
                os.chmod(partial, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_target(path, force=force)
        try:
            os.replace(partial, target)
        except PermissionError:
            reason = "is it open in a program, or read-only?"
            raise InputError(f"{path}: cannot be replaced: {reason}") from None
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Make a folder that takes its name only when the block has filled it completely.

    Yields the folder by another name. Nothing may be at ``path``: folders are never replaced.

    Parameters
    ----------
    path : str or Path
        The name that the folder takes.

    Yields
    ------
    Path

    Raises
    ------
    InputError
        As :func:`check_target`, and when something is at ``path``.
    """
    if os.path.lexists(path):
        raise InputError(f"{path}: exists already; folders are never replaced, choose another name")
    target = check_target(path)
    partial = _unfinished(target)
    try:
        with naming_full_disks(path):
            partial.mkdir()
            yield partial
            partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _unfinished(target: Path, tidy: bool = True) -> Path:
    """Return the name of an unfinished file or folder; delete leftovers of dead processes."""
    # Whole characters of UTF-8, in the encoding of names, which may be ASCII.
    whole = os.fsencode(target.name)[:_LONGEST_STEM].decode(errors="ignore")
    name = os.fsdecode(whole.encode())
    stem = f".{name}.{_node()}"
    if tidy:
        _remove_of_the_dead(target.parent, lambda other: other == stem)
    return target.with_name(f"{stem}.{os.getpid()}.{token_hex(8)}{_SUFFIX}")


def remove_unfinished(folder: Path) -> None:
    """Delete the unfinished files that dead processes of this computer left in a folder.

    Parameters
    ----------
    folder : Path
        It need not exist.
    """
    if folder.is_dir():
        node = f".{_node()}"
        _remove_of_the_dead(folder, lambda stem: stem.startswith(".") and stem.endswith(node))


def _node() -> str:
    return platform.node()[:_LONGEST_NODE]


def _remove_of_the_dead(folder: Path, is_ours: Callable[[str], bool]) -> None:
    """Delete the unfinished files of dead processes, by the part of the name before the process."""
    # A run has thousands of files: one pass over their names is enough.
    for name in os.listdir(folder):
        if not name.endswith(_SUFFIX):
            continue
        stem, _, process = name.removesuffix(_SUFFIX).rpartition(".")[0].rpartition(".")
        if process.isdecimal() and is_ours(stem):
            from psutil import pid_exists

            if pid_exists(int(process)):
                continue
            leftover = folder / name
            if leftover.is_dir() and not leftover.is_symlink():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)


def refuse_terminal(form: str) -> None:
    """Refuse to write a format that is no text to standard output when that is a terminal.

    Parameters
    ----------
    form : str
        The format, as the message names it.

    Raises
    ------
    InputError
        When standard output is a terminal.
    """
    if sys.stdout.isatty():
        raise InputError(
            f"-: {form} is not text, and standard output is a terminal; send it to a file or a pipe"
        )


class _Terminal(io.BufferedIOBase):
    """Standard output as a file of bytes, whose control characters are shown."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        text = bytes(data).decode(errors="surrogateescape")
        sys.stdout.buffer.write(printable(text).encode(errors="surrogateescape"))
        return len(data)


@contextmanager
def standard_output(form: str, *, streams: bool) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a file whose bytes go to standard output: at once if the format ``form`` ``streams``.

    Other formats are completed where they begin: they go to a nameless file first, which is not
    sent when the block raises. Yields the file, and a path in the folder that has the space.
    """
    target = Path(tempfile.gettempdir(), "standard output")
    if streams:
        yield cast(BinaryIO, _Terminal()) if sys.stdout.isatty() else sys.stdout.buffer, target
    else:
        refuse_terminal(form)
        with tempfile.TemporaryFile() as file:
            yield file, target
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    sys.stdout.buffer.flush()
