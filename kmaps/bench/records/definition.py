"""The experiment of a run beside its records, where it is none that comes with kmaps."""

from pathlib import Path

from kmaps.io import atomic_file

FILE = "experiment.yaml"


def write_definition(folder: Path, text: str) -> None:
    """Keep the YAML of an experiment beside its records; nothing for an empty text."""
    if text:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(folder / FILE, force=True) as file:
            file.write(text.encode())


def definition_file(folder: str | Path) -> Path | None:
    """Return the experiment that is kept in a folder of records, None where there is none."""
    path = Path(folder) / FILE
    return path if path.is_file() else None
