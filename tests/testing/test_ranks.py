"""run_ranks(): calls of several ranks, whose kernels run together."""

from __future__ import annotations

from functools import partial

import pytest
import torch

import fictl
from fictl.emu.report import Place, Report
from fictl.op.ffi.emulated import KernelDefect
from fictl.testing import run_ranks


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch, users_cache: None) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("checked", ["0", "1"], ids=["fast", "check"])
def test_every_rank_gets_its_result(monkeypatch: pytest.MonkeyPatch, checked: str) -> None:
    monkeypatch.setenv("FICTL_EMU_CHECK", checked)
    inputs = [torch.randn(33) for _ in range(3)]
    outs = run_ranks([partial(fictl.ops.scale, x, float(i)) for i, x in enumerate(inputs)])
    for i, (x, out) in enumerate(zip(inputs, outs, strict=True)):
        torch.testing.assert_close(out, x * i)


@pytest.mark.usefixtures("emulated")
def test_a_call_that_fails_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> torch.Tensor:
        raise ZeroDivisionError

    x = torch.ones(4)
    with pytest.raises(ZeroDivisionError):
        run_ranks([partial(fictl.ops.scale, x, 2.0), fails])
    assert fictl.ops.scale(x, 2.0).tolist() == [2.0] * 4


@pytest.mark.usefixtures("emulated")
def test_a_defect_is_raised_when_the_kernels_have_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from fictl.jit.emulation import emulated_device

    found = Report("hang", "AllReduce", "nothing changes", "uneven", Place(), facts={"rank": 2})
    device = emulated_device()
    monkeypatch.setattr(type(device), "take_reports", lambda self: [found])
    with pytest.raises(KernelDefect, match=r"run_ranks: hang[\s\S]*kernel AllReduce, rank 2"):
        run_ranks([lambda: None])


@pytest.mark.needs_gpu
def test_on_a_gpu_each_rank_has_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    x = torch.ones(4, device="cuda")
    streams = []

    def call(factor: float) -> torch.Tensor:
        streams.append(torch.cuda.current_stream().cuda_stream)
        return x * factor

    outs = run_ranks([partial(call, float(rank)) for rank in range(3)])
    assert [out.tolist() for out in outs] == [[0.0] * 4, [1.0] * 4, [2.0] * 4]
    assert len({*streams}) == 3
