"""What a killed scaffold left beside its files, wherever it was killed, goes with the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fictl.paths import cache_root
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.write import apply

ROOT = Path(__file__).resolve().parents[3]

# Stops itself before the n-th step that changes a file system.
_STOPPED = """
import os, signal, sys
from pathlib import Path
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.write import apply
root, left, how = Path(sys.argv[1]), int(sys.argv[2]), getattr(signal, sys.argv[3])
def watched(event, arguments):
    global left
    steps = {"os.mkdir", "os.rename", "os.remove", "os.rmdir"}
    if event in steps or (event == "open" and arguments[2] & os.O_CREAT):
        if str(root) in str(arguments[0]):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), how)
sys.addaudithook(watched)
apply(Plan(root, {root / "new" / f"{n}.py": "text" for n in range(2)} | {root / "old.py": "b"}), "x")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "old.py").write_text("a")
    (root / ".mine.scaffold").write_text("of the user")
    return root


def _tree(root: Path) -> dict[str, str]:
    paths = root.rglob("*")
    return {str(path): path.read_text() if path.is_file() else "/" for path in paths}


def _start(root: Path, steps: int, how: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", _STOPPED, str(root), str(steps), how]
    return subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(ROOT)})


def test_wherever_it_was_killed_the_next_command_takes_it_away(root: Path) -> None:
    before, ends = _tree(root), []
    for steps in range(30):
        ends.append(_start(root, steps, "SIGKILL").wait())
        apply(Plan(root, {}), "next")
        if ends[-1] == 0:
            break
        assert _tree(root) == before, steps
    assert ends[-1] == 0
    assert len(ends) > 5
    assert not list(cache_root().rglob("*.staged"))


def test_what_a_live_process_has_written_stays(root: Path) -> None:
    other = _start(root, 3, "SIGSTOP")
    try:
        end = time.monotonic() + 30
        while not list(root.rglob(".*.py.scaffold")) and time.monotonic() < end:
            time.sleep(0.05)
        before = sorted(root.rglob(".*.py.scaffold"))
        assert before
        apply(Plan(root, {root / "another.py": "text"}), "next")
        assert sorted(root.rglob(".*.py.scaffold")) == before
        other.send_signal(signal.SIGCONT)
        other.send_signal(signal.SIGKILL)
    finally:
        other.kill()
        other.wait()
    apply(Plan(root, {}), "next")
    assert not list(root.rglob(".*.py.scaffold"))
    assert (root / ".mine.scaffold").exists()


@pytest.mark.parametrize("text", ["", "{}", '{"paths": ["/etc/passwd"], "folders": []}'])
def test_a_note_that_cannot_be_trusted_is_dropped(root: Path, text: str) -> None:
    folder = cache_root() / "scaffold"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "a.staged").write_text(text)
    apply(Plan(root, {}), "next")
    assert not list(folder.iterdir())
    assert Path("/etc/passwd").exists()
