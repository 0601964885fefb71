"""Array files: read and written block by block, never left half-written."""

from importlib import import_module

_PUBLIC = {
    "atomic_file": "atomic",
    "check_target": "atomic",
    "open_reader": "stream",
    "open_writer": "stream",
    "read_blocks": "stream",
    "read_labels": "labels",
    "sample_rows": "stream",
    "first_row": "stream",
    "encode_file": "stream",
    "LabelledRows": "labelled",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str):
    # Lazily, so that writing a table does not load SciPy.
    if name in _PUBLIC:
        return getattr(import_module(f"kmaps.io.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'kmaps.io' has no attribute {name!r}")
