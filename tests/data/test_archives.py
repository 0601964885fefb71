"""Archives are read without trusting them."""

import gzip
import io
import stat
import tarfile
import zipfile

import pytest

from kmaps.data.archives import read_file, read_members
from kmaps.errors import DataError


def silent(done, total):
    pass


def tar_with(path, members, mode="w:gz"):
    """Write a tar of ``(name or TarInfo, content)``."""
    with tarfile.open(path, mode) as archive:
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def read_all(path):
    return read_members(path, lambda name: name, 1000, silent)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_tar(tmp_path, mode):
    members = [("a/x", b"1"), (special("a", tarfile.DIRTYPE), b""), ("a/y", b"22")]
    path = tar_with(tmp_path / "a.tar", members, mode)
    assert read_all(path) == {"a/x": b"1", "a/y": b"22"}


def test_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("a")
        archive.writestr("a/x", b"1")
    assert read_all(tmp_path / "a.zip") == {"a/x": b"1"}


def test_tar_in_a_zip_beside_the_companion_that_macos_adds(tmp_path):
    inner = tar_with(tmp_path / "inner.tar.gz", [("a/x", b"1"), ("a/y", b"2")])
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(inner, "top/inner.tar.gz")
        archive.writestr("__MACOSX/top/._inner.tar.gz", b"not a tar")
    contents = read_members(
        tmp_path / "a.zip", lambda name: name if name[0] == "a" else None, 9, silent
    )
    assert contents == {"a/x": b"1", "a/y": b"2"}


def test_unwanted_members_are_left_out_and_others_renamed(tmp_path):
    path = tar_with(tmp_path / "a.tar.gz", [("top/x.pgm", b"1"), ("top/readme", b"2" * 5000)])
    rename = {"top/x.pgm": "x"}.get
    assert read_members(path, rename, 10, silent) == {"x": b"1"}


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "..\\x", "C:/x"])
def test_path_outside_the_folder_is_refused(tmp_path, name):
    path = tar_with(tmp_path / "a.tar.gz", [("a/x", b"1"), (name, b"2")])
    with pytest.raises(DataError, match=r"refused: member .* lies outside the archive's folder"):
        read_all(path)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, b"1")
    with pytest.raises(DataError, match="lies outside the archive's folder"):
        read_all(tmp_path / "a.zip")
    assert {p.name for p in tmp_path.iterdir()} == {"a.tar.gz", "a.zip"}


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused_even_inside(tmp_path, kind):
    path = tar_with(tmp_path / "a.tar.gz", [("a/x", b"1"), (special("a/y", kind, "x"), b"")])
    with pytest.raises(DataError, match="'a/y' is a link or a device; use another copy"):
        read_all(path)


def test_link_in_a_zip_is_refused(tmp_path):
    link = zipfile.ZipInfo("a/y")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(DataError, match="'a/y' is a link or a device"):
        read_all(tmp_path / "a.zip")


def test_unsafe_tar_inside_a_zip_is_refused(tmp_path):
    inner = tar_with(tmp_path / "inner.tar", [("../x", b"1")], "w")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(inner, "inner.tar")
    with pytest.raises(DataError, match="lies outside"):
        read_all(tmp_path / "a.zip")


def test_name_that_is_there_twice_is_refused(tmp_path):
    path = tar_with(tmp_path / "a.tar.gz", [("a/x", b"1"), ("a/x", b"2")])
    with pytest.raises(DataError, match="'a/x' is there twice"):
        read_all(path)


def test_oversized_member_is_refused_unread(tmp_path):
    path = tar_with(tmp_path / "a.tar.gz", [("a/x", b"0" * 1001)])
    with pytest.raises(DataError, match="'a/x' has 1,001 bytes"):
        read_all(path)


@pytest.mark.parametrize("suffix", ["tar.gz", "zip"])
@pytest.mark.parametrize("share", [0.5, 0.98])
def test_truncated_archive(tmp_path, suffix, share):
    content = bytes(i * i % 251 for i in range(900))
    path = tmp_path / f"a.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/x", content)
    else:
        # A tar ends in zeros that gzip packs into few bytes: many members, so that half is half.
        tar_with(path, [(f"a/{i}", content[i:]) for i in range(50)])
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(
        DataError, match=r"truncated or damaged: .*; the file has .* bytes and begi"
    ):
        read_all(path)


def test_error_page_instead_of_an_archive(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(b"<!DOCTYPE html><html>Not here</html>")
    with pytest.raises(DataError, match="has 36 bytes and begins b'<!DOCTYPE html><'"):
        read_all(tmp_path / "a.tar.gz")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_single_file_packed_or_not(tmp_path, pack):
    (tmp_path / "x").write_bytes(pack(b"abc"))
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1
    assert read_file(tmp_path / "x", 3, silent) == (b"abc", digest, 3)


def test_single_file_is_kept_up_to_its_size_and_hashed_whole(tmp_path):
    (tmp_path / "x").write_bytes(gzip.compress(bytes(5 << 20)))
    content, digest, size = read_file(tmp_path / "x", 10, silent)
    assert (content, size) == (bytes(10), 5 << 20)
    assert digest != read_file(tmp_path / "x", 5 << 20, silent)[0]
    assert len(read_file(tmp_path / "x", 5 << 20, silent)[0]) == 5 << 20


def test_truncated_gzip(tmp_path):
    (tmp_path / "x").write_bytes(gzip.compress(bytes(range(256)))[:-9])
    with pytest.raises(DataError, match=r"^truncated or damaged: Compressed file ended"):
        read_file(tmp_path / "x", 256, silent)


def test_flipped_byte_in_a_gzip(tmp_path):
    packed = bytearray(gzip.compress(bytes(range(256))))
    packed[-6] ^= 1  # in the checksum
    (tmp_path / "x").write_bytes(packed)
    with pytest.raises(DataError, match="CRC check failed"):
        read_file(tmp_path / "x", 256, silent)


def test_progress_ends_at_the_file_size(tmp_path):
    path, seen = tar_with(tmp_path / "a.tar.gz", [("a/x", b"1")]), []
    read_members(path, lambda name: name, 1000, lambda *counts: seen.append(counts))
    assert seen[-1] == (path.stat().st_size,) * 2
