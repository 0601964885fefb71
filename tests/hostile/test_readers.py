"""Damaged and hostile files: read, or refused in one line that names the file; nothing else.

`make soak` has many more of them. What it finds is kept here, as bytes in a test of its reader.
"""

import itertools
import os
import time
from collections.abc import Iterator
from random import Random

import pytest

from tests.hostile.check import is_refused
from tests.hostile.damage import damaged
from tests.hostile.readers import formats

INPUTS = 2000
SECONDS = float(os.environ.get("KMAPS_SOAK_SECONDS", "0"))  # instead of a number of inputs
SEED = int(os.environ.get("KMAPS_SOAK_SEED", "0"))
NAMES = [
    *("npy", "npz", "csr", "csv", "svm", "labels", "text labels", "csv with labels"),
    *("npz with labels", "parquet", "arrow", "model"),
    *("manifest", "experiment", "records", "archive", "packed", "idx", "pgm"),
]


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """The formats by name."""
    return formats(tmp_path_factory.mktemp("whole"))


def test_every_format_is_tried(known):
    assert list(known) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_whole_files_are_read(known, tmp_path, name):
    for content in known[name].whole:
        path = tmp_path / f"file{known[name].suffix}"
        assert not is_refused(name, known[name], path, content)


def numbers() -> Iterator[int]:
    """Yield the numbers of the inputs: so many, or as many as some seconds allow."""
    if not SECONDS:
        yield from range(INPUTS)
        return
    end = time.monotonic() + SECONDS
    for number in itertools.count():
        if time.monotonic() > end:
            return
        yield number


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused_in_one_line(known, tmp_path, record_property, name):
    form, tried, refused = known[name], 0, 0
    path = tmp_path / f"file{form.suffix}"
    random = Random(f"{SEED} {name}")
    for number in numbers():
        content = damaged(random, random.choice(form.whole))
        try:
            refused += is_refused(name, form, path, content)
        except AssertionError as error:
            raise AssertionError(f"input {number} of seed {SEED}: {error}") from error
        tried += 1
    assert 0 < refused < tried
    if SECONDS:
        record_property("soak", (f"hostile: damaged files, {name}", tried))
