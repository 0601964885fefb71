"""Stand-ins for measuring a cell; importable, because they run in other processes."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from kmaps.bench.kinds.grid import Cell


def instant(cell: Cell, threads: int) -> dict[str, Any]:
    """Return at once what depends on the cell alone."""
    return {"accuracy": cell.seed / 2**31, "C": cell.C["grid"][0], "storage_bytes": cell.seed}


def logged(folder: str, seconds: float, cell: Cell, threads: int) -> dict[str, Any]:
    """Leave a file with the process's id at the start and another at the end."""
    name = cell.name.replace(" ", "_")
    Path(folder, f"{name}.{os.getpid()}.started").touch()
    time.sleep(seconds)
    Path(folder, f"{name}.{os.getpid()}.finished").touch()
    return instant(cell, threads)


def chatty(cell: Cell, threads: int) -> dict[str, Any]:
    """Print, as solvers do from C."""
    os.write(1, b"noise\n")
    print("noise", flush=True)
    return instant(cell, threads)


def broken(cell: Cell, threads: int) -> dict[str, Any]:
    """Fail with two lines for a map of order 2."""
    if cell.params == {"order": 2}:
        raise ValueError("two\n  lines")
    return instant(cell, threads)


def out_of_memory(cell: Cell, threads: int) -> dict[str, Any]:
    """End for the exact cells as the system ends a process when memory runs out."""
    if cell.method == "exact":
        os.kill(os.getpid(), signal.SIGKILL)
    return instant(cell, threads)


def gone(cell: Cell, threads: int) -> dict[str, Any]:
    """Exit without a word."""
    os._exit(7)
