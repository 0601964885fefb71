"""A local HTTP server whose habits the tests choose."""

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class Server:
    """Serves a folder on 127.0.0.1 and remembers the requests.

    ``cuts`` holds how many bytes of its body each of the next answers may send before the
    connection breaks; when it is used up, answers are whole. ``shift`` moves the start of every
    range that is asked for.
    """

    folder: Path
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    status: int = 200
    shift: int = 0
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_GET(self):
            wanted = self.headers.get("Range")
            server.requests.append((self.path, wanted))
            path = server.folder / self.path.lstrip("/")
            if server.status != 200 or not path.is_file():
                self.send_error(server.status if server.status != 200 else 404)
                return
            body, start = path.read_bytes(), 0
            if wanted and server.ranges:
                start = int(wanted.removeprefix("bytes=").removesuffix("-")) + server.shift
                if start >= len(body):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(body)}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            cut = server.cuts.pop(0) if server.cuts else len(body)
            self.wfile.write(body[start : start + cut])

    return Handler


@pytest.fixture
def serve(monkeypatch):
    """Return the function that starts a server; the network counts as there meanwhile."""
    monkeypatch.delenv("KMAPS_OFFLINE")
    monkeypatch.setattr("kmaps.data.transfer._PAUSES_S", (0, 0))
    running = []

    def start(folder: Path, **habits) -> Server:
        server = Server(folder, **habits)
        http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
        server.url = f"http://127.0.0.1:{http.server_port}"
        threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        running.append(http)
        return server

    yield start
    for http in running:
        http.shutdown()
        http.server_close()
