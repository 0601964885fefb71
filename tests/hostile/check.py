"""What must hold of any bytes that a reader is given."""

import os
import time
from pathlib import Path

from kmaps.errors import KmapsError
from tests.hostile.readers import Format

IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""A folder where there is one: on a disk, files cost as much to write as most do to be read."""

SLOWEST_S = 10  # of the processor, for a file of a kilobyte


def is_refused(name: str, form: Format, path: Path, content: bytes) -> bool:
    """Let a reader read some bytes; return whether it refuses them, in one line with their file.

    Anything else is an AssertionError: another exception, several lines, ten seconds.
    """
    path.unlink(missing_ok=True)  # to write over a file, some systems wait for the disk
    path.write_bytes(content)
    start = time.process_time()  # what other processes do is no fault of the reader
    said = None
    try:
        form.read(path)
    except KmapsError as error:
        said = str(error)
    except Exception as error:
        raise AssertionError(f"{name}: {type(error).__name__}: {content!r}") from error
    assert time.process_time() - start < SLOWEST_S, f"{name}: slow: {content!r}"
    if said is None:
        return False
    # An experiment has a line for each mistake; an archive's name is told by its caller.
    assert "\n" not in said or name == "experiment", f"{name}: {said}: {content!r}"
    named = path.name in said or name in ("archive", "packed")
    assert named, f"{name}: {said}: {content!r}"
    return True
