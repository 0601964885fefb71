"""Where compiled loops are kept when numba finds no folder: it raises an error then."""

import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

_LOOPS = Path(__file__).resolve().parent / "_loops"


def compiled_folder() -> Path:
    """Return the folder of the compiled loops by numba's rule, without importing numba.

    It is NUMBA_CACHE_DIR, else next to the loops, else the user's folder for caches, whichever is
    the first that can be written; else a temporary folder of the user.

    Returns
    -------
    Path
        The folder, which need not exist yet.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(chosen).absolute()] if chosen else []
    folders += [_LOOPS / "__pycache__", user_cache_path("numba", appauthor=False)]
    for folder in folders:
        if _is_writable(folder):
            return folder
    return temporary_folder()


def _is_writable(folder: Path) -> bool:
    """Return whether a folder, or the nearest one that exists, can be written."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK)


def temporary_folder() -> Path:
    """Return the folder of the user among the temporary ones, which nobody else may write."""
    user = os.getlogin() if sys.platform == "win32" else os.getuid()
    return Path(tempfile.gettempdir(), f"kmaps-numba-{user}")


def make_temporary_folder(subfolder: str) -> Path | None:
    """Make the temporary folder; return it, or None where there is no place for one.

    A new one gets the files that were compiled next to the loops, in ``subfolder``, where numba
    looks for them: so loops that were compiled while an image was built are used by users who
    cannot write there. A folder that others could write, or that is another user's, is not used.
    """
    folder = temporary_folder()
    try:
        if not folder.exists():
            new_folder = Path(tempfile.mkdtemp(prefix="kmaps-numba-"))
            (new_folder / subfolder).mkdir()
            for file in (_LOOPS / "__pycache__").glob("*.nb[ic]"):
                shutil.copyfile(file, new_folder / subfolder / file.name)
            try:
                new_folder.rename(folder)
            except OSError:  # another process was first
                shutil.rmtree(new_folder, ignore_errors=True)
        return folder if _is_own(folder) else Path(tempfile.mkdtemp(prefix="kmaps-numba-"))
    except OSError:
        return None


def _is_own(folder: Path) -> bool:
    """Return whether a folder, which is no link, belongs to this user, and others cannot write."""
    status = folder.lstat()
    if sys.platform == "win32":
        return stat.S_ISDIR(status.st_mode)
    others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not others
