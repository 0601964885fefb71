"""Arrays beside records: kept cell by cell, put together at the end, whole after any end."""

import platform
import re
import subprocess

import numpy as np

from kmaps.bench.records.arrays import collect_arrays, read_arrays, write_arrays
from kmaps.errors import DataError

ONE = {"x": np.arange(3.0), "f": np.ones((2, 2))}
OTHER = {"x": np.zeros(1)}


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def same(found, expected):
    assert found.keys() == expected.keys()
    for key, arrays in expected.items():
        assert found[key].keys() == arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[key][name], array)


def test_what_is_written_is_read_before_and_after_it_is_put_together(tmp_path):
    write_arrays(tmp_path, "a", OTHER)  # of a cell that was measured again
    write_arrays(tmp_path, "a", ONE)
    write_arrays(tmp_path, "b", OTHER)
    same(read_arrays(tmp_path, ["a", "b", "c"]), {"a": ONE, "b": OTHER})
    collect_arrays(tmp_path, ["a", "b"])
    assert names(tmp_path) == ["arrays.npz"]
    same(read_arrays(tmp_path, ["a", "b", "c"]), {"a": ONE, "b": OTHER})
    same(read_arrays(tmp_path, ["b"]), {"b": OTHER})


def test_what_a_killed_run_left_half_written_is_deleted(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    write_arrays(tmp_path, "a", ONE)
    half = tmp_path / "arrays" / f".b.npz.{platform.node()}.{ended.pid}.{'0' * 16}.part"
    half.write_bytes(b"half")
    collect_arrays(tmp_path, ["a"])
    assert names(tmp_path) == ["arrays.npz"]


def test_a_later_run_adds_to_what_is_there_and_leaves_other_files_alone(tmp_path):
    write_arrays(tmp_path, "a", ONE)
    write_arrays(tmp_path, "old", OTHER)  # no longer planned
    (tmp_path / "arrays" / "notes.txt").touch()
    collect_arrays(tmp_path, ["a"])
    assert read_arrays(tmp_path, ["a", "old"]).keys() == {"a"}
    write_arrays(tmp_path, "a", OTHER)
    write_arrays(tmp_path, "b", ONE)
    same(read_arrays(tmp_path, ["a", "b"]), {"a": OTHER, "b": ONE})
    collect_arrays(tmp_path, ["a", "b"])
    same(read_arrays(tmp_path, ["a", "b"]), {"a": OTHER, "b": ONE})
    assert names(tmp_path) == ["arrays.npz", "arrays/notes.txt"]


def test_damaged_files_are_errors_of_the_user(tmp_path):
    """400 copies with a byte changed, cut, or put in: read as they are, or refused in one line."""
    write_arrays(tmp_path, "a", ONE)
    collect_arrays(tmp_path, ["a"])
    path, rng, refused = tmp_path / "arrays.npz", np.random.default_rng(0), []
    whole = path.read_bytes()
    for i in range(400):
        damaged = bytearray(whole)
        at = int(rng.integers(len(whole)))
        if i % 4 == 0:
            del damaged[at:]
        elif i % 4 == 1:
            damaged[at:at] = rng.bytes(3)
        else:
            damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            read_arrays(tmp_path, ["a"])
        except DataError as error:
            refused.append(str(error))
    assert len(refused) > 200
    one_line = re.compile(r".*arrays\.npz: (damaged \(.*\); restore it, or measure again|holds ).*")
    assert all(one_line.fullmatch(text) for text in refused)
