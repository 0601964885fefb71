"""Batches, each in its own process: a crash becomes a failure, and children exit with the parent.

On Linux the processes are forked from a server (multiprocessing's forkserver) that has imported the
measuring code once, so that a batch starts in milliseconds, with the memory of a fresh process, and
without the threads of its parent. Elsewhere each process imports that code itself (spawn).
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import connection
from time import monotonic, sleep
from typing import Any, cast

# Otherwise every cell would import and set up these: seconds.
_PRELOADED = (
    "kmaps.cli.main",
    "kmaps.bench.run.first",
    "kmaps.bench.run.measure",
    "sklearn.datasets",
)

# OpenMP's threads otherwise spin while they wait. On two processors with other work to do, LIBSVM
# then took up to ten times as long, and its times said nothing.
_WAIT_POLICY = "OMP_WAIT_POLICY"

_PATIENCE_S = 30  # with a server that was killed


@dataclass(frozen=True)
class Failure:
    """Why an item of a batch has no result: the exception, or the signal that ended the process."""

    error: str
    traceback: str = ""


@dataclass(frozen=True)
class Finished:
    """An item of a batch that has ended: its result, or a :class:`Failure`; ``started`` is UTC by
    the wall clock, ``seconds`` by one that is never set back."""

    key: str
    result: Any
    started: datetime
    seconds: float


Batch = Mapping[str, Any]  # items by their keys
Function = Callable[[Batch], Iterator[tuple[str, Any]]]


class _Moment:
    """A moment: its date, and how long ago it is whatever becomes of the date."""

    def __init__(self) -> None:
        self.date = datetime.now(UTC)
        self._at = monotonic()

    @property
    def seconds_ago(self) -> float:
        return monotonic() - self._at


@dataclass
class _Running:
    child: Any
    left: dict[str, Any]
    started: _Moment


def run_batches(
    function: Function, batches: Iterable[Batch], jobs: int, preloaded: Iterable[str] = ()
) -> Generator[Finished, None, None]:
    """Call a function on batches of items, ``jobs`` at a time, each batch in its own process.

    ``function(batch)``, importable by name, yields a key and its result, which can be pickled, or
    its :class:`Failure`, for each item in order. Items are yielded as they end; when a process
    dies, the item under way has failed, and those after it start again in another process. The
    first call imports ``preloaded`` once for all processes. Closing the generator, or an exception
    in the caller's loop, kills the processes under way.
    """
    waiting = deque(dict(batch) for batch in batches)
    running: dict[connection.Connection, _Running] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                _start(function, waiting.popleft(), running, preloaded)
            # The connections that are ready are some of those given.
            for reader in cast(list[connection.Connection], connection.wait(list(running))):
                process = running[reader]
                try:
                    key, result = reader.recv()
                except EOFError:
                    yield from _ended(running.pop(reader), reader, waiting)
                    continue
                del process.left[key]
                begun = process.started
                process.started = _Moment()
                yield Finished(key, result, begun.date, begun.seconds_ago)
    finally:
        for process in running.values():
            process.child.kill()
        for process in running.values():
            process.child.join()


def _start(
    function: Function, batch: dict[str, Any], running: dict, preloaded: Iterable[str]
) -> None:
    # The server has the environment of its start, but the places of data may be newer.
    variables = {name: value for name, value in os.environ.items() if name.startswith("KMAPS_")}
    asked = _Moment()
    while True:
        context = _context(preloaded)
        reader, writer = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(writer, function, batch, variables))
        try:
            with _uninterrupted(), _starting_quietly():
                child.start()
                running[reader] = _Running(child, batch, _Moment())
            return
        except (EOFError, ConnectionError):
            # The server was killed; another one starts after the system has removed it.
            reader.close()
            if asked.seconds_ago > _PATIENCE_S:
                raise
            sleep(0.1)
        finally:
            writer.close()  # the child's end is the only one: when it dies, we read the end


def _ended(process: _Running, reader: connection.Connection, waiting: deque) -> Iterator[Finished]:
    reader.close()
    process.child.join()
    if not process.left:
        return
    key = next(iter(process.left))
    del process.left[key]
    if process.left:
        waiting.appendleft(process.left)
    failed = Failure(_end(process.child.exitcode))
    yield Finished(key, failed, process.started.date, process.started.seconds_ago)


def _context(modules: Iterable[str]) -> Any:
    """Return how processes start here; on Linux the server runs afterwards."""
    # On macOS a forked process may not use the system's libraries, such as BLAS.
    methods = multiprocessing.get_all_start_methods()
    if "forkserver" not in methods or sys.platform == "darwin":
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver, resource_tracker

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_PRELOADED, *modules])
    with _starting_quietly():
        # If the server's start started it, it would undo the server's mask against Ctrl-C.
        resource_tracker.ensure_running()
        with _uninterrupted():
            forkserver.ensure_running()
    return context


def _starting_quietly() -> AbstractContextManager[None]:
    # OpenMP reads its environment when it is loaded: in the server, or in each process.
    return starting({_WAIT_POLICY: os.environ.get(_WAIT_POLICY) or "passive"})


@contextmanager
def starting(variables: Mapping[str, str]) -> Iterator[None]:
    """Give processes that start inside variables, and a path without the working folder."""
    variables = {**variables, "PYTHONSAFEPATH": "1"}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off: a child is either not started or known to us, the server never sees it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts only the main thread
        return
    pending = []
    handler = signal.signal(signal.SIGINT, lambda *_: pending.append(True))
    # A handler alone is not inherited by the server, a mask alone does not keep other threads from
    # taking the signal for the process.
    masked = getattr(signal, "pthread_sigmask", None)  # Windows has none
    mask = masked(signal.SIG_BLOCK, {signal.SIGINT}) if masked else None
    try:
        yield
    finally:
        if masked:
            masked(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if pending:
            signal.raise_signal(signal.SIGINT)


def _end(exitcode: int) -> str:
    if exitcode >= 0:
        return f"the process ended with exit code {exitcode}"
    names = {member.value: member.name for member in signal.Signals}  # not all real-time ones
    name = names.get(-exitcode, f"signal {-exitcode}")
    hint = " (the system does that when memory runs out)" if name == "SIGKILL" else ""
    return f"the process was ended by {name}{hint}"


def _child(
    writer: connection.Connection, function: Function, batch: Batch, variables: Mapping[str, str]
) -> None:
    os.environ.update(variables)
    # Modules of the server stay loaded: no garbage collection needs to look at them again.
    gc.freeze()
    # Ctrl-C reaches the whole group, but the parent decides about its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # standard output is for the parent's data
    try:
        with suppress(BrokenPipeError):  # the parent no longer waits
            for pair in function(batch):
                writer.send(pair)
    finally:
        # Processes that a method left, such as joblib's, would wait for work for minutes.
        for process in multiprocessing.active_children():
            process.terminate()


def failure(error: Exception) -> Failure:
    """Return an exception as the failure of an item, its message in one line."""
    text = " ".join(str(error).split())
    name = type(error).__name__
    return Failure(f"{name}: {text}" if text else name, traceback.format_exc())


def _end_with_parent() -> None:
    connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
