"""How work is timed: it says what a piece of it is, the runner's clock times it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Timing(Protocol):
    """What a measurement calls; :class:`kmaps.bench.run.clock.Clock` is the one that measures."""

    def begin(self) -> None:
        """Begin the part whose memory and warnings count; what came before prepared it."""

    def timed(self, column: str) -> AbstractContextManager[None]:
        """Note the seconds that a block takes, in a column of the record."""

    def best(self, column: str, call: Callable[[], Result], repeats: int) -> Result:
        """Make a call several times and note the least seconds; return what it returned last."""

    def seconds(self, call: Callable[[], Result]) -> tuple[Result, float]:
        """Make a call; return what it returned and the seconds it took, which are not noted."""

    def note(self, **seconds: float) -> None:
        """Note seconds by column; of a column that is noted several times the mean counts."""

    def trained(self) -> None:
        """Note the peak of memory so far, as that of training."""


class Untimed:
    """A timing that notes nothing, for warm-ups and tests."""

    def begin(self) -> None:
        """Do nothing."""

    def timed(self, column: str) -> AbstractContextManager[None]:
        """Return a context that does nothing."""
        return nullcontext()

    def best(self, column: str, call: Callable[[], Result], repeats: int) -> Result:
        """Make the call once."""
        return call()

    def seconds(self, call: Callable[[], Result]) -> tuple[Result, float]:
        """Make the call; it took no time."""
        return call(), 0.0

    def note(self, **seconds: float) -> None:
        """Do nothing."""

    def trained(self) -> None:
        """Do nothing."""


UNTIMED = Untimed()
