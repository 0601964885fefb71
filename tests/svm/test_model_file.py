"""Model files of any estimator: what is no model, or one of another version."""

import json
import zipfile

import numpy as np
import pytest

from kmaps.errors import InputError
from kmaps.svm.model_file import ModelFile, write_model


class Model:
    """An estimator that has nothing but a name."""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.npz"
    arrays = {"classes": np.array(["a", "b"], object), "w": np.arange(6.0).reshape(2, 3)}
    fitted = {"n": np.int64(3), "text": "yes"}
    write_model(path, Model(), {"C": np.float64(0.1)}, arrays, fitted=fitted, force=False)
    return path


def with_header(path, **changes):
    """Change parts of the header; one that is None is left out."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes()) | changes
    header = {name: value for name, value in header.items() if value is not None}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)


def test_what_is_written_comes_back(path):
    file = ModelFile(path)
    assert (file.estimator, file.parameters) == ("Model", {"C": 0.1})
    assert file.labels().tolist() == ["a", "b"]
    np.testing.assert_array_equal(file.array("w", float, (2, None)), [[0, 1, 2], [3, 4, 5]])
    assert (file.whole("n", 1, 3), file.text("text")) == (3, "yes")
    assert "w" in file
    assert "v" not in file


ASKED = [
    (lambda file: file.array("v", float, (2,)), "it has no v"),
    (lambda file: file.array("w", int, (2, 3)), "w is float64 of shape (2, 3), expected int64"),
    (lambda file: file.array("w", float, ((1, 4), None)), "w is float64 of shape (2, 3), expected"),
    (lambda file: file.array("w", float, (6,)), "w is float64 of shape (2, 3), expected"),
    (lambda file: file.array("w", float, (2, 3), high=4), "w has values that are not from -inf"),
    (lambda file: file.array("w", float, (2, 3), low=1), "w has values that are not from 1 to"),
    (lambda file: file.whole("n", 4, 9), "n is 3, expected a whole number from 4 to 9"),
    (lambda file: file.whole("text", 4, 9), "text is 'yes', expected a whole number from 4"),
    (lambda file: file.text("n"), "n is 3, expected a text"),
    (lambda file: file.check_all_taken(), "Model has no classes, w"),
    (lambda file: file.check_parameters(("C", "D")), "its parameters do not fit Model"),
]


@pytest.mark.parametrize(("ask", "message"), ASKED)
def test_what_an_estimator_does_not_find(path, ask, message):
    with pytest.raises(InputError) as caught:
        ask(ModelFile(path))
    assert str(caught.value).startswith(f"{path}: the model is damaged: {message}")


NO_MODEL = "is no kmaps model, or is damaged (cut off?); train and save it again"


def refused(path):
    """Return what is said of a file, without its name."""
    with pytest.raises(InputError) as caught:
        ModelFile(path)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


def test_files_that_are_cut_off_or_changed(path):
    whole = path.read_bytes()
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert refused(path) == NO_MODEL
    for place in range(60, len(whole), len(whole) // 40):
        flipped = bytearray(whole)
        flipped[place] ^= 0xFF
        path.write_bytes(flipped)
        try:
            ModelFile(path)  # a date, or another thing that says nothing of the model
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_a_header_of_an_array_that_ends_within_a_word(path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header, values = members["w.npy"].split(b"\n", 1)
    start = header.index(b"'fortran_order'") + len("'fortran")
    members["w.npy"] = header[:start].ljust(len(header)) + b"\n" + values
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert refused(path) == NO_MODEL


def test_files_that_are_something_else(path, tmp_path):
    np.savez(path, a=np.ones(3))
    assert refused(path) == NO_MODEL
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header", "{}")
    assert refused(path) == NO_MODEL
    path.write_text("not a model")
    assert refused(path) == NO_MODEL
    np.save(tmp_path / "a.npy", np.ones(3))
    assert refused(tmp_path / "a.npy") == NO_MODEL
    assert refused(tmp_path / "none.npz") == "no such file"
    assert refused(tmp_path) == "is a folder, expected a file"
    (tmp_path / "endless").symlink_to("/dev/zero")
    assert refused(tmp_path / "endless") == "is a device or a pipe, expected a file; copy it"


def test_pickles_are_not_opened_and_packed_files_not_unpacked(path):
    """A few bytes could unpack to more than there is memory."""
    with np.load(path) as file:
        arrays = dict(file)
    np.savez_compressed(path, **arrays)
    assert refused(path) == NO_MODEL
    np.savez(path, header=np.array([{"format": "kmaps model"}], object))
    assert refused(path) == NO_MODEL


def test_an_array_that_claims_more_than_the_file_holds(path):
    with zipfile.ZipFile(path, "a") as archive:
        claim = str({"descr": "<f8", "fortran_order": False, "shape": (10**14,)}).encode() + b"\n"
        archive.writestr(
            "more.npy", b"\x93NUMPY\x01\x00" + len(claim).to_bytes(2, "little") + claim
        )
    assert refused(path).startswith("its arrays claim more memory than is free: the")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"version": 6}, "has a model of version 6, but this kmaps reads the older version 5; upd"),
        ({"version": 1}, "has a model of version 1, but this kmaps reads the newer version 5; tra"),
        ({"version": "2"}, NO_MODEL),
        ({"version": True}, NO_MODEL),
        ({"format": "other"}, NO_MODEL),
        ({"estimator": None}, "the model is damaged: its header lacks the estimator, its param"),
        ({"parameters": [1]}, "the model is damaged: its header lacks the estimator, its param"),
        ({"fitted": 3}, "the model is damaged: its header lacks the estimator, its parameters"),
    ],
)
def test_headers(path, header, message):
    with_header(path, **header)
    assert refused(path).startswith(message)


@pytest.mark.parametrize("text", [b"", b"[1]", b"{", b"3", b"\xff", b"[" * 100_000])
def test_headers_that_are_none(path, text):
    np.savez(path, header=np.frombuffer(text, np.uint8))
    assert refused(path) == NO_MODEL


def test_a_file_of_very_many_arrays_is_refused_before_they_are_read(path):
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(200):
            archive.writestr(f"{number}.npy", b"")
    with pytest.raises(InputError, match="damaged: it holds 203 arrays"):
        ModelFile(path)
