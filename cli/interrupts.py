"""Ctrl-C in long compiled loops, in which Python does not look at signals."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
GRACE_S = 3.0
"""Seconds in which work may end by itself, and tidy up."""


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
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    ended = threading.Event()

    def watch() -> None:
        while received := receiver.recv(1):
            if received[0] == signal.SIGINT and not ended.wait(GRACE_S):
                os.write(2, b"interrupted\n")
                sys.stdout.flush()
                os._exit(INTERRUPTED)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        sender.close()
        watching.join()
        receiver.close()
