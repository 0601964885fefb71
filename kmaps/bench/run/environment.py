"""Where a record was measured: processor, packages, and the commit of the source checkout."""

import platform
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joblib import cpu_count

import kmaps
from kmaps.bench.records.row import is_third_party
from kmaps.errors import ConfigError
from kmaps.maps import MAPS

if TYPE_CHECKING:
    from kmaps.bench.kinds.kind import Cell, Kind

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "liblinear-official", "libsvm-official")
"""The packages whose version can change an accuracy or a time."""

# These modules call the code of other packages, and that code is measured then.
_CALLED = {"kmaps.bench.work.vlfeat": ("cyvlfeat",)}

# Reading what all installed packages hold takes 0.3 s.
installed = cache(metadata.packages_distributions)

# The code that runs, without results: a run that writes there is not dirty.
_CODE = ("kmaps", "cli", "datasets", "experiments", "pyproject.toml")


def describe() -> dict[str, Any]:
    """Return the columns of a record that describe computer and software.

    ``cores`` are the processors that this process may run on; outside a git checkout ``commit`` is
    empty and ``dirty`` False.
    """
    commit, dirty = source_state(Path(kmaps.__file__).resolve().parent.parent)
    return {
        "versions": {"kmaps": kmaps.__version__, **{name: _version(name) for name in PACKAGES}},
        "cpu": cpu_model(),
        "cores": cpu_count(),
        "python": platform.python_version(),
        "commit": commit,
        "dirty": dirty,
    }


def check_solvers(kind: "Kind", cells: Iterable["Cell"]) -> None:
    """Refuse cells that train with LIBLINEAR or LIBSVM where it is not installed (ConfigError)."""
    missing = [name for name in sorted(kind.solvers(cells)) if find_spec(name) is None]
    if missing:
        packages = [f"{name}-official" for name in missing]
        verb = "are" if len(missing) > 1 else "is"
        raise ConfigError(
            f"cells need {' and '.join(packages)}, which {verb} not installed: pip install "
            f"{' '.join(packages)} (a C++ compiler is needed), or leave their rows out"
        )


@cache
def versions_of(method: str) -> dict[str, str]:
    """Return the version of the package that a third-party estimator, or a map of theirs, is from:
    nothing of kmaps' methods, and of a module that no package has."""
    if method in MAPS:
        package = MAPS.package_of(method)
        if not package:
            return {}
        name, version = package.split(" ")
        return {name: version}
    if not is_third_party(method):
        return {}
    module = method.rpartition(".")[0]
    packages = _CALLED.get(module) or installed().get(module.split(".")[0])
    return {name: _version(name) for name in packages or ()}


def source_state(root: Path) -> tuple[str, bool]:
    """Return the commit of a source checkout, and whether its code has changes besides.

    Outside a git checkout they are empty and False.
    """
    # A checkout has .git in its root, unlike a package installed inside another repository.
    if not (root / ".git").exists():
        return "", False
    commit = _git(root, "rev-parse", "HEAD")
    return commit, bool(commit and _git(root, "status", "--porcelain", "--", *_CODE))


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", root, *arguments], capture_output=True, text=True
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def cpu_model(path: str = "/proc/cpuinfo") -> str:
    """Return the processor's name and, since hosts of virtual machines shorten it, its numbers."""
    named: dict[str, str] = {}
    with suppress(OSError), open(path) as file:
        for line in file:
            name, _, value = line.partition(":")
            named.setdefault(name.strip(), value.strip())
    if not named.get("model name"):
        return platform.processor() or platform.machine()
    numbers = [
        f"{word} {named[name]}"
        for word, name in (("family", "cpu family"), ("model", "model"), ("stepping", "stepping"))
        if named.get(name)
    ]
    return f"{named['model name']} ({', '.join(numbers)})" if numbers else named["model name"]
