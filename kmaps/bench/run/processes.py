"""Calls in processes of their own: one that dies is a result, one without a parent ends itself.

The processes are forked from a server (multiprocessing's forkserver) that has imported the
measuring code once, so that a call starts in milliseconds, with the memory of a fresh process, and
without the threads of its parent.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import connection, forkserver, resource_tracker
from typing import Any

Result = dict[str, Any]

_PRELOADED = ["__main__", "kmaps.bench.work.classify"]

# OpenMP's threads otherwise spin while they wait. On two processors with other work to do, LIBSVM
# then took up to ten times as long, and its times said nothing.
_WAIT_POLICY = "OMP_WAIT_POLICY"


@dataclass(frozen=True)
class Finished:
    """A call that has ended, one way or another.

    Attributes
    ----------
    key : str
    result : dict
        What the function returned, and ``status`` ``"ok"``; or ``status`` ``"failed"`` with
        ``error``, one line: the exception or the signal that ended the process, and ``traceback``.
    started : datetime
        UTC.
    seconds : float
        From starting the process to its result.
    """

    key: str
    result: Result
    started: datetime
    seconds: float


def call_each(
    function: Callable[..., Result], calls: Mapping[str, tuple], jobs: int
) -> Iterator[Finished]:
    """Call ``function(*arguments)`` for each entry, ``jobs`` at a time, each in its own process.

    Parameters
    ----------
    function : callable
        Importable by name; returns a dict that can be pickled.
    calls : mapping of str to tuple
        Arguments by key; started in this order.
    jobs : int

    Yields
    ------
    Finished
        In the order in which the calls end.

    Notes
    -----
    Closing the generator, or an exception in the caller's loop, kills the processes under way.
    """
    context = _forkserver()
    waiting = iter(calls.items())
    running: dict[connection.Connection, tuple[str, Any, datetime]] = {}
    try:
        while True:
            while len(running) < jobs and (call := next(waiting, None)):
                key, arguments = call
                reader, writer = context.Pipe(duplex=False)
                child = context.Process(target=_child, args=(writer, function, arguments))
                with _uninterrupted():
                    child.start()
                    running[reader] = key, child, datetime.now(UTC)
                writer.close()  # the child's end is the only one: when it dies, we read the end
            if not running:
                return
            for reader in connection.wait(list(running)):
                key, child, started = running.pop(reader)
                result = _result(reader, child)
                yield Finished(key, result, started, (datetime.now(UTC) - started).total_seconds())
    finally:
        for _, child, _ in running.values():
            child.kill()
        for _, child, _ in running.values():
            child.join()


def _forkserver() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    # Started by the server's start it would undo the mask that keeps Ctrl-C from the server.
    resource_tracker.ensure_running()
    chosen = os.environ.get(_WAIT_POLICY)
    os.environ[_WAIT_POLICY] = chosen or "passive"
    try:
        # OpenMP reads its environment when it is loaded, which is in the server.
        with _uninterrupted():
            forkserver.ensure_running()
    finally:
        if chosen is None:
            del os.environ[_WAIT_POLICY]
    return context


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off: a child is either not started or known to us, the server never sees it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts the main thread only
        return
    pending = []
    handler = signal.signal(signal.SIGINT, lambda *_: pending.append(True))
    # A handler alone is not inherited by the server, a mask alone does not keep other threads from
    # taking the signal for the process.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if pending:
            signal.raise_signal(signal.SIGINT)


def _result(reader: connection.Connection, child: Any) -> Result:
    with reader:
        try:
            result = reader.recv()
        except EOFError:
            result = None
    child.join()
    if result is None:
        return {"status": "failed", "error": _end(child.exitcode), "traceback": ""}
    return result


def _end(exitcode: int) -> str:
    if exitcode >= 0:
        return f"the process ended with exit code {exitcode}"
    name = signal.Signals(-exitcode).name
    hint = " (the system does that when memory runs out)" if name == "SIGKILL" else ""
    return f"the process was ended by {name}{hint}"


def _child(writer: connection.Connection, function: Callable[..., Result], arguments: tuple):
    # Ctrl-C reaches the whole group; the parent decides what becomes of the children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # standard output belongs to the parent's data
    try:
        result = {**function(*arguments), "status": "ok"}
    except Exception as error:
        text = " ".join(str(error).split())
        result = {
            "status": "failed",
            "error": f"{type(error).__name__}: {text}" if text else type(error).__name__,
            "traceback": traceback.format_exc(),
        }
    with suppress(BrokenPipeError):  # nobody waits for it any more
        writer.send(result)


def _end_with_parent() -> None:
    connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
