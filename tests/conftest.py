"""Fixtures for every test: no network, no cache of the user's, the real data if a mirror has it."""

import gc
import gzip
import hashlib
import os
import signal
import struct
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from changed_package import changed_package
from hypothesis import settings

from kmaps.data import Manifest, SourceFile, download, tree_digest

REAL = ("mnist", "daimler", "caltech101")


def pytest_configure():
    """No test depends on time; Ctrl-C arrives, which a shell's background process ignores."""
    settings.register_profile("kmaps", deadline=None)
    settings.load_profile("kmaps")
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


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with the real datasets that KMAPS_MIRROR names; skips when there is none."""
    folder = os.environ.get("KMAPS_MIRROR")
    if not folder:
        pytest.skip("KMAPS_MIRROR is not set: no copy of the real datasets")
    return Path(folder).absolute()


@pytest.fixture(scope="session")
def data_dir(mirror, tmp_path_factory) -> Path:
    """A cache that holds the real datasets, filled once a session, also with several workers."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    for name in REAL:
        download(name, data_dir=root / "data", mirror=mirror, offline=True)
    return root / "data"


@pytest.fixture(scope="session")
def changed(tmp_path_factory):
    """`kmaps` of a copy of the package with a map and a kind more, and the folder it runs in."""
    folder = tmp_path_factory.mktemp("changed")
    with changed_package(folder) as kmaps:
        yield kmaps, folder


@dataclass
class Tiny:
    """A dataset drawn by the tests: three training and two test images of 2 × 3 pixels."""

    manifest: Manifest
    folder: Path  # a mirror of it
    images: np.ndarray
    y: np.ndarray

    def at(self, *addresses: str) -> Manifest:
        """Return the manifest with publishers at these addresses, tried in this order."""
        files = tuple(
            replace(source, urls=tuple(f"{address}/{source.path}" for address in addresses))
            for source in self.manifest.files
        )
        return replace(self.manifest, files=files)


def to_idx(array: np.ndarray) -> bytes:
    """Return an array of bytes as an idx file."""
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


@pytest.fixture
def tiny(tmp_path) -> Tiny:
    """A dataset in MNIST's format with its mirror."""
    images = np.arange(30, dtype=np.uint8).reshape(5, 2, 3)
    y = np.array([1, 0, 1, 1, 0])
    parts = {"train": slice(0, 3), "test": slice(3, 5)}
    contents = {f"{group}-images": to_idx(images[part]) for group, part in parts.items()}
    contents |= {f"{group}-labels": to_idx(y[part]) for group, part in parts.items()}
    folder = tmp_path / "mirror"
    (folder / "tiny").mkdir(parents=True)
    sources = []
    for role, content in contents.items():
        (folder / f"tiny/{role}.gz").write_bytes(gzip.compress(content))
        digest = hashlib.sha256(content).hexdigest()
        sources.append(SourceFile(f"tiny/{role}.gz", (), digest, len(content), role))
    manifest = Manifest(
        name="tiny",
        title="Five small images",
        licence="none",
        citation="none",
        homepage="https://example.org",
        format="idx",
        classes=("no", "yes"),
        groups=("train", "test"),
        shape=(2, 3),
        digest=tree_digest({source.role: source.sha256 for source in sources}),
        files=tuple(sources),
    )
    return Tiny(manifest, folder, images, y)


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
