"""Archives are read without trusting them."""

import gzip
import stat
import tarfile
import zipfile

import pytest
from packed import tarred, zipped

from kmaps.data.archives import read_file, read_members
from kmaps.errors import DataError


def silent(done, total):
    pass


def special(name, kind):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "x"
    return info


@pytest.fixture
def read(tmp_path):
    """Return the function that reads the members of an archive."""
    path = tmp_path / "archive"

    def read_content(content, rename=lambda name: name, largest=1000, report=silent):
        path.write_bytes(content)
        found = read_members(path, rename, largest, report)
        assert list(tmp_path.iterdir()) == [path]  # nothing is extracted
        return found

    return read_content


TWO = ("a/x", b"1"), ("a/y", b"22")


@pytest.mark.parametrize(
    "content",
    [
        tarred(TWO[0], (special("a", tarfile.DIRTYPE), b""), TWO[1], mode="w"),
        tarred(*TWO),
        zipped(("a/", b""), *TWO),
        # With the companion that macOS adds.
        zipped(("top/in.tar.gz", tarred(*TWO)), ("__MACOSX/top/._in.tar.gz", b"no tar")),
    ],
    ids=["tar", "tar.gz", "zip", "tar in a zip"],
)
def test_tar_and_zip(read, content):
    assert read(content, lambda name: name if name[0] == "a" else None) == dict(TWO)


def test_unwanted_members_are_left_out_and_others_renamed(read):
    content, seen = tarred(("top/x.pgm", b"1"), ("top/readme", b"2" * 5000)), []
    rename = {"top/x.pgm": "x"}.get
    assert read(content, rename, 10, lambda *counts: seen.append(counts)) == {"x": b"1"}
    assert seen[-1] == (len(content),) * 2


def tar_header(name=b"a/b", size=b"%011o\0" % 1):
    """Return a tar of one member, with any bytes for name and size."""
    header = bytearray(tarfile.TarInfo("a/b").tobuf())
    header[0:100] = name.ljust(100, b"\0")
    header[124:136] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    return bytes(header) + b"x".ljust(512, b"\0") + bytes(1024)


def pax(**headers):
    """Return a tar of one member with extended headers."""
    member = tarfile.TarInfo("a/b")
    member.size, member.pax_headers = 1, headers
    return member.tobuf(tarfile.PAX_FORMAT) + b"x".ljust(512, b"\0") + bytes(1024)


def zipped_link():
    link = zipfile.ZipInfo("a/y")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped((link, "/etc/passwd"))


def damaged_lzma():
    content = bytearray(zipped(("a/b", bytes(range(250)) * 4), method=zipfile.ZIP_LZMA))
    content[45:60] = bytes(15)
    return bytes(content)


def long_name():
    """Return the beginning of a tar whose first name has six gigabytes."""
    name = special("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    name.size = 6 * 2**30
    return gzip.compress(name.tobuf(tarfile.GNU_FORMAT) + bytes(4 * 2**20), 1)


OUTSIDE = ("../x", "/etc/x", "a/../../x", "..\\x", "C:/x")
LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
NOISE = bytes(i * i % 251 for i in range(900))
# A tar ends in zeros that gzip packs into few bytes: many members, so that half is half.
MANY = {"tar.gz": tarred(*((f"a/{i}", NOISE[i:]) for i in range(50))), "zip": zipped(("a", NOISE))}
HOSTILE = {
    **{f"tar to {name}": (tarred(TWO[0], (name, b"2")), "lies outside") for name in OUTSIDE},
    **{
        f"zip to {name}": (zipped((name, b"2")), "outside the archive's folder") for name in OUTSIDE
    },
    "tar in a zip to ../x": (zipped(("in.tar", tarred(("../x", b"1"), mode="w"))), "lies outside"),
    **{
        f"tar with a {kind!r}": (tarred((special("a/y", kind), b"")), "'a/y' is a link or a device")
        for kind in LINKS
    },
    "zip with a link": (zipped_link(), "'a/y' is a link or a device; use another"),
    "tar with a name twice": (tarred(*TWO, TWO[0]), "member 'a/x' occurs twice"),
    "tar with a large member": (tarred(("a/z", bytes(1001))), "member 'a/z' has 1,001 bytes"),
    **{
        f"{share} of a {suffix}": (whole[: int(share * len(whole))], "truncated or damaged: ")
        for suffix, whole in MANY.items()
        for share in (0.5, 0.98)
    },
    "error page": (
        b"<!DOCTYPE html><html>Not here</html>",
        "; the file has 36 bytes and begins b'<!DOCTYPE html><'",
    ),
    "tar without a name": (tar_header(b""), "has no valid file name"),
    "tar with a name that is no text": (tar_header(b"\xff\xfe"), "has no valid file name"),
    "tar of 2^87 bytes": (
        tar_header(size=b"\x80" + (2**87).to_bytes(11, "big")),
        "claims 154,742,504,910,672,534,362,390,528 bytes, in a file of 2,048",
    ),
    "tar of negative size": (tar_header(size=b"\xff" * 12), "claims -1 bytes"),
    "pax of 2^95 bytes": (pax(size=str(2**95)), "bytes, in a file of"),
    "pax without a name": (pax(path=""), "has no valid file name"),
    "pax with a map that is none": (pax(**{"GNU.sparse.map": "0,1,x"}), "truncated or damaged"),
    "zip without a name": (zipped(("ab", b"x")).replace(b"ab", b"\0b"), "a member has no name"),
    "zip with a name that is no text": (
        zipped(("a/é", b"x")).replace("é".encode(), b"\xff\xfe"),
        "truncated or damaged",
    ),
    "damaged lzma": (damaged_lzma(), "truncated or damaged: Corrupt input data"),
    "headers of gigabytes": (long_name(), "headers of more than 1,048,576 bytes"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_is_refused(read, case):
    content, message = HOSTILE[case]
    with pytest.raises(DataError) as caught:
        read(content)
    assert message in str(caught.value)
    if "2^" in case:  # nor where the member is not wanted, and would be read over
        with pytest.raises(DataError):
            read(content, lambda name: None)


def test_members_that_unpack_to_far_more_than_images_do_are_refused(read):
    content = zipped(*((f"a/{i}", bytes(10**6)) for i in range(50)), method=zipfile.ZIP_DEFLATED)
    with pytest.raises(DataError, match="unpack to more than 64 times its size"):
        read(content, largest=10**6)


def test_a_file_far_larger_than_expected_is_not_read_to_its_end(tmp_path):
    with open(tmp_path / "x", "wb") as file:
        file.truncate(10**12)  # a sparse file: no bytes on the disk
    with pytest.raises(DataError, match="bytes, expected 10; use another copy"):
        read_file(tmp_path / "x", 10, silent)


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_damaged_gzip(tmp_path, damage):
    packed = bytearray(gzip.compress(bytes(range(256))))
    packed[-6] ^= damage == "flipped"  # in the checksum
    (tmp_path / "x").write_bytes(packed if damage == "flipped" else packed[:-9])
    said = {"truncated": "Compressed file ended", "flipped": "CRC check failed"}[damage]
    with pytest.raises(DataError, match=f"^truncated or damaged: {said}"):
        read_file(tmp_path / "x", 256, silent)
