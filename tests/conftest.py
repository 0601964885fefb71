"""Fixtures for every test: no network, no cache of the user's, the real data if a mirror has it."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from changed_package import changed_package
from hypothesis import settings
from threadpoolctl import threadpool_limits

from kmaps.data import download
from tests.samples import Tiny, tiny_dataset

REAL = ("mnist", "daimler", "caltech101")

collect_ignore = ["portable"]  # to import it is to hide from kmaps what other systems lack


def pytest_configure():
    """No test depends on time; Ctrl-C arrives, which a shell's background process ignores."""
    settings.register_profile("kmaps", deadline=None)
    settings.load_profile("kmaps")
    # Two workers with two threads each, which wait for one another, take many times as long.
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
        threadpool_limits(1, user_api="blas")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without the garbage collector, and keep it off what was collected.

    It would go through thousands of tests at every measurement of memory.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _isolated(tmp_path_factory):
    """Keep every test, and every process it starts, off the network and off the user's cache."""
    patch = pytest.MonkeyPatch()
    patch.setenv("KMAPS_OFFLINE", "1")
    patch.setenv("KMAPS_DATA_DIR", str(tmp_path_factory.mktemp("no-data")))
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def _the_same_numbers_in_any_order(request):
    """Seed the generator of a module by the test, so that it does not matter which ran before."""
    generator = getattr(request.module, "RNG", None)
    if isinstance(generator, np.random.Generator):
        seeded = np.random.default_rng(crc32(request.node.name.encode()))
        generator.bit_generator.state = seeded.bit_generator.state


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with the real datasets that KMAPS_MIRROR names; skips when there is none."""
    folder = os.environ.get("KMAPS_MIRROR")
    if not folder:
        pytest.skip("KMAPS_MIRROR is not set: no copy of the real datasets")
    return Path(folder).absolute()


@pytest.fixture(scope="session")
def downloaded(mirror, tmp_path_factory) -> Callable[[str], Path]:
    """Return a function that puts a real dataset into the cache of a session, which it returns."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def put(name: str) -> Path:
        download(name, data_dir=root / "data", mirror=mirror, offline=True)
        return root / "data"

    return put


@pytest.fixture(scope="session")
def data_dir(downloaded) -> Path:
    """A cache that holds the real datasets, filled once a session, also with several workers."""
    return [downloaded(name) for name in REAL][-1]


@pytest.fixture(scope="session")
def changed(tmp_path_factory):
    """`kmaps` of a copy of the package with a map and a kind more, and the folder it runs in."""
    folder = tmp_path_factory.mktemp("changed")
    with changed_package(folder, runs=("lac-figure3-toy", "annfm-table3-grid")) as kmaps:
        yield kmaps, folder


@pytest.fixture
def tiny(tmp_path) -> Tiny:
    """A dataset in MNIST's format with its mirror."""
    return tiny_dataset(tmp_path / "mirror")


def pytest_terminal_summary(terminalreporter):
    """Say how much each suite of `make soak` has tried."""
    tried: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "soak" and report.when == "call":
                    what, number = value
                    tried[what] += number
                    seconds[what] += report.duration
    if tried:
        terminalreporter.section("what was tried")
    for what, number in sorted(tried.items()):
        told = f"{what}: {number:,} in {seconds[what]:,.0f} s"
        terminalreporter.line(f"{told}, {number / seconds[what]:,.1f} a second")
