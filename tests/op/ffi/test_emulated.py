"""A call of an emulated function: what its kernels report is an exception here, and no more than that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fictl.emu.device import Watched
from fictl.emu.report import Place, Report
from fictl.emu.schedule import Schedule
from fictl.emu.toolchain import current_toolchain
from fictl.errors import FictlError
from fictl.op.ffi import emulated
from fictl.op.ffi.emulated import Emulated, KernelDefect, listen

TRAP = Report("trap", "Kernel", "a trap", "", Place("k.cuh", 3))


class Device:
    """Reports what a test puts there, and keeps what it was told to watch."""

    def __init__(self) -> None:
        self.schedule = Schedule("random", 7)
        self.reports: list[Report] = []
        self.watched: list[Watched] = []

    def keep(self, arguments: tuple[Any, ...]) -> None:
        """Every kernel has run when its call returns."""

    def watch(self, tensors: list[Watched]) -> None:
        self.watched = tensors

    def take_reports(self) -> list[Report]:
        taken, self.reports = self.reports, []
        return taken


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    device = Device()
    monkeypatch.setattr(emulated, "emulated_device", lambda: device)
    monkeypatch.setattr(emulated, "_listeners", [])
    return device


@pytest.fixture
def told(device: Device) -> list[tuple[str, list[Report]]]:
    """What a listener has heard."""
    heard: list[tuple[str, list[Report]]] = []
    listen(lambda op, reports: heard.append((op, reports)))
    return heard


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")


def function(device: Device, *reports: Report, error: Exception | None = None) -> Emulated:
    """Runs a kernel that is reported so, and raises what its launcher would."""

    def run(*arguments: Any) -> Any:
        device.reports += reports
        if error:
            raise error
        return arguments

    return Emulated("scale", run)


def test_arguments_and_result_are_the_functions_own(device: Device) -> None:
    assert function(device)(1, "two") == (1, "two")


def test_an_error_without_a_report_is_the_launchers_own(device: Device) -> None:
    with pytest.raises(ValueError, match="wrong shape"):
        function(device, error=ValueError("wrong shape"))()


@pytest.mark.parametrize("error", [None, RuntimeError("cudaErrorLaunchFailure")])
def test_a_report_is_an_exception_whether_or_not_the_kernel_ended(device: Device, error) -> None:
    with pytest.raises(KernelDefect) as caught:
        function(device, TRAP, error=error)()
    assert isinstance(caught.value, FictlError)
    assert caught.value.reports == (TRAP,)
    assert caught.value.message.startswith("scale: trap: a trap\n  kernel Kernel")
    assert caught.value.hint == "FICTL_EMU_SCHEDULE=random-7 runs it in the same order again"


def test_what_was_raised_is_not_raised_again_by_the_next_call(device: Device) -> None:
    with pytest.raises(KernelDefect):
        function(device, TRAP)()
    assert function(device)(1) == (1,)


def test_a_listener_hears_of_a_kernel_that_ended_instead_of_the_caller(device, told) -> None:
    assert function(device, TRAP)(1) == (1,)
    assert told == [("scale", [TRAP])]


def test_a_kernel_that_was_stopped_is_an_exception_although_someone_listens(device, told) -> None:
    with pytest.raises(KernelDefect):
        function(device, TRAP, error=RuntimeError("stopped"))()
    assert told == [("scale", [TRAP])]


def test_a_listener_is_not_bothered_without_reports(device, told) -> None:
    function(device)()
    assert told == []


def test_nothing_is_watched_in_fast_mode(device: Device) -> None:
    function(device)(torch.ones(4))
    assert device.watched == []


def public(kernel: Any, x: Any, out: Any) -> None:
    """A public function as authors write them."""
    y = torch.ones(2)
    kernel(out, x, x[:1], y, 3.0)


public.op = SimpleNamespace(mutates=("out",))  # type: ignore[attr-defined]


def test_tensors_are_watched_by_the_names_that_the_public_function_gives_them(
    device: Device, checked: None
) -> None:
    x, out = torch.ones(2, 3).t(), torch.ones(3, 2)
    public(function(device), x, out)
    watched = {tensor.name: tensor for tensor in device.watched}
    assert set(watched) == {"out", "x", "argument 2", "y"}
    assert watched["x"] == Watched("x", x.data_ptr(), 4, (3, 2), (1, 3), writable=False)


class Planned:
    """A class with plan and run."""

    def run(self, kernel: Any, x: Any, out: Any) -> None:
        kernel(out, x)

    run.op = SimpleNamespace(mutates=("out",))  # type: ignore[attr-defined]


def test_those_of_a_class_are_its_runs(device: Device, checked: None) -> None:
    Planned().run(function(device), torch.ones(2), torch.ones(2))
    assert {each.name: each.writable for each in device.watched} == {"out": True, "x": False}


def test_only_parameters_that_are_not_mutated_are_read_only(device: Device, checked: None) -> None:
    public(function(device), torch.ones(2), torch.ones(2))
    writable = {tensor.name: tensor.writable for tensor in device.watched}
    # Of what has no name, or one of the function's own, nobody has said that it is an input.
    assert writable == {"out": True, "x": False, "argument 2": True, "y": True}


def test_an_input_that_is_the_output_as_well_may_be_written(device: Device, checked: None) -> None:
    x = torch.ones(2)
    public(function(device), x, x)
    assert {tensor.name: tensor.writable for tensor in device.watched}["out"] is True


def test_one_that_is_passed_twice_has_both_names(device: Device, checked: None) -> None:
    x = torch.ones(2)
    public(function(device), x, x)
    assert {"out", "x"} <= {tensor.name for tensor in device.watched}


def test_without_a_declaration_everything_may_be_written(device: Device, checked: None) -> None:
    x = torch.ones(2)
    function(device)(x)
    assert [(tensor.name, tensor.writable) for tensor in device.watched] == [("x", True)]


@pytest.fixture
def ops(stray, monkeypatch: pytest.MonkeyPatch):
    """The functions of the project `stray`, emulated in check mode; each is called first here."""
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    from fictl.project import Project, mount

    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    mount(Project.at(stray))
    import stray as project  # type: ignore[import-not-found]

    return project.ops


@pytest.fixture
def x() -> torch.Tensor:
    return torch.arange(80, dtype=torch.int32)


def test_a_correct_call_is_no_defect(ops, x) -> None:
    assert torch.equal(ops.shift(x, 0), x)


def test_a_write_past_the_end_names_tensor_kernel_thread_and_line(ops, x) -> None:
    with pytest.raises(KernelDefect) as caught:
        ops.shift(x, 1)
    (report,) = caught.value.reports
    assert report.kind == "out-of-bounds"
    assert "a write of 4 bytes at byte 320 of tensor 'out', which has 320 bytes" in report.what
    assert report.kernel == "stray::elementwise::ShiftKernel"
    assert report.at is not None
    assert (report.at.block, report.at.thread) == ((2, 0, 0), (15, 0, 0))
    assert (report.place.file.rpartition("/")[2], report.place.line) == ("shift.cuh", 11)


def test_the_process_lives_on(ops, x) -> None:
    with pytest.raises(KernelDefect):
        ops.shift(x, 1)
    assert torch.equal(ops.shift(x, 0), x)


def test_a_call_in_place_is_no_write_of_an_input(ops, x) -> None:
    expected = x.clone()
    assert ops.shift(x, 0, out=x) is x
    assert torch.equal(x, expected)


def test_views_of_one_tensor_may_be_input_and_output(ops, x) -> None:
    ops.shift(x[:40], 0, out=x[40:])
    ops.shift(x[:40], 0, out=x[:40])
    assert torch.equal(x[40:], x[:40])


def test_views_that_overlap_are_named_as_the_cause(ops, x) -> None:
    with pytest.raises(KernelDefect, match="'out' and 'input' overlap in memory") as raised:
        ops.shift(x[:40], 0, out=x[1:41])
    assert "syncwarp" not in str(raised.value)


@pytest.mark.parametrize(
    ("out", "by"), [(lambda y: y[:80], 1), (lambda y: y.view(-1, 2)[:, 0][:80], 1)]
)
def test_a_write_past_the_end_of_a_view_is_found_although_memory_is_there(ops, x, out, by) -> None:
    with pytest.raises(KernelDefect) as caught:
        ops.shift(x, by, out=out(torch.zeros(200, dtype=torch.int32)))
    assert "out-of-bounds" in [report.kind for report in caught.value.reports]


def test_an_op_that_writes_what_it_does_not_declare_is_found(ops, x) -> None:
    with pytest.raises(KernelDefect) as caught:
        ops.spoil(x)
    (report,) = caught.value.reports
    assert (report.kind, "tensor 'input'" in report.what) == ("read-only", True)


def test_a_tensor_elsewhere_is_refused_before_it_is_watched(ops) -> None:
    with pytest.raises(ValueError, match="'input' is on meta"):
        ops.shift(torch.ones(4, device="meta"), 0)
