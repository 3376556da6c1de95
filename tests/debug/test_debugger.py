"""Which debugger there is, and what is said where it cannot do its work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl import toolchain
from fictl.debug.debugger import Debugger, find_debugger
from fictl.errors import SetupError

WORKS = "echo has Python; echo 'Program stopped.'"


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is on PATH, and no toolkit is found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("fictl.debug.debugger.find_nvcc", lambda: None)
    monkeypatch.setattr("fictl.toolchain.tools.find_nvcc", lambda: None)
    toolchain.forget()


@pytest.mark.parametrize(
    ("device", "said", "way"),
    [
        ("cuda", "cuda-gdb was not found", "apt install cuda-gdb-13-0"),
        ("cuda", "cuda-gdb was not found", "--device emu debugs with gdb"),
        ("emu", "gdb was not found", "apt install gdb"),
    ],
)
def test_where_there_is_none_it_is_said_how_to_get_it(nothing, device, said, way) -> None:
    with pytest.raises(SetupError, match=said) as error:
        find_debugger(device)
    assert way in error.value.hint


@pytest.mark.parametrize(("device", "name"), [("cuda", "cuda-gdb"), ("emu", "gdb")])
def test_each_device_has_its_own(program: Callable[[str, str], Path], device, name) -> None:
    path = program(name, WORKS)
    found = find_debugger(device)
    assert (found.name, found.path) == (name, path)
    assert found.checked().has_python


@pytest.mark.parametrize(
    ("name", "body", "said", "way"),
    [
        (
            "gdb",
            "echo has Python; echo 'warning: ptrace: Operation not permitted'",
            "ptrace",
            "SYS_PTRACE",
        ),
        ("cuda-gdb", "echo 'Could not trace the inferior process.'", "ptrace", "SYS_PTRACE"),
        ("gdb", "echo 'Program stopped.'", "has no Python in it", "gdb-minimal"),
        ("cuda-gdb", "echo libx.so is missing; exit 127", "libx.so is missing", "cuda-gdb-13-0"),
        ("cuda-gdb", "exit 1", "does not work here: nothing", "PATH"),
    ],
)
def test_one_that_cannot_is_said_with_what_mends_it(
    script: Callable[[str, str], Path], monkeypatch, name, body, said, way
) -> None:
    monkeypatch.setattr("fictl.debug.debugger.find_nvcc", lambda: None)
    with pytest.raises(SetupError, match=said) as error:
        Debugger(name, script(name, body)).checked()
    assert way in error.value.hint


def test_cuda_gdb_may_be_one_without_python(script: Callable[[str, str], Path]) -> None:
    body = "echo \"Python scripting is not supported: has Python\"; echo 'Program stopped.'"
    assert not Debugger("cuda-gdb", script("cuda-gdb", body)).checked().has_python


def test_one_that_hangs_is_said(script: Callable[[str, str], Path], monkeypatch) -> None:
    monkeypatch.setattr("fictl.debug.debugger._SECONDS", 0.05)
    with pytest.raises(SetupError, match="does not answer"):
        Debugger("gdb", script("gdb", "sleep 9")).checked()
