"""Lines of a pipe."""

from __future__ import annotations

import os
import time

from fictl.child.lines import Lines


def test_lines_come_one_by_one_whatever_they_were_written_in() -> None:
    read, write = os.pipe()
    lines = Lines(read)
    os.write(write, b"one\ntwo\nthr")
    soon = time.monotonic() + 5
    assert [lines.next(soon), lines.next(soon)] == [b"one", b"two"]
    assert lines.next(time.monotonic() + 0.05) is None
    os.write(write, b"ee\n")
    assert lines.next(soon) == b"three"
    os.write(write, b"torn")
    os.close(write)
    assert lines.next(soon) == b""
    os.close(read)
