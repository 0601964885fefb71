"""Bytes that were whole once: what disks, networks and ill will make of a file."""

from random import Random

# Numbers that are none, that wrap, or that are larger than any array; markup of the formats.
WORDS = [
    *(b"nan", b"-inf", b"1e999", b"-1", b"0", b"1_0", b"9" * 30, b"2147483648", b"1e-400", b"0x10"),
    *(b"9" * 401, b"[" * 100_000, b"\x1c"),
    *(b"\x00\x00\x00\x80", b"\xff" * 8, b"\x00" * 8, b"\xff\xff\xff\x7f", b"\x01" * 4),
    *(b"\n", b"\r", b"\t", b",", b":", b"#", b'"', b"qid:", b"{", b"[", b"(", b")", b"]", b"}"),
    *(b"&a", b"*a", b"<<", b"!!python/object:os.system", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x85"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"\x93NUMPY", b"\x1f\x8b", b"ustar", b"|O", b"<U", b">f8"),
]


def damaged(random: Random, content: bytes) -> bytes:
    mishaps = [_flip, _flip, _cut, _drop, _repeat, _swap, _write, _write, _insert]
    bytes_left = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        random.choice(mishaps)(random, bytes_left)
    return bytes(bytes_left)


def _span(random: Random, content: bytearray) -> slice:
    start = random.randrange(len(content) + 1)
    return slice(start, min(len(content), start + random.choice((1, 2, 4, 16, 64))))


def _flip(random: Random, content: bytearray) -> None:
    if content:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)


def _cut(random: Random, content: bytearray) -> None:
    del content[random.randrange(len(content) + 1) :]


def _drop(random: Random, content: bytearray) -> None:
    del content[_span(random, content)]


def _repeat(random: Random, content: bytearray) -> None:
    span = _span(random, content)
    content[span.start : span.start] = content[span] * random.choice((1, 1, 50))


def _swap(random: Random, content: bytearray) -> None:
    one, other = _span(random, content), _span(random, content)
    content[one], content[other] = content[other], content[one]


def _write(random: Random, content: bytearray) -> None:
    word = random.choice(WORDS)
    start = random.randrange(len(content) + 1)
    content[start : start + len(word)] = word


def _insert(random: Random, content: bytearray) -> None:
    start = random.randrange(len(content) + 1)
    content[start:start] = random.choice(WORDS)
