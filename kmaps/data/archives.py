"""Reading archives without trusting them.

Nothing is ever extracted to a path that the archive names: wanted members are read into memory
under names that the reader gives them. An archive with a member that would leave its folder, a link
or a device is nevertheless refused as a whole, because it is not the dataset. Messages do not name
the file: the caller adds the name, and knows where the file came from.
"""

import gzip
import hashlib
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import RawIOBase
from pathlib import Path, PurePosixPath
from typing import IO

from kmaps.errors import DataError

_CHUNK_BYTES = 1 << 20
_REPORT_EVERY = 256
_UNREADABLE = (
    EOFError,
    OSError,
    zlib.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    RuntimeError,  # encryption, compression that Python lacks, endlessly nested headers
    # The readers of headers raise these.
    ValueError,
    KeyError,
    IndexError,
    OverflowError,
    struct.error,
)
_HEADER_BYTES = 1 << 20  # a tar may have as many between two members
UNWANTED_BYTES = 1 << 26  # a file may have as many in addition to those wanted
_MEMBERS = 1 << 18
_PACKED = 1100  # the largest ratio: zlib packs zeros to a thousandth, and nothing packs better
_PACKED_IMAGES = 64  # the same ratio for images, whose real ratio is far lower

Report = Callable[[int, int], object]
_Entry = tuple[str, int, Callable[[], bytes]]


def describe(path: Path) -> str:
    """Return a file's size and first bytes, which distinguish an archive from an error page."""
    try:
        with open(path, "rb") as file:
            return f"the file has {path.stat().st_size:,} bytes and begins {file.read(16)!r}"
    except OSError as error:
        return f"the file cannot be read ({error.strerror})"


def read_file(path: Path, size: int, report: Report) -> tuple[bytes, str, int]:
    """Read a file, and decompress it if it is gzip.

    Return at most ``size`` bytes of the content, however large it is, and the SHA-256 and the size
    of the whole content. ``report(done, total)`` counts compressed bytes.
    """
    digest = hashlib.sha256()
    content = bytearray()
    content_size = 0
    with _readable(path), open(path, "rb") as raw, _decompressed(raw) as stream:
        total = path.stat().st_size
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
            content += chunk[: size - len(content)]
            content_size += len(chunk)
            if content_size > size + UNWANTED_BYTES:
                raise _Unsafe(f"it has more than {content_size:,} bytes, expected {size:,}")
            report(raw.tell(), total)
    return bytes(content), digest.hexdigest(), content_size


def read_members(
    path: Path,
    rename: Callable[[str], str | None],
    largest: int,
    report: Report,
    *,
    skip_links: bool = False,
) -> dict[str, bytes]:
    """Read the wanted members of a tar, a tar.gz, a zip or a tar inside a zip.

    ``rename`` takes a member's path in the archive and returns the name to keep it under, or None
    to leave it out; a wanted member of more than ``largest`` bytes is refused. With ``skip_links``
    links of a tar are left out, since the dataset has some.
    ``report(done, total)`` counts compressed bytes.
    """
    contents: dict[str, bytes] = {}
    members_bytes = 0
    with _readable(path), open(path, "rb") as raw:
        total = path.stat().st_size
        is_zip = raw.read(4) == b"PK\x03\x04"
        raw.seek(0)
        entries = _zip_entries(raw) if is_zip else _tar_entries(raw, skip_links=skip_links)
        for i, (member, size, read) in enumerate(entries):
            if i % _REPORT_EVERY == 0:
                report(raw.tell(), total)
            _refuse_bomb(i, member, size, total)
            name = rename(member)
            if name is None:
                continue
            if size > largest or name in contents:
                reason = f"has {size:,} bytes" if size > largest else "occurs twice"
                raise DataError(f"refused: member {member!r} {reason}")
            members_bytes += size
            if members_bytes > _PACKED_IMAGES * total + largest:
                raise _Unsafe(f"its members unpack to more than {_PACKED_IMAGES} times its size")
            contents[name] = read()
        report(total, total)
    return contents


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise DataError(f"truncated or damaged: {error}; {describe(path)}") from error
    except _Unsafe as error:
        raise DataError(f"refused: {error}; use another copy of the archive") from error


class _Unsafe(Exception):
    """A member that no honest copy of a dataset has."""


def _decompressed(raw: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    magic = raw.read(2)
    raw.seek(0)
    return gzip.open(raw) if magic == b"\x1f\x8b" else nullcontext(raw)


def _refuse_nameless(name: str) -> None:
    # tarfile decodes bytes that are not UTF-8 as surrogates.
    text = not any("\ud800" <= letter <= "\udfff" for letter in name)
    if not text or not PurePosixPath(name).name:
        raise _Unsafe(f"member {name!r} has no valid file name")


def _refuse_bomb(number: int, member: str, size: int, packed: int) -> None:
    """Refuse a member too large for a file of this size: skipping it would take forever."""
    if number >= _MEMBERS:
        raise _Unsafe(f"it has more than {_MEMBERS:,} members")
    if not 0 <= size <= _PACKED * packed:
        raise _Unsafe(f"member {member!r} claims {size:,} bytes, in a file of {packed:,} bytes")


class _Metered(RawIOBase):
    """A stream that limits how much is read, because tarfile reads headers of any size."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.left = 2 * _HEADER_BYTES

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self.left -= len(content)
        if self.left < 0:
            raise _Unsafe(f"it has headers of more than {_HEADER_BYTES:,} bytes")
        return content


def _tar_entries(raw: IO[bytes], *, skip_links: bool = False) -> Iterator[_Entry]:
    # gzip is opened here because tarfile's stream reader accepts a truncated file as a whole one.
    with (
        _decompressed(raw) as unpacked,
        _Metered(unpacked) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        for member in archive:
            stream.left = max(member.size, 0) + 2 * _HEADER_BYTES
            _refuse_outside(member.name)
            if skip_links and (member.issym() or member.islnk()):
                continue
            if not (member.isreg() or member.isdir()):
                raise _Unsafe(f"member {member.name!r} is a link or a device")
            if member.isreg():
                _refuse_nameless(member.name)
                yield member.name, member.size, archive.extractfile(member).read


def _zip_entries(raw: IO[bytes]) -> Iterator[_Entry]:
    with zipfile.ZipFile(raw) as archive:
        for member in archive.infolist():
            name = member.filename
            _refuse_outside(name)
            if not name:
                raise _Unsafe("a member has no name")  # is_dir() reads the name's last letter
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _Unsafe(f"member {name!r} is a link or a device")
            # macOS adds a small companion, named ._x, to every file x of a zip.
            companion = PurePosixPath(name).name.startswith("._")
            if name.endswith((".tar", ".tar.gz", ".tgz")) and not companion:
                with archive.open(member) as nested:
                    yield from _tar_entries(nested)
            elif not member.is_dir():
                _refuse_nameless(name)
                yield name, member.file_size, lambda member=member: archive.read(member)


def _refuse_outside(name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    has_drive = any(":" in step for step in path.parts[:1])
    if path.is_absolute() or ".." in path.parts or has_drive:
        raise _Unsafe(f"member {name!r} lies outside the archive's folder")
