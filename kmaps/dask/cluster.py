"""The cluster that a user names, whose workers call a function on many items."""

import asyncio
import concurrent.futures
import logging
import platform
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import dask
from distributed import Client, KilledWorker, LocalCluster, as_completed, get_worker

from kmaps.errors import ConfigError

_PATIENCE_S = 10
_LOST = "the scheduler of the cluster was lost: start one and try again"
# Depending on its version, Dask raises one of these for unfinished work.
_CANCELLED = asyncio.CancelledError, concurrent.futures.CancelledError


@contextmanager
def answering() -> Iterator[None]:
    """Raise ConnectionError, with one line, if the cluster does not answer any more."""
    try:
        yield
    except _CANCELLED:
        raise ConnectionError(_LOST) from None
    except KilledWorker as error:
        raise ConnectionError(
            "a task was given up because its workers were lost, as when memory runs out: "
            + " ".join(str(error).split())
        ) from None


@contextmanager
def connected(cluster: str) -> Iterator[Client]:
    """Connect to a cluster; Dask computes on it inside the block.

    Another text, no answer, or a worker on another system raises ConfigError; a lost scheduler
    raises ConnectionError.

    Parameters
    ----------
    cluster : str
        The address of a scheduler (``tcp://host:8786``), or ``local:N`` for N worker processes of
        one thread on this computer, which end with the block.

    Yields
    ------
    distributed.Client
        The client, which is the current one inside the block.
    """
    local = re.fullmatch(r"local:([1-9]\d*)", cluster)
    if local:
        with (
            # Experiments measure cells in child processes, which a daemon may not start.
            dask.config.set({"distributed.worker.daemon": False}),
            LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as workers,
            Client(workers) as client,
            answering(),
        ):
            try:
                yield client
            finally:  # Dask may end in an assertion if it closes a worker whose restart has begun
                with suppress(OSError):
                    client.wait_for_workers(int(local[1]), timeout=_PATIENCE_S)
        return
    if not re.fullmatch(r"[a-z]+://\S+", cluster):
        raise ConfigError(
            f"cluster={cluster!r}: expected the address of a Dask scheduler, such as "
            "tcp://host:8786, or local:N for N workers on this computer"
        )
    try:
        client = Client(cluster, timeout=_PATIENCE_S)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"cluster={cluster!r}: no Dask scheduler answers ({reason})") from None
    for name in ("distributed", "distributed.client"):  # both print tracebacks
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with client, answering():
        for system in client.run(platform.system).values():
            _check_system(system, platform.system())
        yield client


def _check_system(worker: str, driver: str) -> None:
    """Refuse a worker whose system, with its processes and paths, is not the driver's."""
    if worker != driver:
        raise ConfigError(f"a worker runs on {worker}, and the command on {driver}: use one system")


@dataclass(frozen=True)
class Called:
    """The result of an item, or its failure."""

    number: int  # the item's number
    result: Any = None
    neighbours: int = 0  # threads of all workers on the same computer
    lost: str = ""  # if there is no result: how the workers that tried were lost


def called(
    client: Client, function: Callable[[Any], Any], items: Sequence[Any]
) -> Generator[Called, None, None]:
    """Call a function on each item, on as many at a time as the workers have threads.

    The workers import the function. If a worker is lost, another one calls the function again, as
    often as Dask allows: three times. Errors of the function are raised here; a lost scheduler
    raises ConnectionError. If the generator is closed early, no waiting item is started.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    function : callable
        A function of one argument, an item.
    items : sequence of object
        The items, which are sent to the workers.

    Yields
    ------
    Called
        The result of an item with the item's number, or how its workers were lost, in the order in
        which the items end.
    """
    futures = client.map(partial(_placed, function, platform.system()), items, pure=False)
    numbers = {future.key: number for number, future in enumerate(futures)}
    waiting = as_completed(futures)
    del futures  # workers delete results without references
    for future in waiting:
        number = numbers[future.key]
        try:
            host, result = future.result()
        except KilledWorker as error:
            yield Called(number, lost=" ".join(str(error).split()))
            continue
        except _CANCELLED:
            raise ConnectionError(_LOST) from None
        threads = client.nthreads().items()
        yield Called(number, result, sum(n for address, n in threads if _host(address) == host))


def _placed(function: Callable[[Any], Any], driver: str, item: Any) -> tuple[str, Any]:
    _check_system(platform.system(), driver)  # the worker may have joined later
    return _host(get_worker().address), function(item)


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""
