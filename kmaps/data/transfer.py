"""One HTTP download that continues where it broke off.

pooch, the usual helper, fetches into a temporary file that it deletes on failure and compares the
digest of the packed file; here the bytes stay in ``NAME.part`` and the next attempt, or the next
run, asks the server for the rest.
"""

import http.client
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kmaps.errors import DataError

_PAUSES_S = (0.5, 1.0)  # before the second and the third attempt
_TIMEOUT_S = (10, 30)  # to connect, between two packets
_CHUNK_BYTES = 1 << 18
_LEAST_RATE = 10_000  # bytes per second, over _PATIENCE_S: with the limit it bounds the whole time
_PATIENCE_S = 60


class _Interrupted(Exception):
    """The connection ended before the file did."""


class _Endless(Exception):
    """The server sends more than the file can have."""


def fetch_url(
    url: str, target: Path, report: Callable[[int, int | None], object], *, largest: int
) -> bool:
    """Download ``url`` to ``target``, which appears only when it is complete.

    An existing target counts as downloaded. ``report(done, total)`` is called as bytes come in;
    total may be None. Returned is whether the file comes from several answers, or from an earlier
    call: if its content is wrong, fetching it from the start may help.

    Raises a DataError if the server refuses, breaks off or is too slow too often: then the bytes
    are kept; or if it sends more than ``largest`` bytes: then they are deleted.
    """
    import requests  # here: it takes longer to import than the rest of the package
    import urllib3

    if target.exists():
        return True
    part = target.with_name(target.name + ".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    for pause_s in (*_PAUSES_S, None):
        try:
            resumed = _go_on(url, part, report, largest)
            break
        except _Endless as error:
            part.unlink(missing_ok=True)
            raise DataError(f"{url}: {error}") from error
        # ValueError: what Python says of addresses and chunks that are none.
        except (
            *(requests.RequestException, urllib3.exceptions.HTTPError, _Interrupted),
            *(http.client.HTTPException, ValueError),
        ) as error:
            response = getattr(error, "response", None)
            if response is not None and 400 <= response.status_code < 500:
                raise DataError(f"{url}: HTTP {response.status_code} {response.reason}") from error
            if pause_s is None:
                kept = f"; the next download goes on from byte {n:,}" if (n := _size(part)) else ""
                raise DataError(f"{url}: {_reason(error)}{kept}") from error
            time.sleep(pause_s)
    part.replace(target)
    return resumed


def _go_on(url: str, part: Path, report: Callable[[int, int | None], object], largest: int) -> bool:
    """Append what is missing to ``part``, or write all of it when the server cannot go on."""
    import requests

    done = _size(part)
    # identity: a server that compresses on the fly counts other bytes than ours.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S) as response:
        first, whole = _content_range(response.headers.get("Content-Range", ""))
        if response.status_code == 416 and whole == done:
            return True
        if response.status_code == 416 or (response.status_code == 206 and first != done):
            part.unlink(missing_ok=True)
            raise _Interrupted(f"the server cannot go on from byte {done:,}")
        response.raise_for_status()
        if response.status_code != 206:
            done = 0
        resumed = done > 0
        length = response.headers.get("Content-Length", "")
        # One that is no number says nothing.
        total = done + int(length) if re.fullmatch(r"\d{1,18}", length) else None
        _refuse_endless(total or done, largest)
        with open(part, "ab" if done else "wb") as file:
            for chunk in _chunks(response.raw):
                done += len(chunk)
                _refuse_endless(done, largest)
                file.write(chunk)
                report(done, total)
    if total is not None and done != total:
        raise _Interrupted(f"{done:,} of {total:,} bytes came")
    return resumed


def _refuse_endless(size: int, largest: int) -> None:
    if size > largest:
        raise _Endless(f"{size:,} bytes or more, the file has {largest:,} at most")


def _chunks(raw: Any) -> Iterator[bytes]:
    """Yield the body as it comes; a server that sends a byte now and then has broken off."""
    came, since = 0, time.monotonic()
    while chunk := raw.read1(_CHUNK_BYTES, decode_content=False):
        yield chunk
        came += len(chunk)
        waited = time.monotonic() - since
        if waited > _PATIENCE_S:
            if came < _LEAST_RATE * waited:
                raise _Interrupted(f"{came:,} bytes came in {waited:.0f} s, which is too slow")
            came, since = 0, time.monotonic()


def _content_range(header: str) -> tuple[int | None, int | None]:
    """Return the first byte and the whole size that a Content-Range header states."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", header)
    first, whole = match.groups() if match else (None, None)
    return first and int(first), whole and int(whole)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _reason(error: Exception) -> str:
    # urllib3 nests its messages; the innermost one says what happened.
    while error.args and isinstance(error.args[-1], Exception):
        error = error.args[-1]
    return str(getattr(error, "reason", None) or error)
