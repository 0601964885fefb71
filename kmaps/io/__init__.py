"""Array files: read and written block by block, never left half-written."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # For editors and type checkers, which do not see what __getattr__ loads.
    from kmaps.io.atomic import atomic_file as atomic_file
    from kmaps.io.atomic import check_target as check_target
    from kmaps.io.labelled import LabelledRows as LabelledRows
    from kmaps.io.labels import read_columns as read_columns
    from kmaps.io.labels import read_labels as read_labels
    from kmaps.io.predictions import open_predictions as open_predictions
    from kmaps.io.predictions import prediction_format as prediction_format
    from kmaps.io.stream import encode_file as encode_file
    from kmaps.io.stream import first_row as first_row
    from kmaps.io.stream import open_reader as open_reader
    from kmaps.io.stream import open_writer as open_writer
    from kmaps.io.stream import read_blocks as read_blocks
    from kmaps.io.stream import read_whole as read_whole
    from kmaps.io.stream import sample_rows as sample_rows

_PUBLIC = {
    "atomic_file": "atomic",
    "check_target": "atomic",
    "open_predictions": "predictions",
    "open_reader": "stream",
    "open_writer": "stream",
    "prediction_format": "predictions",
    "read_blocks": "stream",
    "read_columns": "labels",
    "read_labels": "labels",
    "read_whole": "stream",
    "sample_rows": "stream",
    "first_row": "stream",
    "encode_file": "stream",
    "LabelledRows": "labelled",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> object:
    # Lazily, so that writing a table does not load SciPy.
    if name in _PUBLIC:
        return getattr(import_module(f"kmaps.io.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'kmaps.io' has no attribute {name!r}")
