from __future__ import annotations

import os

import pytest

from fictl.child.message import received, send


def test_a_message_is_found_behind_half_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"half a line")
    send("row", text="a\nb ± c")
    lines = capfd.readouterr().out.split("\n")
    found = [message for message in map(received, lines) if message]
    assert found == [{"kind": "row", "text": "a\nb ± c"}]
