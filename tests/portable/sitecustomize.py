"""Makes Linux look like a system that is not Linux, to the code of kmaps (``make test-portable``).

Python imports this at its start, in child processes too, when this folder is on PYTHONPATH. What
macOS or Windows lack is hidden from modules of kmaps only: Python's modules and psutil, which have
an implementation for each system, keep what they use here.
"""

import builtins
import ctypes
import importlib.abc
import io
import multiprocessing
import multiprocessing.context
import os
import signal
import sys
import types

MODULES = ("fcntl", "resource", "pwd", "grp", "termios")
HIDDEN = {
    os: {
        "sched_getaffinity",
        "sched_setaffinity",
        "getloadavg",
        "fchmod",
        "fork",
        "killpg",
        "setsid",
        "sysconf",
        "uname",
        "getuid",
        "geteuid",
        "posix_fallocate",
        "pread",
    },
    signal: {"SIGHUP", "SIGKILL", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGQUIT", "pthread_sigmask"},
}


def _is_kmaps(depth: int) -> bool:
    """Whether the function ``depth`` calls above belongs to kmaps."""
    return str(sys._getframe(depth + 1).f_globals.get("__name__")).split(".")[0] == "kmaps"


class _Lacking(types.ModuleType):
    """A module without some of its names, for kmaps."""

    def __getattribute__(self, name: str) -> object:
        if name in HIDDEN[sys.modules[super().__getattribute__("__name__")]] and _is_kmaps(1):
            raise AttributeError(f"module has no attribute {name!r}")
        return super().__getattribute__(name)


class _OtherSystem(types.ModuleType):
    """The module sys, which names another system to kmaps."""

    def __getattribute__(self, name: str) -> object:
        if name == "platform" and _is_kmaps(1):
            return "other"
        return super().__getattribute__(name)


class _Missing(importlib.abc.MetaPathFinder):
    """Finds none of the modules that other systems lack, for kmaps and filelock."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        importer = sys._getframe(1)
        while importer and "importlib" in str(importer.f_globals.get("__name__")):
            importer = importer.f_back
        asking = str(importer.f_globals.get("__name__")).split(".")[0] if importer else ""
        if name in MODULES and asking in ("kmaps", "filelock"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _no_proc(function):
    def opened(path, *args, **kwargs):
        if str(path).startswith("/proc") and _is_kmaps(1):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return function(path, *args, **kwargs)

    return opened


def _without_malloc_trim(self: ctypes.CDLL, name: str) -> object:
    if name == "malloc_trim":
        raise AttributeError(name)
    return _found(self, name)


_found = ctypes.CDLL.__getattr__
ctypes.CDLL.__getattr__ = _without_malloc_trim
for _module in HIDDEN:
    _module.__class__ = _Lacking
sys.__class__ = _OtherSystem
for _name in MODULES:
    sys.modules.pop(_name, None)
sys.meta_path.insert(0, _Missing())
builtins.open = io.open = _no_proc(open)
multiprocessing.context.DefaultContext.get_all_start_methods = lambda self: ["spawn"]
multiprocessing.get_all_start_methods = lambda: ["spawn"]
