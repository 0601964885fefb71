"""Downloads that break off go on where they stopped, whatever the server can do."""

import contextlib
import itertools
import socket
import threading
import time

import pytest

from kmaps.data.transfer import fetch_url
from kmaps.errors import DataError

BODY = bytes(range(256)) * 40


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "www/file").write_bytes(BODY)
    return tmp_path / "www"


@pytest.fixture
def target(tmp_path):
    return tmp_path / "in" / "file"


def part_of(target):
    return target.with_name("file.part")


def fetch(url, target, report=lambda *counts: None):
    return fetch_url(url, target, report, largest=10**6)


@pytest.mark.parametrize(
    ("part", "habits", "resumed", "asked"),
    [
        (b"", {}, False, [None]),
        (b"", {"cuts": [1000, 500]}, True, [None, "bytes=1000-", "bytes=1500-"]),
        (b"", {"ranges": False, "cuts": [1000]}, False, [None, "bytes=1000-"]),
        (BODY, {}, True, [f"bytes={len(BODY)}-"]),  # only renamed
        (BODY + b"more", {}, False, [f"bytes={len(BODY) + 4}-", None]),
        (BODY[:10], {"shift": 3}, False, ["bytes=10-", None]),  # a server that continues elsewhere
    ],
)
def test_a_download_continues_as_far_as_the_server_can(
    serve, folder, target, part, habits, resumed, asked
):
    if part:
        target.parent.mkdir()
        part_of(target).write_bytes(part)
    server, seen = serve(folder, **habits), []
    found = fetch(f"{server.url}/file", target, lambda *counts: seen.append(counts))
    assert found == resumed
    assert target.read_bytes() == BODY
    assert [wanted for _, wanted in server.requests] == asked
    assert part == BODY or seen[-1] == (len(BODY), len(BODY))
    assert not part_of(target).exists()


def test_next_run_continues_after_too_many_breaks(serve, folder, target):
    server = serve(folder, cuts=[100, 100, 100])
    with pytest.raises(DataError, match=r"/file: .*from byte 300$"):
        fetch(f"{server.url}/file", target)
    assert not target.exists()
    assert part_of(target).read_bytes() == BODY[:300]
    assert fetch(f"{server.url}/file", target)
    assert server.requests[-1] == ("/file", "bytes=300-")
    assert target.read_bytes() == BODY


@pytest.mark.parametrize(
    ("page", "status", "message", "times"),
    [("nothing", 200, r"/nothing: HTTP 404 Not Found$", 1), ("file", 503, "503", 3)],
)
def test_a_missing_page_is_asked_for_once_and_a_busy_server_again(
    serve, folder, target, page, status, message, times
):
    server = serve(folder, status=status)
    with pytest.raises(DataError, match=message):
        fetch(f"{server.url}/{page}", target)
    assert len(server.requests) == times


def test_nobody_listens(serve, folder, target):
    serve(folder)
    with pytest.raises(DataError, match=r"127\.0\.0\.1.*refused"):
        fetch("http://127.0.0.1:9/file", target)


@pytest.fixture
def lie(serve):
    """Return the function that starts a server of one answer, bytes on the wire."""
    running = []

    def start(*pieces, pause_s=0.0, endless=False):
        listener = socket.create_server(("127.0.0.1", 0))
        running.append(listener)

        def answer():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    connection.recv(10_000)
                    for piece in itertools.chain(pieces, itertools.repeat(pieces[-1])):
                        connection.sendall(piece)
                        time.sleep(pause_s)
                        if not endless and piece is pieces[-1]:
                            break

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/file"

    yield start
    for listener in running:
        listener.close()


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", ""),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n", ""),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n", ""),
        (b"HTTP/1.1 302 Found\r\nLocation: http://a..b/\r\n\r\n", ""),
        (b"HTTP/1.1 302 Found\r\nLocation: ftp://localhost/x\r\n\r\n", ""),
        (b"HTTP/1.1 999999 What\r\n\r\n", ""),
        (b"\0\xff\r\n\r\n", ""),
        (OK + b"Content-Length: 999999999999\r\n\r\n", "bytes or more, expected at most 1,000,000"),
    ],
)
def test_an_answer_that_is_none_is_one_line(lie, target, answer, message):
    url = lie(answer)
    with pytest.raises(DataError) as caught:
        fetch(url, target)
    assert str(caught.value).startswith(url)
    assert message in str(caught.value)
    assert not target.exists()


@pytest.mark.parametrize("length", [b"-5", b"5, 5", b"many", b"9" * 5000])
def test_a_length_that_is_no_number_says_nothing(lie, target, length):
    url = lie(OK + b"Content-Length: " + length + b"\r\nConnection: close\r\n\r\nhello")
    with contextlib.suppress(DataError):
        fetch(url, target)
        assert target.read_bytes() == b"hello"


def test_an_endless_body_is_not_kept(lie, target):
    url = lie(OK + b"Connection: close\r\n\r\n", bytes(2**18), endless=True)
    with pytest.raises(DataError, match="expected at most 1,000,000"):
        fetch(url, target)
    assert not part_of(target).exists()


@pytest.mark.parametrize(
    "answer",
    [
        [OK, b"X"],  # a header without end
        [OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0"],  # a chunk's length without end
        [OK + b"Content-Length: 999\r\n\r\n", b"x"],
    ],
)
def test_an_answer_that_trickles_is_given_up(lie, target, monkeypatch, answer):
    monkeypatch.setattr("kmaps.data.transfer._PATIENCE_S", 0.2)
    url, began = lie(*answer, pause_s=0.01, endless=True), time.monotonic()
    with pytest.raises(DataError, match=r"no answer in 0.2 s|bytes arrived in 0 s"):
        fetch(url, target)
    assert time.monotonic() - began < 20


def test_the_body_of_a_redirection_is_not_read(lie, target):
    url = lie(b"HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n", bytes(2**18), endless=True)
    with pytest.raises(DataError, match="more than 5 redirections"):
        fetch(url, target)


def test_a_redirection_is_followed(serve, lie, folder, target):
    """Five of them, which is the most."""
    url = f"{serve(folder).url}/file"
    for _ in range(5):
        url = lie(f"HTTP/1.1 302 Found\r\nLocation: {url}\r\n\r\n".encode())
    assert not fetch(url, target)
    assert target.read_bytes() == BODY
