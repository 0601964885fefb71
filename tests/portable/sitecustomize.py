"""Makes Linux look like a system that is not Linux (``make test-portable``).

Python imports this at its start, in child processes too, when this folder is on PYTHONPATH. What
macOS or Windows lack is hidden from kmaps, its tests and other packages. Python's modules and the
packages of ``ADAPTED``, which have code for each system, keep what they use here. Processes still
end as on Linux: `signal.Signals` names all numbers.
"""

import builtins
import ctypes
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import types
from multiprocessing import context

PROC = {"psutil", "threadpoolctl"}
ADAPTED = {*sys.stdlib_module_names, *PROC, "click", "filelock", "locket"}
MODULES = {"fcntl", "resource", "pwd", "grp", "termios"}
# Other packages use these where `sys.platform`, which is "other" for kmaps alone, names Linux.
FROM_KMAPS = "get(loadavg|uid|euid)|fchmod|killpg|setsid|sysconf|uname|posix_.*|pread"
HIDDEN = {
    os: f"sched_.*|.*fork.*|{FROM_KMAPS}",
    signal: "SIG(?!(ABRT|FPE|ILL|INT|SEGV|TERM|_DFL|_IGN)$).*|ITIMER_.*|[gs]etitimer|pthread_.*"
    "|sig(wait.*|timedwait|pending|interrupt)|alarm|pause",
}


def _package(frame: types.FrameType) -> str:
    """Return the package that a function belongs to."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _hide(module: types.ModuleType, names: str) -> None:
    kept = {name: value for name, value in vars(module).items() if re.fullmatch(names, name)}

    def __getattr__(name: str) -> object:
        asking = _package(sys._getframe(1))
        others = asking != "kmaps" and re.fullmatch(FROM_KMAPS, name)
        if name in kept and (asking in ADAPTED or others):
            return kept[name]
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    for name in kept:
        delattr(module, name)
    module.__getattr__ = __getattr__


def _platform(name: str) -> object:
    """Be ``sys.__getattr__``: name another system to kmaps."""
    if name != "platform":
        raise AttributeError(f"module 'sys' has no attribute {name!r}")
    return "other" if _package(sys._getframe(1)) == "kmaps" else _this_system


def _without_modules(name: str, names: dict | None = None, *rest: object, **more: object) -> object:
    asking = str((names or {}).get("__name__")).partition(".")[0]
    if name in MODULES and asking not in ADAPTED:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _import(name, names, *rest, **more)


def _without_proc(event: str, arguments: tuple) -> None:
    if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith("/proc"):
        frame = sys._getframe(1)
        while frame and _package(frame) not in PROC:
            frame = frame.f_back
        if frame is None:
            raise FileNotFoundError(2, "No such file or directory", str(arguments[0]))


def _without_malloc_trim(self: ctypes.CDLL, name: str) -> object:
    if name == "malloc_trim":
        raise AttributeError(name)
    return _found(self, name)


def _with_this(self: subprocess.Popen, *given: object, env: dict | None = None, **how: object):
    """Start a process that imports this too, whatever its PYTHONPATH."""
    if env is not None:
        path = os.pathsep.join(filter(None, [os.path.dirname(__file__), env.get("PYTHONPATH")]))
        env = {**env, "PYTHONPATH": path}
    _started(self, *given, env=env, **how)


_import, builtins.__import__ = builtins.__import__, _without_modules
_found, ctypes.CDLL.__getattr__ = ctypes.CDLL.__getattr__, _without_malloc_trim
_started, subprocess.Popen.__init__ = subprocess.Popen.__init__, _with_this
sys.addaudithook(_without_proc)
_this_system, sys.__getattr__ = sys.platform, _platform
del sys.platform
for _module, _names in HIDDEN.items():
    _hide(_module, _names)
context._concrete_contexts = {"spawn": context._concrete_contexts["spawn"]}
context._default_context._default_context = context._concrete_contexts["spawn"]
context.DefaultContext.get_all_start_methods = lambda self: ["spawn"]
multiprocessing.get_all_start_methods = lambda: ["spawn"]
if hasattr(os, "process_cpu_count"):  # since Python 3.13
    os.process_cpu_count = os.cpu_count
