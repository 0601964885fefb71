"""Array files: read and written block by block, never left half-written.

=============  =====================================================================================
files to read  ``open_reader`` opens one (`Reader`), ``read_blocks``, ``read_whole``, ``first_row``
               and ``sample_rows`` read it; ``LabelledRows`` reads it as often as training needs,
               ``finite_block`` checks one block; ``encode_file`` maps it into another
labels         ``read_labels``, ``read_columns``, ``typed_labels``, ``whole_labels``,
               ``check_label_kind``, ``few_labels``
to write       ``output_format``, ``open_writer``; for predictions ``prediction_format``,
               ``open_predictions``; for anything ``atomic_file``, ``atomic_folder``,
               ``check_target``, ``remove_unfinished``, ``refuse_terminal``
=============  =====================================================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # For editors and type checkers, which do not see what __getattr__ loads.
    from kmaps.io.atomic import atomic_file as atomic_file
    from kmaps.io.atomic import atomic_folder as atomic_folder
    from kmaps.io.atomic import check_target as check_target
    from kmaps.io.atomic import remove_unfinished as remove_unfinished
    from kmaps.io.labelled import LabelledRows as LabelledRows
    from kmaps.io.labels import check_label_kind as check_label_kind
    from kmaps.io.labels import few_labels as few_labels
    from kmaps.io.labels import read_columns as read_columns
    from kmaps.io.labels import read_labels as read_labels
    from kmaps.io.labels import typed_labels as typed_labels
    from kmaps.io.labels import whole_labels as whole_labels
    from kmaps.io.predictions import open_predictions as open_predictions
    from kmaps.io.predictions import prediction_format as prediction_format
    from kmaps.io.reader import Reader as Reader
    from kmaps.io.reader import finite_block as finite_block
    from kmaps.io.standard_output import refuse_terminal as refuse_terminal
    from kmaps.io.stream import encode_file as encode_file
    from kmaps.io.stream import first_row as first_row
    from kmaps.io.stream import open_reader as open_reader
    from kmaps.io.stream import open_writer as open_writer
    from kmaps.io.stream import output_format as output_format
    from kmaps.io.stream import read_blocks as read_blocks
    from kmaps.io.stream import read_whole as read_whole
    from kmaps.io.stream import sample_rows as sample_rows

_PUBLIC = {
    "atomic": ["atomic_file", "atomic_folder", "check_target", "remove_unfinished"],
    "labelled": ["LabelledRows"],
    "labels": [
        *("check_label_kind", "few_labels", "read_columns", "read_labels"),
        *("typed_labels", "whole_labels"),
    ],
    "predictions": ["open_predictions", "prediction_format"],
    "reader": ["Reader", "finite_block"],
    "standard_output": ["refuse_terminal"],
    "stream": [
        *("encode_file", "first_row", "open_reader", "open_writer", "output_format"),
        *("read_blocks", "read_whole", "sample_rows"),
    ],
}
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    # Lazily, so that writing a table does not load SciPy.
    if name in _HOMES:
        return getattr(import_module(f"kmaps.io.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'kmaps.io' has no attribute {name!r}")
