"""Rows in text files: what they are read as, and what is refused."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kmaps.data import Manifest, SourceFile, download, draw_split, load_dataset
from kmaps.data.text_rows import parse_rows
from kmaps.errors import DataError

COMMON = {
    "name": "rows",
    "title": "t",
    "licence": "l",
    "citation": "c",
    "homepage": "https://example.org",
    "format": "text-rows",
    "classes": ("a", "b"),
    "digest": "0" * 64,
}
TEXT = b"1,2.5,3,a\n4,5,6,b\n\n1,2.5,9,a\n"


def manifest(**settings) -> Manifest:
    return Manifest(**COMMON | settings)


def of_text(text: bytes, **settings) -> Manifest:
    """Return a manifest whose digest is that of a text's values."""
    table = parse_rows(text, "t", manifest(**settings))
    source = SourceFile(
        "mine/t.data", ("https://example.org/t.zip",), table.digest, table.nbytes, "rows"
    )
    return manifest(files=(source,), **settings | {"digest": table.digest})


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (TEXT, {}),
        (b"1 2.5 3 a\r\n4 5 6 b\r\n1  2.50 9 a", {}),
        (b"1, 2.5, 3, a\n4,5,6,b\n1,2.5,9,a", {}),
        (b"a,1,2.5,3\nb,4,5,6\na,1,2.5,9\n", {"label": "first"}),
    ],
)
def test_fields_are_values_and_a_class(text, settings):
    table = parse_rows(text, "t", manifest(**settings))
    assert table.rows.tolist() == [[1, 2.5, 3], [4, 5, 6], [1, 2.5, 9]]
    assert table.labels.tolist() == [0, 1, 0]
    assert table.digest == parse_rows(TEXT, "t", manifest()).digest


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT + b"1,2,3,c\n", "t:5"),
        (TEXT + b"1,2,a\n", "t:5"),
        (b"1,x,3,a\n", "t:1"),
        (b"1,,3,a\n", "t:1"),
        (b"1,nan,3,a\n", "t:1"),
        (b"", "t: "),
    ],
)
def test_other_lines_are_refused_at_their_place(text, line):
    with pytest.raises(DataError) as refused:
        parse_rows(text, "t", manifest())
    assert str(refused.value).startswith(line)


def test_values_beyond_those_that_are_named_are_left_out():
    assert parse_rows(TEXT, "t", manifest(n_features=2)).rows.shape == (3, 2)
    with pytest.raises(DataError):
        parse_rows(TEXT, "t", manifest(n_features=4))


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_read_as_it_is_and_out_of_the_publisher_s_archive(tmp_path, packed):
    content = TEXT
    if packed:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as members:
            members.writestr("readme", b"about")
            members.writestr("inner/t.data", TEXT)
        content = archive.getvalue()
    described = of_text(TEXT, groups=("train", "test"), group_sizes=(2, 1))
    (tmp_path / "mirror/mine").mkdir(parents=True)
    (tmp_path / "mirror/mine" / ("t.zip" if packed else "t.data")).write_bytes(content)
    download(described, data_dir=tmp_path / "data", mirror=tmp_path / "mirror", offline=True)
    dataset = load_dataset(described, data_dir=tmp_path / "data")
    assert dataset.X.tolist() == [[1, 2.5, 3], [4, 5, 6], [1, 2.5, 9]]
    assert dataset.y.tolist() == [0, 1, 0]
    assert dataset.groups.tolist() == ["train", "train", "test"]


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (3,), (1, 1, 1)])
def test_other_numbers_of_rows_are_refused(tmp_path, sizes):
    described = of_text(TEXT, groups=("train", "test"), group_sizes=sizes)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/t.data").write_bytes(TEXT)
    with pytest.raises(DataError):
        download(described, data_dir=tmp_path / "data", mirror=tmp_path, offline=True)


def test_equal_rows_stay_on_one_side(tmp_path):
    text = TEXT * 40 + b"".join(b"%d,0,0,%s\n" % (k, b"ab"[k % 2 :][:1]) for k in range(60))
    described = of_text(text, equal_rows_together=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/t.data").write_bytes(text)
    download(described, data_dir=tmp_path / "data", mirror=tmp_path, offline=True)
    dataset = load_dataset(described, data_dir=tmp_path / "data")
    for seed in range(5):
        train, test = draw_split(dataset, {"train": 0.5}, seed)
        rows_of = [set(map(tuple, dataset.X[side].tolist())) for side in (train, test)]
        assert not rows_of[0] & rows_of[1]


UCI = {
    "spambase": ((4601, 54), [2788, 1813], {""}),
    "letter": ((20000, 16), None, {"train", "test"}),
    "satellite": ((6435, 36), [1533, 703, 1358, 626, 707, 1508], {"train", "test"}),
}


@pytest.mark.parametrize("name", UCI)
def test_the_sets_of_uci(name, mirror: Path, tmp_path):
    shape, counts, groups = UCI[name]
    download(name, data_dir=tmp_path, mirror=mirror, offline=True)
    dataset = load_dataset(name, data_dir=tmp_path)
    assert dataset.X.shape == shape
    assert set(dataset.groups.tolist()) == groups
    if counts is not None:
        assert np.bincount(dataset.y).tolist() == counts
