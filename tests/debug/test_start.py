"""From words to places: kernels, lines of the op's files, functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.debug.debugger import Debugger
from fictl.debug.session import DebugProgram, DebugSession
from fictl.debug.start import DebugRequest, session
from fictl.errors import SetupError, UsageError
from fictl.jit.progress import LogObserver
from fictl.project import OpFolder

KERNEL = "tiny::elementwise::TwiceKernel"


@pytest.fixture
def start(tiny: Path, monkeypatch: pytest.MonkeyPatch, program) -> Callable[..., DebugSession]:
    """Emulated, by a gdb that answers and no more; nothing is built."""
    program("gdb", "echo has Python; echo 'Program stopped.'")
    program("nm", f"echo '0001 t {KERNEL}(int*)'")
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    module = tiny / "module.so"
    module.write_bytes(b"\0/elsewhere/kernels/include/tiny/elementwise\0")
    monkeypatch.setattr("fictl.debug.start._built", lambda specs, observer: [module])
    folder = OpFolder.of(tiny / "kernels" / "elementwise" / "twice" / "op.py")

    def make(**asked) -> DebugSession:
        case = DebugProgram.of_case(folder, ["twice"], CaseOptions())
        return session(DebugRequest(case, **asked), LogObserver())

    return make


def test_it_stops_in_the_kernels_of_the_op(start, tiny: Path) -> None:
    made = start()
    assert made.places == (KERNEL,)
    assert (made.device, made.debugger.name) == ("emu", "gdb")
    assert made.folders[0] == tiny
    headers = tiny / "kernels" / "include" / "tiny" / "elementwise"
    assert headers in made.folders
    assert made.moved == {Path("/elsewhere/kernels/include/tiny/elementwise"): headers}


def test_what_it_builds_from_then_on_is_the_debug_variant(start) -> None:
    from fictl.jit.flags import current_variant

    start()
    assert current_variant("emu") == "debug"


@pytest.mark.parametrize(
    "place",
    ["twice.cuh:6", "kernels/include/tiny/elementwise/twice.cuh:6", "elementwise/twice.cuh:6"],
)
def test_a_line_is_found_by_any_end_of_its_path(start, place: str) -> None:
    assert start(places=(place,)).places == ("elementwise/twice.cuh:6",)


def test_a_function_is_a_place(start) -> None:
    assert start(places=("tiny::run",)).places == ("tiny::run",)


def test_to_a_fault_there_is_no_place(start) -> None:
    assert start(to_fault=True).places == ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"places": ("thrice.cuh:6",)}, "no file of the op is thrice.cuh"),
        ({"places": ("twice.cuh:600",)}, "has no line 600"),
        ({"places": ("twice.cuh:0",)}, "has no line 0"),
        ({"kernel": "Thrice"}, "there is no kernel 'Thrice'"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(start, asked, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        start(**asked)


def test_without_a_gpu_the_way_out_is_told(start, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    with pytest.raises(SetupError, match="there is no GPU here") as error:
        start()
    assert "--device emu" in error.value.hint


def test_a_debugger_that_cannot_is_said_before_anything_is_built(start, monkeypatch) -> None:
    def refuse(self: Debugger) -> None:
        raise SetupError("no")

    monkeypatch.setattr(Debugger, "checked", refuse)
    monkeypatch.setattr("fictl.debug.start._built", None)
    with pytest.raises(SetupError, match="no"):
        start()
