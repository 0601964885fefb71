"""Archives are read without trusting them."""

import gzip
import hashlib
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


@pytest.mark.parametrize("mode", ["w", "w:gz", "zip"])
def test_tar_and_zip(tmp_path, mode):
    members = [("a/x", b"1"), (special("a", tarfile.DIRTYPE), b""), ("a/y", b"22")]
    path = tmp_path / "a"
    if mode == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.mkdir("a")
            archive.writestr("a/x", b"1")
            archive.writestr("a/y", b"22")
    else:
        tar_with(path, members, mode)
    assert read_all(path) == {"a/x": b"1", "a/y": b"22"}


def test_tar_in_a_zip_with_the_companion_that_macos_adds(tmp_path):
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
    rename, seen = {"top/x.pgm": "x"}.get, []
    found = read_members(path, rename, 10, lambda *counts: seen.append(counts))
    assert found == {"x": b"1"}
    assert seen[-1] == (path.stat().st_size,) * 2


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


KINDS = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]


@pytest.mark.parametrize(
    ("member", "message"),
    [
        *(
            (special("a/y", kind, "x"), "'a/y' is a link or a device; use another")
            for kind in KINDS
        ),
        ("a/x", "'a/x' is there twice"),
        ("a/z", "'a/z' has 1,001 bytes"),
    ],
)
def test_members_that_are_refused(tmp_path, member, message):
    content = b"0" * 1001 if member == "a/z" else b""
    path = tar_with(tmp_path / "a.tar.gz", [("a/x", b"1"), (member, content)])
    with pytest.raises(DataError, match=message):
        read_all(path)


def test_unsafe_members_of_a_zip_are_refused(tmp_path):
    link = zipfile.ZipInfo("a/y")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    inner = tar_with(tmp_path / "inner.tar", [("../x", b"1")], "w")
    for member, content, message in (
        (link, "/etc/passwd", "'a/y' is a link or a device"),
        ("inner.tar", inner.read_bytes(), "lies outside"),
    ):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr(member, content)
        with pytest.raises(DataError, match=message):
            read_all(tmp_path / "a.zip")


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
    digest = hashlib.sha256(bytes(5 << 20)).hexdigest()
    for kept in (10, 5 << 20):
        assert read_file(tmp_path / "x", kept, silent) == (bytes(kept), digest, 5 << 20)


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_damaged_gzip(tmp_path, damage):
    packed = bytearray(gzip.compress(bytes(range(256))))
    packed[-6] ^= damage == "flipped"  # in the checksum
    (tmp_path / "x").write_bytes(packed if damage == "flipped" else packed[:-9])
    said = {"truncated": "Compressed file ended", "flipped": "CRC check failed"}[damage]
    with pytest.raises(DataError, match=f"^truncated or damaged: {said}"):
        read_file(tmp_path / "x", 256, silent)


def tar_header(name=b"a/b", size=b"%011o\0" % 1):
    """Return the header of a tar's member, with any bytes for name and size."""
    header = bytearray(tarfile.TarInfo("a/b").tobuf())
    header[0:100] = name.ljust(100, b"\0")
    header[124:136] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    return bytes(header)


def pax(**headers):
    """Return a tar of one member with extended headers."""
    member = tarfile.TarInfo("a/b")
    member.size, member.pax_headers = 1, headers
    return member.tobuf(tarfile.PAX_FORMAT) + b"x".ljust(512, b"\0") + bytes(1024)


def zipped(name="a/b", content=b"x" * 500, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def damaged_lzma():
    content = bytearray(zipped(content=bytes(range(250)) * 4, method=zipfile.ZIP_LZMA))
    content[45:60] = bytes(15)
    return bytes(content)


REST = b"x".ljust(512, b"\0") + bytes(1024)
HOSTILE = {
    "tar without a name": (tar_header(b"") + REST, "has no name of a file"),
    "tar with a name that is no text": (tar_header(b"\xff\xfe") + REST, "has no name of a file"),
    "tar of 2^87 bytes": (
        tar_header(size=b"\x80" + (2**87).to_bytes(11, "big")) + REST,
        "claims 154,742,504,910,672,534,362,390,528 bytes, in a file of 2,048",
    ),
    "tar of negative size": (tar_header(size=b"\xff" * 12) + REST, "claims -1 bytes"),
    "pax of 2^95 bytes": (pax(size=str(2**95)), "bytes, in a file of"),
    "pax without a name": (pax(path=""), "has no name of a file"),
    "pax with a map that is none": (pax(**{"GNU.sparse.map": "0,1,x"}), "truncated or damaged"),
    "zip without a name": (zipped("ab").replace(b"ab", b"\0b"), "a member has no name"),
    "zip with a name that is no text": (
        zipped("a/é").replace("é".encode(), b"\xff\xfe"),
        "truncated or damaged",
    ),
    "damaged lzma": (damaged_lzma(), "truncated or damaged: Corrupt input data"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_is_refused(tmp_path, case):
    content, message = HOSTILE[case]
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_members(tmp_path / "a", lambda name: name, 1000, silent)
    assert message in str(caught.value)
    if "2^" in case:  # nor where the member is not wanted, and would be read over
        with pytest.raises(DataError):
            read_members(tmp_path / "a", lambda name: None, 1000, silent)


def test_headers_that_unpack_to_gigabytes_are_not_read(tmp_path):
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 6 * 2**30
    with gzip.open(tmp_path / "a.tar.gz", "wb", compresslevel=1) as file:
        file.write(long_name.tobuf(tarfile.GNU_FORMAT))
        file.write(bytes(4 * 2**20))  # the beginning of the six gigabytes
    with pytest.raises(DataError, match="headers of more than 1,048,576 bytes"):
        read_members(tmp_path / "a.tar.gz", lambda name: name, 1000, silent)


def test_members_that_unpack_to_far_more_than_images_do_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(50):
            archive.writestr(f"a/{number}", bytes(10**6))
    with pytest.raises(DataError, match="unpack to more than 64 times its size"):
        read_members(tmp_path / "a.zip", lambda name: name, 10**6, silent)
