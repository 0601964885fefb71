"""The faults of a computer or an installation that can spoil a run, and their remedies."""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from joblib import cpu_count
from threadpoolctl import threadpool_info, threadpool_limits

from kmaps import num_threads
from kmaps.bench.run.clock import unmeasured
from kmaps.data import cache_root
from kmaps.data.cache import verified
from kmaps.errors import ConfigError

_LEAST_FREE = 2e9  # bytes: the packaged datasets and their features take about one


@dataclass(frozen=True)
class Diagnosis:
    """The state of a subject in one line, and the remedy, empty when all is well; with ``fault``,
    commands fail, or measure something else, until the remedy is applied."""

    subject: str
    state: str
    remedy: str = ""
    fault: bool = False


def examine(compiled: Path) -> list[Diagnosis]:
    """Look at versions, compiler, threads, libraries, folders, mirrors and unfinished files.

    ``compiled`` is the folder of the compiled loops. Nothing is changed and no address is asked.
    """
    checks: tuple[Callable[[], Iterator[Diagnosis]], ...] = (
        _versions,
        _switches,
        _compiler,
        _instructions,
        _threads,
        _solvers,
        _libraries,
        _measures,
        lambda: iter([_folder("compiled loops", compiled, "NUMBA_CACHE_DIR")]),
        lambda: iter([_folder("datasets", cache_root(), "KMAPS_DATA_DIR")]),
        _cache,
        _mirrors,
        _leftovers,
    )
    return [diagnosis for check in checks for diagnosis in check()]


def _versions() -> Iterator[Diagnosis]:
    wanted = [line for line in metadata.requires("kmaps-svm") or () if "extra ==" not in line]
    old = []
    for line in wanted:
        name, _, least = line.partition(">=")
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            old.append(f"{name} is missing")
            continue
        if _limbs(installed) < _limbs(least):
            old.append(f"{name} {installed} is older than {least}")
    if old:
        yield Diagnosis("versions", "; ".join(old), "install kmaps again with pip", fault=True)
    else:
        yield Diagnosis(
            "versions", f"kmaps {metadata.version('kmaps-svm')}, {len(wanted)} packages"
        )


def _switches() -> Iterator[Diagnosis]:
    """Report variables under which no command that computes works."""
    value = os.environ.get("NUMBA_DISABLE_JIT", "0")
    if value not in ("", "0"):
        state = f"NUMBA_DISABLE_JIT={value}: the loops of kmaps run only compiled"
        yield Diagnosis("numba", state, "unset NUMBA_DISABLE_JIT", fault=True)
    value = os.environ.get("NUMBA_NUM_THREADS", "1")
    if value.lstrip("-").isdigit() and int(value) < 1:
        state = f"NUMBA_NUM_THREADS={value}: expected 1 or more"
        yield Diagnosis("numba", state, "unset NUMBA_NUM_THREADS", fault=True)


def _limbs(version: str) -> list[int]:
    return [int(limb) for limb in re.findall(r"\d+", version)[:3]]


def _compiler() -> Iterator[Diagnosis]:
    paths = [shutil.which(name) for name in ("c++", "g++", "clang++")]
    compiler = next((path for path in paths if path), None)
    remedy = "none is needed until LIBLINEAR or LIBSVM is installed again; then install g++"
    yield Diagnosis("C++ compiler", compiler or "none", "" if compiler else remedy)


def _instructions() -> Iterator[Diagnosis]:
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        state = "asimd" if platform.machine() == "arm64" else "unknown on this system"
        yield Diagnosis("instructions", state)
        return
    widest = next((name for name in ("avx512f", "avx2", "asimd") if name in flags), None)
    remedy = "" if widest else "compiled loops are several times slower; times are not comparable"
    yield Diagnosis("instructions", widest or "neither AVX nor NEON", remedy)


def _threads() -> Iterator[Diagnosis]:
    used = num_threads()
    cores = cpu_count()
    remedy = "set KMAPS_NUM_THREADS to the number of cores or fewer" if used > cores else ""
    yield Diagnosis("threads", f"{used} on {cores} cores", remedy)


def _solvers() -> Iterator[Diagnosis]:
    missing = [name for name in ("liblinear", "libsvm") if find_spec(name) is None]
    remedy = (
        f"for LiblinearSVC and LIBSVM: pip install {' '.join(f'{m}-official' for m in missing)}"
    )
    yield Diagnosis(
        "solvers",
        f"without {', '.join(missing)}" if missing else "liblinear, libsvm",
        remedy if missing else "",
    )


