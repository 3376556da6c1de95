"""Instructions that the emulated device lacks fail where they are executed, and by name."""

from __future__ import annotations

import ctypes

import pytest

pytestmark = pytest.mark.usefixtures("compiler")

NOWHERE = -1


@pytest.fixture
def run(emulate, device):
    library = emulate("ptx_missing.cu")
    out = (ctypes.c_int * 4)()

    def run(which: int, at: int):
        return library.run(which, out, at), device.take_reports(), list(out)

    return run


@pytest.mark.parametrize(("which", "written"), [(0, 1), (1, 7), (2, 2)])
def test_what_is_not_executed_does_no_harm(run, which, written) -> None:
    assert run(which, NOWHERE) == (0, [], [written] * 4)


@pytest.mark.parametrize(
    ("which", "kind", "line", "said"),
    [
        (0, "missing", 9, "PTX instruction tensormap.replace.tile.rank.global.b1024.b32"),
        (1, "missing", 16, "PTX instruction mov.u32 (the operand %envreg3)"),
        (2, "trap", 23, "trap"),
    ],
)
def test_what_is_executed_ends_the_kernel_with_name_and_line(run, which, kind, line, said) -> None:
    code, (report,), _ = run(which, 2)
    assert code != 0
    assert (report.kind, report.place.line, report.at.thread) == (kind, line, (2, 0, 0))
    assert report.place.file.endswith("ptx_missing.cu")
    assert said in report.text()
