"""Figures of records, in one style; the check of their file names imports no matplotlib."""

from pathlib import Path

from kmaps.errors import InputError
from kmaps.io import check_target

SUFFIXES = (".png", ".svg", ".pdf")


def check_figure(path: Path, *, force: bool = False) -> None:
    """Refuse a figure that cannot be written, before anything is measured or drawn."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the name of a figure ends in .png, .svg or .pdf")
    check_target(path, force=force)
