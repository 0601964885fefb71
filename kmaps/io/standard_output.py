"""Files of bytes written to standard output."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kmaps.errors import InputError


def refuse_terminal(form: str) -> None:
    """Refuse to write a format that is no text to standard output when that is a terminal.

    Raises
    ------
    InputError
    """
    if sys.stdout.isatty():
        raise InputError(
            f"-: {form} is no text, and standard output is a terminal; send it to a file or a pipe"
        )


@contextmanager
def standard_output(form: str, *, streams: bool) -> Iterator[tuple[BinaryIO, Path]]:
    """Open what goes to standard output, block by block or, where ``streams`` is off, at the end.

    Most formats of bytes are completed where they begin: they are written to a nameless file first,
    and none of them is sent when the block raises.

    Parameters
    ----------
    form : str
        The format, for messages.
    streams : bool
        Whether it can be written from beginning to end.

    Yields
    ------
    file : binary file
        Seekable unless it streams.
    target : Path
        A file, which is not there, in the folder that has the space.

    Raises
    ------
    InputError
        For bytes on a terminal.
    """
    target = Path(tempfile.gettempdir(), "standard output")
    if streams:
        yield sys.stdout.buffer, target
    else:
        refuse_terminal(form)
        with tempfile.TemporaryFile() as file:
            yield file, target
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    sys.stdout.buffer.flush()
