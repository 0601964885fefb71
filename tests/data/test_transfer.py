"""Downloads that break off go on where they stopped, whatever the server can do."""

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
    assert not fetch_url(f"{server.url}/file", target, lambda *counts: seen.append(counts))
    assert target.read_bytes() == BODY
    assert server.requests == [("/file", None)]
    assert seen[-1] == (len(BODY), len(BODY))
    assert not part_of(target).exists()


def test_broken_connection_goes_on_with_a_range(serve, folder, target):
    server = serve(folder, cuts=[1000, 500])
    assert fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert target.read_bytes() == BODY
    assert [wanted for _, wanted in server.requests] == [None, "bytes=1000-", "bytes=1500-"]


def test_server_without_ranges_starts_over(serve, folder, target):
    server = serve(folder, ranges=False, cuts=[1000])
    assert not fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert target.read_bytes() == BODY
    assert [wanted for _, wanted in server.requests] == [None, "bytes=1000-"]


def test_next_run_goes_on_after_too_many_breaks(serve, folder, target):
    server = serve(folder, cuts=[100, 100, 100])
    with pytest.raises(DataError, match=r"/file: .*; the next download goes on from byte 300$"):
        fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert not target.exists()
    assert part_of(target).read_bytes() == BODY[:300]
    assert fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert server.requests[-1] == ("/file", "bytes=300-")
    assert target.read_bytes() == BODY


def test_complete_part_is_only_renamed(serve, folder, target):
    target.parent.mkdir()
    part_of(target).write_bytes(BODY)
    server = serve(folder)
    assert fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert server.requests == [("/file", f"bytes={len(BODY)}-")]
    assert target.read_bytes() == BODY


def test_part_longer_than_the_file_is_dropped(serve, folder, target):
    target.parent.mkdir()
    part_of(target).write_bytes(BODY + b"more")
    server = serve(folder)
    fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert [wanted for _, wanted in server.requests] == [f"bytes={len(BODY) + 4}-", None]
    assert target.read_bytes() == BODY


def test_server_that_goes_on_elsewhere_is_not_believed(serve, folder, target):
    target.parent.mkdir()
    part_of(target).write_bytes(BODY[:10])
    server = serve(folder, shift=3)
    assert not fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert [wanted for _, wanted in server.requests] == ["bytes=10-", None]
    assert target.read_bytes() == BODY


def test_missing_page_is_asked_for_once(serve, folder, target):
    server = serve(folder)
    with pytest.raises(DataError, match=r"/nothing: HTTP 404 Not Found$"):
        fetch_url(f"{server.url}/nothing", target, lambda *counts: None)
    assert len(server.requests) == 1


def test_overloaded_server_is_asked_again(serve, folder, target):
    server = serve(folder, status=503)
    with pytest.raises(DataError, match="503"):
        fetch_url(f"{server.url}/file", target, lambda *counts: None)
    assert len(server.requests) == 3


def test_nobody_listens(serve, folder, target):
    serve(folder)
    with pytest.raises(DataError, match=r"127\.0\.0\.1.*refused"):
        fetch_url("http://127.0.0.1:9/file", target, lambda *counts: None)
