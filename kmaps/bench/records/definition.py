"""The experiment of a run beside its records, where it is none that comes with kmaps."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kmaps.data.yaml_text import write_yaml
from kmaps.io import atomic_file

FILE = "experiment.yaml"


def write_definition(folder: Path, content: Mapping[str, Any], base: Path | None) -> None:
    """Keep the YAML of an experiment beside its records.

    Parameters
    ----------
    folder : Path
    content : mapping
        Its keys without ``base``.
    base : Path or None
        The folder that the files in it are relative to, where there is one. It is kept relative to
        ``folder``, so that both can be moved together.
    """
    folder.mkdir(parents=True, exist_ok=True)
    beside = {} if base is None else {"base": os.path.relpath(base, folder.resolve())}
    with atomic_file(folder / FILE, force=True) as file:
        file.write(write_yaml({**content, **beside}).encode())


def definition_file(folder: str | Path) -> Path | None:
    """Return the experiment that is kept in a folder of records, None where there is none."""
    path = Path(folder) / FILE
    return path if path.is_file() else None
