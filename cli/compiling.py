"""The time that the loops took to compile: once on each computer, outside all other times."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter


@dataclass
class Compiled:
    """How many loops were compiled, and the seconds that it took."""

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
