"""Ctrl-C in long compiled loops, in which Python does not look at signals, and in imports."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
GRACE_S = 3.0
"""Seconds in which work may end by itself, and tidy up."""


_pressed = threading.Event()


def note_interrupts() -> None:
    """Note Ctrl-C from now on, which still raises KeyboardInterrupt.

    Packages that catch everything while they look for others lose it: `raise_noted` raises it
    again where work begins or goes on.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)


def _note(number: int, frame: FrameType | None) -> None:
    _pressed.set()
    signal.default_int_handler(number, frame)


def raise_noted() -> None:
    """Raise KeyboardInterrupt, in the main thread, if Ctrl-C was pressed."""
    if _pressed.is_set() and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


@contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """End the process, with the exit code of an interrupted one, soon after Ctrl-C.

    Python raises KeyboardInterrupt in the main thread, once that leaves the compiled loop. If it
    does not within the grace period, another thread ends the process. Only for work that leaves no
    unfinished files and no processes behind.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    raise_noted()
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    previous_fd = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    ended = threading.Event()

    def watch() -> None:
        while received := receiver.recv(1):
            if received[0] == signal.SIGINT and not ended.wait(GRACE_S):
                os.write(2, b"interrupted\n")
                sys.stdout.flush()
                os._exit(INTERRUPTED)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(previous_fd)
        sender.close()
        watcher.join()
        receiver.close()
