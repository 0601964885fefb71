"""Ask each address of the packaged datasets for its head, and warn of those that do not answer.

A publisher that is down is no mistake of the project: ``python tools/check_addresses.py`` prints a
line for each address, warnings as GitHub shows them, and ends with exit code 0. A scheduled job
runs it.
"""

from collections.abc import Iterable

import requests

from kmaps.data import load_manifest, packaged

TIMEOUT_S = (20, 60)  # for the connection, and for the answer


def problem_of(url: str) -> str:
    """Return why an address would not serve its file; nothing where it would.

    Signed addresses refuse HEAD, so that the first byte is asked for where a head is refused.
    """
    try:
        with requests.head(url, allow_redirects=True, timeout=TIMEOUT_S) as answer:
            if answer.ok:
                return ""
        headers = {"Range": "bytes=0-0"}
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as answer:
            return "" if answer.ok else f"HTTP {answer.status_code} {answer.reason}"
    except requests.RequestException as error:
        return f"{type(error).__name__}: {error}"


def lines(names: Iterable[str]) -> Iterable[str]:
    """Yield a line for each address of some datasets, once it has answered or not."""
    visited = set()
    for name in names:
        for source in load_manifest(name).files:
            for url in source.urls:
                if url in visited:
                    continue
                visited.add(url)
                problem = problem_of(url)
                yield f"::warning::{name}: {url}: {problem}" if problem else f"{name}: {url}: ok"


if __name__ == "__main__":
    for line in lines(packaged()):
        print(line, flush=True)
