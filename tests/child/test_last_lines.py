from __future__ import annotations

import os

import pytest

from fictl.child.last_lines import LastLines


def test_what_a_child_prints_commands_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """Also where a character, or a command, comes in two parts."""
    last = LastLines()
    data = "é\x1b[2J\x9b31mok\n✓".encode()
    for position in range(len(data)):
        os.write(last.end.fileno(), data[position : position + 1])
    last.pass_on()
    os.write(last.end.fileno(), b"\x1b]0;more\x07\n")
    assert last.text().startswith("é\x1b")  # Who shows it in an error escapes it then.
    shown = capfd.readouterr().err
    assert all(one.isprintable() or one in "\n\t" for one in shown)
    assert shown == "é\\x1b[2J\\x9b31mok\n✓\\x1b]0;more\\x07\n"