def _measures() -> Iterator[Diagnosis]:
    lacking = unmeasured()
    if lacking:
        state = f"this system does not report {', '.join(lacking)}"
        yield Diagnosis("measures", state, "their columns are empty in records, – in tables")
    else:
        yield Diagnosis("measures", "times, peaks of memory, other work")


def _libraries() -> Iterator[Diagnosis]:
    if find_spec("libsvm"):
        # threadpoolctl finds LIBSVM's OpenMP after a first training.
        with suppress(ConfigError):  # NUMBA_DISABLE_JIT, which has a line of its own
            from kmaps.svm import KernelSVC

            KernelSVC("linear", solver="libsvm").fit([[0.0], [1.0]], [0, 1])
    for kind, name in (("blas", "BLAS"), ("openmp", "OpenMP")):
        with threadpool_limits(1, user_api=kind):
            libraries = [library for library in threadpool_info() if library["user_api"] == kind]
        names = sorted({library["prefix"] for library in libraries})
        if not libraries:
            yield Diagnosis(name, "none is loaded")
        elif all(library["num_threads"] == 1 for library in libraries):
            yield Diagnosis(name, f"{', '.join(names)}; can be held to one thread")
        else:
            remedy = "times are not comparable: install another build, or set OMP_NUM_THREADS=1"
            yield Diagnosis(name, f"{', '.join(names)}; keeps its threads", remedy, fault=True)


def _folder(subject: str, folder: Path, variable: str) -> Diagnosis:
    """Say whether a folder, or the one it will be made in, can be written and has space."""
    existing = next(path for path in (folder, *folder.parents) if path.is_dir())
    try:
        with tempfile.TemporaryFile(dir=existing):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        remedy = f"make it writable, or name another one by {variable}"
        return Diagnosis(subject, f"{folder}: {error.strerror}", remedy, fault=True)
    remedy = f"make space, or name another one by {variable}" if free < _LEAST_FREE else ""
    return Diagnosis(subject, f"{folder}, {free / 1e9:.1f} GB free", remedy)


def _cache() -> Iterator[Diagnosis]:
    """Hash the cached datasets; a run checks only sizes and times."""
    faults = verified(cache_root())
    if not any(faults.values()):
        yield Diagnosis("cache", f"{len(faults)} datasets, all files as they were written")
    for name, fault in faults.items():
        packaged = f"run `kmaps download --verify {name}`"
        remedy = f"delete {cache_root() / name}" if name.startswith("user-") else packaged
        if fault:
            yield Diagnosis("cache", f"{name}: {fault}", remedy, fault=True)


def _mirrors() -> Iterator[Diagnosis]:
    offline = os.environ.get("KMAPS_OFFLINE", "").lower() not in ("", "0", "false", "no")
    place = os.environ.get("KMAPS_MIRROR", "")
    reach = "the network is not used (KMAPS_OFFLINE)" if offline else "then the publishers"
    if not place:
        yield Diagnosis("mirror", f"none, {reach}")
    elif place.startswith(("http://", "https://")) or Path(place).expanduser().is_dir():
        yield Diagnosis("mirror", f"{place}, {reach}")
    else:
        remedy = "fix KMAPS_MIRROR, or unset it"
        yield Diagnosis("mirror", f"{place}: no such folder", remedy, fault=True)


def _leftovers() -> Iterator[Diagnosis]:
    root = cache_root()
    broken = [path for path in root.glob(".work/*/downloads/*") if path.is_file()]
    parts = [*root.rglob(".*.part"), *Path.cwd().glob(".*.part")]
    if not broken and not parts:
        yield Diagnosis("leftovers", "none")
    for what, files, remedy in (
        ("broken downloads", broken, "`kmaps download` continues them; delete them if not wanted"),
        ("unfinished files", parts, "delete them if no process of kmaps runs"),
    ):
        if files:
            size = sum(path.stat().st_size for path in files)
            places = ", ".join(sorted({str(path.parent) for path in files}))
            state = f"{len(files)} {what}, {size / 1e6:.1f} MB, in {places}"
            yield Diagnosis("leftovers", state, remedy)
