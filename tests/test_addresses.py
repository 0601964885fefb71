"""The scheduled question whether datasets' addresses still answer."""

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kmaps.data import load_manifest
from tools import check_addresses


class _Host(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def _answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_HEAD(self):
        self._answer({"/there": 200, "/signed": 403}.get(self.path, 404))

    def do_GET(self):
        self._answer(206 if self.path == "/signed" and self.headers["Range"] else 404)


@pytest.fixture
def host():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Host)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_each_address_is_asked_once_and_silent_ones_are_warned_of(host, monkeypatch):
    manifest = load_manifest("letter")
    nobody = "http://127.0.0.1:1/file"
    urls = (f"{host}/there", f"{host}/signed", f"{host}/gone", nobody, f"{host}/there")
    source = replace(manifest.files[0], urls=urls)
    monkeypatch.setattr(
        check_addresses, "load_manifest", lambda name: replace(manifest, files=(source,))
    )
    there, signed, gone, silent = check_addresses.lines(["letter"])
    assert (there, signed) == (f"letter: {urls[0]}: ok", f"letter: {urls[1]}: ok")
    assert gone.startswith(f"::warning::letter: {urls[2]}: HTTP 404")
    assert silent.startswith(f"::warning::letter: {nobody}: ")
