"""Whether a folder of prebuilt modules would serve."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.jit.progress import LogObserver
from fictl.jit.store.entry import MANIFEST, MODULE, Entry, FileStamp
from fictl.jit.store.stores import STORE_FILE
from fictl.sealed import seal, unseal
from fictl.ship import verify as module
from fictl.ship.aot import ship
from fictl.ship.verify import verify

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def build(tiny: Path, tmp_path: Path) -> Path:
    """The one build of a folder."""
    (built,) = ship(tmp_path / "out", [], (), LogObserver()).built
    return Path(built.path)


@pytest.fixture
def cuobjdump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A stand-in that lists what it is told to."""

    def lists(*names: str) -> None:
        tool = tmp_path / "cuobjdump"
        lines = "".join(f"echo 'ELF file 1: module.1.{name}.cubin'\n" for name in names)
        tool.write_text(f"#!/bin/sh\n{lines}")
        tool.chmod(0o755)
        monkeypatch.setattr(module, "find_tool", lambda name: tool)

    return lists


def _problems(build: Path) -> tuple[str, ...]:
    (checked,) = verify(build.parents[4])
    return checked.problems


def _rewrite(build: Path, **facts: object) -> None:
    data = unseal((build / MANIFEST).read_text())
    (build / MANIFEST).write_text(seal({**data, **facts}))


def test_a_folder_as_it_was_made_has_no_problem(build: Path, cuobjdump) -> None:
    cuobjdump("sm_80")
    (checked,) = verify(build.parents[4])
    assert (checked.module, checked.archs) == ("elementwise.twice", ("8.0",))
    assert (checked.problems, checked.notes) == ((), ())


def test_without_cuobjdump_it_says_what_it_could_not_see(build: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "find_tool", lambda name: None)
    (checked,) = verify(build.parents[4])
    assert checked.problems == ()
    assert "there is no cuobjdump here" in checked.notes[0]


def test_code_that_is_claimed_and_not_there_is_a_problem(build: Path, cuobjdump) -> None:
    cuobjdump("sm_75", "sm_90a")
    (problem,) = _problems(build)
    assert problem == "it holds no code for 8.0, which its manifest claims, but for 75 90a"


def test_other_bytes_are_a_problem(build: Path) -> None:
    (build / MODULE).write_bytes(b"")
    (problem,) = _problems(build)
    assert "has 0 bytes" in problem


def test_another_abi_is_a_problem(build: Path) -> None:
    _rewrite(build, ffi_abi="9.9")
    (problem,) = _problems(build)
    assert problem.startswith("it speaks the ABI of tvm-ffi 9.9, here is ")


def test_a_library_that_does_not_load_is_a_problem_with_its_reason(build: Path) -> None:
    (build / MODULE).write_bytes(b"no library")
    stamp = FileStamp.of(build / MODULE)
    _rewrite(build, files={MODULE: stamp.__dict__})
    Entry.read(build).verify()
    (problem,) = _problems(build)
    assert problem.startswith("it does not load: ")


def test_a_folder_without_builds_has_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_text("{}")
    assert verify(tmp_path) == []


def test_what_is_no_such_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"it has no {STORE_FILE}"):
        verify(tmp_path / "nowhere")
