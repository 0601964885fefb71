"""What `make test-portable` hides is hidden, in child processes too, whatever their PYTHONPATH."""

import ctypes
import multiprocessing
import os
import signal
from pathlib import Path

import psutil
import pytest
from commands import python

from kmaps.bench.run import processes
from tests.portable.__main__ import SKIPPED

NAMES = "import os, signal; print([one for one in (*dir(os), *dir(signal)) if 'fork' in one])"
KEPT = {f"SIG{name}" for name in ("ABRT", "FPE", "ILL", "INT", "SEGV", "TERM", "_DFL", "_IGN")}


def test_names():
    assert len(SKIPPED) <= 10
    hidden = ("sched_", "fork", "SIG", "setitimer", "pthread_", "sigwait")
    assert {one for one in (*dir(os), *dir(signal)) if one.startswith(hidden)} == KEPT
    assert not any(map(hasattr, (os, signal), ("fork", "SIGKILL")))
    assert eval("sys.platform", vars(processes)) == "other"
    assert python("-c", NAMES) == "[]\n"


@pytest.mark.parametrize("name", ["fcntl", "resource"])
def test_modules(name):
    psutil.Process().rlimit(psutil.RLIMIT_NOFILE)  # psutil has imported them
    with pytest.raises(ModuleNotFoundError):
        __import__(name)


def test_files_memory_and_processes():
    assert psutil.Process().memory_info().rss > 0
    for look in (Path.read_text, lambda path: list(path.parent.iterdir()), open):
        with pytest.raises(FileNotFoundError):
            look(Path("/proc/cpuinfo"))
    assert not hasattr(ctypes.CDLL(None), "malloc_trim")
    assert multiprocessing.get_all_start_methods() == [multiprocessing.get_start_method()]
    for name in ("fork", "forkserver"):
        with pytest.raises(ValueError, match="cannot find context"):
            multiprocessing.get_context(name)
