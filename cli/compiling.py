"""The time that the loops took to compile: once on each computer, outside all other times."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import kmaps


def compiled_folder() -> Path:
    """Return numba's cache folder by numba's rule, since importing numba takes long."""
    folder = Path(kmaps.__file__).resolve().parent / "_loops"
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given).absolute()
    if os.access(folder, os.W_OK):
        return folder / "__pycache__"
    from platformdirs import user_cache_path

    return user_cache_path("numba", appauthor=False)


@dataclass
class Compiled:
    loops: int = 0
    seconds: float = 0.0


@contextmanager
def watched(begun: Callable[[], object] = lambda: None) -> Iterator[Compiled]:
    """Count the loops that numba compiles inside a ``with`` block, not those from its cache."""
    from numba.core import event

    compiled = Compiled()

    class Watch(event.Listener):
        depth, since = 0, 0.0

        def on_start(self, event: object) -> None:
            if not compiled.loops and not self.depth:
                begun()
            if not self.depth:  # a loop compiles the loops that it calls
                self.since = perf_counter()
            self.depth += 1

        def on_end(self, event: object) -> None:
            self.depth -= 1
            compiled.loops += 1
            if not self.depth:
                compiled.seconds += perf_counter() - self.since

    with event.install_listener("numba:compile", Watch()):
        yield compiled
