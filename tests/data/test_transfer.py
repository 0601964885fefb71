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


def test_whole_file_in_one_request(serve, folder, target):
    server, seen = serve(folder), []
    assert not fetch_url(
        f"{server.url}/file", target, lambda *counts: seen.append(counts), largest=10**6
    )
    assert target.read_bytes() == BODY
    assert server.requests == [("/file", None)]
    assert seen[-1] == (len(BODY), len(BODY))
    assert not part_of(target).exists()


def test_broken_connection_goes_on_with_a_range(serve, folder, target):
    server = serve(folder, cuts=[1000, 500])
    assert fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert target.read_bytes() == BODY
    assert [wanted for _, wanted in server.requests] == [None, "bytes=1000-", "bytes=1500-"]


def test_server_without_ranges_starts_over(serve, folder, target):
    server = serve(folder, ranges=False, cuts=[1000])
    assert not fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert target.read_bytes() == BODY
    assert [wanted for _, wanted in server.requests] == [None, "bytes=1000-"]


def test_next_run_goes_on_after_too_many_breaks(serve, folder, target):
    server = serve(folder, cuts=[100, 100, 100])
    with pytest.raises(DataError, match=r"/file: .*; the next download goes on from byte 300$"):
        fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert not target.exists()
    assert part_of(target).read_bytes() == BODY[:300]
    assert fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert server.requests[-1] == ("/file", "bytes=300-")
    assert target.read_bytes() == BODY


def test_complete_part_is_only_renamed(serve, folder, target):
    target.parent.mkdir()
    part_of(target).write_bytes(BODY)
    server = serve(folder)
    assert fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert server.requests == [("/file", f"bytes={len(BODY)}-")]
    assert target.read_bytes() == BODY


def test_part_longer_than_the_file_is_dropped(serve, folder, target):
    target.parent.mkdir()
    part_of(target).write_bytes(BODY + b"more")
    server = serve(folder)
    fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert [wanted for _, wanted in server.requests] == [f"bytes={len(BODY) + 4}-", None]
    assert target.read_bytes() == BODY


def test_server_that_goes_on_elsewhere_is_not_believed(serve, folder, target):
    target.parent.mkdir()
    part_of(target).write_bytes(BODY[:10])
    server = serve(folder, shift=3)
    assert not fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert [wanted for _, wanted in server.requests] == ["bytes=10-", None]
    assert target.read_bytes() == BODY


def test_missing_page_is_asked_for_once(serve, folder, target):
    server = serve(folder)
    with pytest.raises(DataError, match=r"/nothing: HTTP 404 Not Found$"):
        fetch_url(f"{server.url}/nothing", target, lambda *counts: None, largest=10**6)
    assert len(server.requests) == 1


def test_overloaded_server_is_asked_again(serve, folder, target):
    server = serve(folder, status=503)
    with pytest.raises(DataError, match="503"):
        fetch_url(f"{server.url}/file", target, lambda *counts: None, largest=10**6)
    assert len(server.requests) == 3


def test_nobody_listens(serve, folder, target):
    serve(folder)
    with pytest.raises(DataError, match=r"127\.0\.0\.1.*refused"):
        fetch_url("http://127.0.0.1:9/file", target, lambda *counts: None, largest=10**6)


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
        (OK + b"Content-Length: 999999999999\r\n\r\n", "bytes or more, the file has 1,000,000 at"),
    ],
)
def test_an_answer_that_is_none_is_one_line(lie, target, answer, message):
    url = lie(answer)
    with pytest.raises(DataError) as caught:
        fetch_url(url, target, lambda *counts: None, largest=10**6)
    assert str(caught.value).startswith(url)
    assert message in str(caught.value)
    assert not target.exists()


@pytest.mark.parametrize("length", [b"-5", b"5, 5", b"many", b"9" * 5000])
def test_a_length_that_is_no_number_says_nothing(lie, target, length):
    url = lie(OK + b"Content-Length: " + length + b"\r\nConnection: close\r\n\r\nhello")
    with contextlib.suppress(DataError):
        fetch_url(url, target, lambda *counts: None, largest=10**6)
        assert target.read_bytes() == b"hello"


def test_an_endless_body_is_not_kept(lie, target):
    url = lie(OK + b"Connection: close\r\n\r\n", bytes(2**18), endless=True)
    with pytest.raises(DataError, match="bytes or more, the file has 1,000,000 at most"):
        fetch_url(url, target, lambda *counts: None, largest=10**6)
    assert not part_of(target).exists()


def test_a_body_that_trickles_is_given_up(lie, target, monkeypatch):
    monkeypatch.setattr("kmaps.data.transfer._PATIENCE_S", 0.05)
    url = lie(OK + b"Content-Length: 999\r\n\r\n", b"x", pause_s=0.01, endless=True)
    with pytest.raises(DataError, match=r"bytes came in 0 s, which is too slow; the next download"):
        fetch_url(url, target, lambda *counts: None, largest=10**6)
