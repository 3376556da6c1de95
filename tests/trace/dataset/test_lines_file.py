from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.trace.dataset.lines_file import append_lines

_WRITER = """
import sys
from pathlib import Path
from fictl.trace.dataset.lines_file import append_lines
for i in range(200):
    append_lines(Path(sys.argv[1]), [sys.argv[2] * (i * 50 + 1) + "\\n"])
"""


def test_lines_of_processes_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "new" / "data.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), letter]) for letter in "abc"
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = path.read_text().splitlines()
    assert len(lines) == 600
    assert {len({*line}) for line in lines} == {1}


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"a": 1}\n{"b"')
    append_lines(path, ["c\n", "d\n"])
    assert path.read_text() == '{"a": 1}\n{"b"\nc\nd\n'


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(FictlError, match="cannot be appended to: Is a directory"):
        append_lines(tmp_path, ["a\n"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_told() -> None:
    with pytest.raises(FictlError, match="No space left"):
        append_lines(Path("/dev/full"), [os.urandom(8).hex() + "\n"])
