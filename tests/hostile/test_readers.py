"""Damaged and hostile files: read, or refused in one line that names the file; nothing else.

`make soak` has many more of them. What it finds is kept here, as bytes in a test of its reader.
"""

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tests.hostile.check import IN_MEMORY, is_refused
from tests.hostile.damage import damaged
from tests.hostile.readers import formats

pytestmark = pytest.mark.filterwarnings("ignore")
INPUTS = int(os.environ.get("KMAPS_SOAK_INPUTS", "600"))
SHARE = 50_000
"""Inputs of a test: processes that take tests in turn end together."""
SEED = int(os.environ.get("KMAPS_SOAK_SEED", "0"))
NAMES = [
    *("npy", "npz", "csr", "csv", "svm", "labels", "text labels", "csv with labels"),
    *("npz with labels", "parquet", "arrow", "model"),
    *("manifest", "experiment", "records", "archive", "packed", "idx", "pgm"),
]


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return formats(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def folder():
    """A folder for thousands of files, one after the other."""
    with TemporaryDirectory(dir=IN_MEMORY) as folder:
        yield Path(folder)


def test_every_format_is_tried(known):
    assert list(known) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_whole_files_are_read(known, tmp_path, name):
    for content in known[name].whole:
        path = tmp_path / f"file{known[name].suffix}"
        assert not is_refused(name, known[name], path, content)


@pytest.mark.parametrize("first", range(0, INPUTS, SHARE))
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused_in_one_line(known, folder, record_property, name, first):
    form, refused = known[name], 0
    path = folder / f"file{form.suffix}"
    random = Random(f"{SEED} {name} {first}")
    numbers = range(first, min(first + SHARE, INPUTS))
    for number in numbers:
        content = damaged(random, random.choice(form.whole))
        try:
            refused += is_refused(name, form, path, content)
        except AssertionError as error:
            raise AssertionError(f"input {number} of seed {SEED}: {error}") from error
    assert 0 < refused < len(numbers)
    if "KMAPS_SOAK_INPUTS" in os.environ:
        record_property("soak", (f"hostile: damaged files, {name}", len(numbers)))
