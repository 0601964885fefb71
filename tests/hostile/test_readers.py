"""Damaged and hostile files: read, or refused in one line that names the file; nothing else.

`make soak` has many more of them. What it finds is kept here, as bytes in a test of its reader.
"""

import os
import time
import warnings
from random import Random

import pytest

from kmaps.errors import KmapsError
from tests.hostile.damage import damaged
from tests.hostile.readers import formats

INPUTS = int(os.environ.get("KMAPS_SOAK_INPUTS", "400"))
SEED = int(os.environ.get("KMAPS_SOAK_SEED", "0"))
NAMES = [
    *("npy", "npz", "csr", "csv", "svm", "labels", "text labels", "csv with labels"),
    *("npz with labels", "parquet", "arrow", "model"),
    *("manifest", "experiment", "records", "archive", "packed", "idx", "pgm"),
]
SLOWEST_S = 10  # for a file of a kilobyte, on a machine that does other things


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
        path.write_bytes(content)
        known[name].read(path)


def refusal(read, path) -> str | None:
    """Return what a reader says of a file that it refuses; None for one that it reads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
    except KmapsError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused_in_one_line(known, tmp_path, name):
    form, refused = known[name], 0
    path = tmp_path / f"file{form.suffix}"
    random = Random(f"{SEED} {name}")
    for number in range(INPUTS):
        content = damaged(random, random.choice(form.whole))
        path.write_bytes(content)
        start = time.monotonic()
        try:
            said = refusal(form.read, path)
        except Exception as error:
            raise AssertionError(f"input {number} of seed {SEED}: {content!r}") from error
        assert time.monotonic() - start < SLOWEST_S, (number, content)
        if said is not None:
            refused += 1
            # An experiment has a line for each mistake; an archive's name is told by its caller.
            assert "\n" not in said or name == "experiment", (number, content, said)
            assert path.name in said or name in ("archive", "packed"), (number, content, said)
    assert 0 < refused < INPUTS
