"""An HTTP download that continues where it broke off.

The bytes stay in ``NAME.part``, and the next attempt or the next run asks the server for the rest.
pooch, the usual library for this, fetches into a temporary file that it deletes on failure. Its
downloader, handed the part and the range, was tried on the servers that lie in the tests: it does
not say whether the server went on or began again, reads the bodies of redirections, and waits
without end for an answer that trickles.
"""

import http.client
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any
from urllib.parse import urljoin

from kmaps.errors import DataError

_PAUSES_S = (0.5, 1.0)  # before the second and before the third attempt
_TIMEOUT_S = (10, 30)  # for the connection, and between two packets
_CHUNK_BYTES = 1 << 18
_LEAST_RATE = 10_000  # bytes per second, over _PATIENCE_S; with `largest` it bounds the whole time
_PATIENCE_S = 60  # also for the header, with all redirections
_REDIRECTIONS = 5
_WAITING_CHUNKS = 8  # at most so many wait in memory

_Take = Callable[[float], Any]


class _Interrupted(Exception):
    """The connection ended before the file did."""


class _Endless(Exception):
    """The server sends more than the file can have."""


def fetch_url(
    url: str, target: Path, report: Callable[[int, int | None], object], *, largest: int
) -> bool:
    """Download ``url`` to ``target``, which appears only when it is complete.

    An existing target counts as downloaded. ``report(done, total)`` is called as bytes arrive;
    total may be None. Return whether the file comes from several answers or from an earlier call:
    if its content is wrong, fetching it from the start may help.

    Raise a DataError if the server refuses, or breaks off or is too slow in every attempt (the
    bytes are kept), or if it sends more than ``largest`` bytes (they are deleted).
    """
    import requests  # imported late: it takes longer than the rest of the package
    import urllib3

    if target.exists():
        return True
    partial_file = target.with_name(target.name + ".part")
    partial_file.parent.mkdir(parents=True, exist_ok=True)
    for pause_s in (*_PAUSES_S, None):
        try:
            resumed = _go_on(url, partial_file, report, largest)
            break
        except _Endless as error:
            partial_file.unlink(missing_ok=True)
            raise DataError(f"{url}: {error}") from error
        # Python raises ValueError for invalid addresses and chunks.
        except (
            requests.RequestException,
            urllib3.exceptions.HTTPError,
            http.client.HTTPException,
            _Interrupted,
            ValueError,
        ) as error:
            response = getattr(error, "response", None)
            if response is not None and 400 <= response.status_code < 500:
                raise DataError(f"{url}: HTTP {response.status_code} {response.reason}") from error
            if pause_s is None:
                message = f"{url}: {_reason(error)}"
                n_bytes = _size(partial_file)
                if n_bytes:
                    message += f"; the next download goes on from byte {n_bytes:,}"
                raise DataError(message) from error
            time.sleep(pause_s)
    partial_file.replace(target)
    return resumed


def _go_on(
    url: str, partial_file: Path, report: Callable[[int, int | None], object], largest: int
) -> bool:
    """Append the missing bytes to a file, or write all of it when the server cannot go on."""
    done = _size(partial_file)
    # A server that compresses on the fly would count other bytes: hence "identity".
    headers = {"Accept-Encoding": "identity"}
    if done:
        headers["Range"] = f"bytes={done}-"
    with _asked(url, headers) as take:
        response = take(_PATIENCE_S)
        if response is None:
            raise _Interrupted(f"no answer in {_PATIENCE_S} s")
        first, full_size = _content_range(response.headers.get("Content-Range", ""))
        if response.status_code == 416 and full_size == done:
            return True
        if response.status_code == 416 or (response.status_code == 206 and first != done):
            partial_file.unlink(missing_ok=True)
            raise _Interrupted(f"the server cannot go on from byte {done:,}")
        response.raise_for_status()
        if response.status_code != 206:
            done = 0
        resumed = done > 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if re.fullmatch(r"\d{1,18}", length) else None
        _refuse_endless(total or done, largest)
        with open(partial_file, "ab" if done else "wb") as file:
            for chunk in _chunks(take):
                done += len(chunk)
                _refuse_endless(done, largest)
                file.write(chunk)
                report(done, total)
    if total is not None and done != total:
        raise _Interrupted(f"the connection ended after {done:,} of {total:,} bytes")
    return resumed


@contextmanager
def _asked(url: str, headers: dict[str, str]) -> Iterator[_Take]:
    """Yield a function that returns a response, then the chunks of its body, empty at its end.

    It waits for the given seconds at most, and then returns None. A thread reads the answer, and is
    abandoned then: a server that sends one byte per second blocks whatever reads a header.
    """
    arrived: Queue[Any] = Queue(_WAITING_CHUNKS)
    ended = Event()
    Thread(target=_read_answer, args=(url, headers, arrived, ended), daemon=True).start()

    def take(seconds: float) -> Any:
        with suppress(Empty):
            answer = arrived.get(timeout=max(seconds, 0))
            if isinstance(answer, Exception):
                raise answer
            return answer

    try:
        yield take
    finally:
        ended.set()
        with suppress(Empty):  # the thread may wait for a place in the queue
            while True:
                arrived.get_nowait()


def _read_answer(url: str, headers: dict[str, str], arrived: Queue[Any], ended: Event) -> None:
    import requests

    try:
        with requests.Session() as session:
            # We follow redirections: requests would read their bodies, however long they are.
            target = session.get_redirect_target
            session.get_redirect_target = lambda answer: None
            for _ in range(_REDIRECTIONS + 1):
                response = session.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S)
                location = target(response)
                if location is None:
                    break
                response.close()
                url = urljoin(url, location)
            else:
                raise _Interrupted(f"more than {_REDIRECTIONS} redirections")
            arrived.put(response)
            while not ended.is_set():
                chunk = response.raw.read1(_CHUNK_BYTES, decode_content=False)
                arrived.put(chunk)
                if not chunk:
                    return
    except Exception as error:
        arrived.put(error)


def _refuse_endless(size: int, largest: int) -> None:
    if size > largest:
        raise _Endless(f"the server sends {size:,} bytes or more, expected at most {largest:,}")


def _chunks(take: _Take) -> Iterator[bytes]:
    """Yield the body as it arrives; a server that is too slow counts as broken off."""
    n_received = 0
    since = time.monotonic()
    while True:
        chunk = take(since + _PATIENCE_S - time.monotonic())
        if chunk == b"":
            return
        if chunk is not None:
            yield chunk
            n_received += len(chunk)
        waited = time.monotonic() - since
        if waited >= _PATIENCE_S:
            if n_received < _LEAST_RATE * waited:
                raise _Interrupted(
                    f"{n_received:,} bytes arrived in {waited:.0f} s, which is too slow"
                )
            n_received = 0
            since = time.monotonic()


def _content_range(header: str) -> tuple[int | None, int | None]:
    """Return the first byte and the total size that a Content-Range header states."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", header)
    first, total = match.groups() if match else (None, None)
    return first and int(first), total and int(total)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _reason(error: Exception) -> str:
    # urllib3 nests its messages; the innermost one says what happened.
    while error.args and isinstance(error.args[-1], Exception):
        error = error.args[-1]
    return str(getattr(error, "reason", None) or error)
