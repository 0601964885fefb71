"""A function called on many items, each on some worker; results in the order in which they come."""

from asyncio import CancelledError
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from distributed import Client, KilledWorker, as_completed, get_worker


@dataclass(frozen=True)
class Called:
    """What became of an item.

    Attributes
    ----------
    number : int
        Of the item.
    result : object
        What the function returned.
    neighbours : int
        Threads of all workers on the same computer.
    lost : str
        Why there is no result: the workers that tried were lost. Otherwise empty.
    """

    number: int
    result: Any = None
    neighbours: int = 0
    lost: str = ""


def called(
    client: Client, function: Callable[[Any], Any], items: Sequence[Any]
) -> Generator[Called, None, None]:
    """Call a function on each item, on as many at a time as the workers have threads.

    The workers import the function. It is called again when its worker is lost, up to as often as
    Dask allows, three times. What the function raises is raised here; ConnectionError when the
    scheduler is lost. When the generator is closed early, no waiting item is begun.
    """
    futures = client.map(partial(_placed, function), items, pure=False)
    numbers = {future.key: number for number, future in enumerate(futures)}
    waiting = as_completed(futures)
    del futures  # a worker forgets a result that nobody refers to
    for future in waiting:
        number = numbers[future.key]
        try:
            host, result = future.result()
        except KilledWorker as error:
            yield Called(number, lost=" ".join(str(error).split()))
            continue
        except CancelledError:
            raise ConnectionError("the scheduler of the cluster was lost") from None
        threads = client.nthreads().items()
        yield Called(number, result, sum(n for address, n in threads if _host(address) == host))


def _placed(function: Callable[[Any], Any], item: Any) -> tuple[str, Any]:
    return _host(get_worker().address), function(item)


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""
