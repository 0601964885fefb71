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
def compile_counter(report: Callable[[], object] = lambda: None) -> Iterator[Compiled]:
    """Count the loops that numba compiles inside a ``with`` block, not those from its cache.

    ``report`` is called when the first one begins.
    """
    from numba.core import event

    compiled = Compiled()

    class Counter(event.Listener):
        depth = 0
        start = 0.0

        def on_start(self, event: object) -> None:
            if not compiled.loops and not self.depth:
                report()
            if not self.depth:  # a loop compiles the loops that it calls
                self.start = perf_counter()
            self.depth += 1

        def on_end(self, event: object) -> None:
            self.depth -= 1
            compiled.loops += 1
            if not self.depth:
                compiled.seconds += perf_counter() - self.start

    with event.install_listener("numba:compile", Counter()):
        yield compiled
