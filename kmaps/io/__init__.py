"""Array files: read and written block by block, never left half-written."""

from kmaps.io.atomic import atomic_file, check_target

__all__ = ["atomic_file", "check_target"]
