"""How loops are compiled, and kept on disk until their sources change.

numba keeps the machine code of a function in files that it names after the function's module,
qualified name and line, and takes it as long as the source of that module is the same. For these
loops that is not enough. The code of a loop contains the loops of other modules that it calls, so
that it must not outlive a change of those. And numba reads the types of the arguments before it
compares the sources, which fails when a type is no longer where it was. Here the qualified name
ends in a digest of all these sources, so that a change of any of them leads to other files.

Where numba finds no folder that it may write, in a container with a read-only root for instance, it
raises an error; then the files go to a temporary folder of the user, which one warning names.
"""

import ast
import pkgutil
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import sha256

from numba import config, njit
from numba.core.caching import UserProvidedCacheLocator

from kmaps.loop_cache import make_temporary_folder


def loop(**options: object) -> Callable[[Callable], Callable]:
    """Return a decorator that compiles a loop when it is called, or takes it from the disk.

    ``options`` are numba's, such as ``inline="always"``. The loop runs without the GIL. It has no
    entry from C, which nobody takes and which takes time to compile.
    """

    def compiled(function: Callable) -> Callable:
        function.__qualname__ += f"_{source_digest(function.__module__)}"
        own = njit(cache=keeps_files(), nogil=True, no_cfunc_wrapper=True, **options)
        return own(function)

    return compiled


def inner(**options: object) -> Callable[[Callable], Callable]:
    """Return a decorator as `loop` does, for a function that only loops call.

    It has no entry from Python, which takes as long to compile as the rest of a short function.
    """
    return loop(no_cpython_wrapper=True, **options)


@cache
def keeps_files() -> bool:
    """Return whether there is a folder for the files of compiled loops; find one if need be."""

    def probe() -> None:
        """Do nothing: numba looks for a folder when it decorates a function."""

    try:
        njit(cache=True)(probe)
    except RuntimeError:
        pass
    else:
        return True
    folder = make_temporary_folder(UserProvidedCacheLocator.get_suitable_cache_subpath(__file__))
    if folder is None:
        place = "compiled loops are not kept"
    else:
        config.CACHE_DIR = str(folder)
        place = f"compiled loops are kept in {folder}"
    warnings.warn(
        f"numba may write to no folder of its own: {place}; NUMBA_CACHE_DIR names another folder",
        RuntimeWarning,
        stacklevel=2,
    )
    return folder is not None


@cache
def source_digest(module: str) -> str:
    """Return a digest of the sources of a module and of those that it imports of its package."""
    package, _, name = module.rpartition(".")
    sources: dict[str, bytes] = {}
    unread = [name]
    while unread:
        name = unread.pop()
        if name not in sources:
            sources[name] = _source(package, name)
            unread += _imported(package, name)
    digest = sha256()
    for name in sorted(sources):
        digest.update(sources[name])
    return digest.hexdigest()[:16]


@cache
def _source(package: str, name: str) -> bytes:
    source = pkgutil.get_data(package, f"{name}.py")
    if source is None:
        raise ImportError(f"{package}.{name} has no source, which numba needs, too")
    return source


@cache
def _imported(package: str, name: str) -> list[str]:
    """Return the names of the modules of a package that one of them imports."""
    names = []
    for node in ast.parse(_source(package, name)).body:
        if isinstance(node, ast.ImportFrom):
            if node.module == package:
                names += [alias.name for alias in node.names]
            elif node.module is not None and node.module.startswith(f"{package}."):
                names.append(node.module.removeprefix(f"{package}."))
    return names
