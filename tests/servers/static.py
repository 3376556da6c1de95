"""Python's own file server: GET and HEAD of what lies in a folder, as any web server does it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .loopback import HOST


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def static_server(folder: Path) -> Iterator[str]:
    """Yield its URL."""
    with ThreadingHTTPServer((HOST, 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
