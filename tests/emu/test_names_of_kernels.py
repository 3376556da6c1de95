"""A report names the kernel, however it was launched."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("which", "kernel"),
    [
        (0, "Written<float>"),
        (1, "Written<double>"),
        (2, "Written<float>"),
        (3, "names::Plain"),
        (4, "Written<int>"),
    ],
    ids=["deduced", "by name", "by pointer", "plain", "cudaLaunchKernelEx"],
)
@pytest.mark.parametrize("checked", [False, True], ids=["fast", "check"])
def test_a_kernel_goes_by_its_own_name(emulate, device, which, kernel, checked) -> None:
    assert emulate("names.cu", checked=checked).run(which) == 719
    (report,) = device.take_reports()
    assert (report.kind, report.kernel) == ("null-pointer", kernel)


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "check"])
def test_a_loop_on_volatile_memory_ends_when_another_block_writes_it(
    emulate, device, checked, monkeypatch
) -> None:
    monkeypatch.setenv("FICTL_EMU_TIMEOUT", "5")
    device.run_under(device.schedule)
    assert emulate("names.cu", checked=checked).wait_for_the_last_block() == 0
    assert [report.kind for report in device.take_reports()] == []
