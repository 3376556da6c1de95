"""What `ptxas -v` of CUDA 13.0 says."""

from __future__ import annotations

from pathlib import Path

from fictl.inspect.ptxas import Usage, parse_ptxas


def test_registers_memory_and_barriers_of_each_kernel(recorded: Path) -> None:
    found = parse_ptxas((recorded / "planted_90a.ptxas").read_text())
    assert len(found) == 6
    assert found["_ZN7planted7planted14SpillingKernelEPfPKfl"] == Usage(
        registers=32, local=504, spill_stores=668, spill_loads=764
    )
    assert found["_ZN7planted7planted16LocalArrayKernelEPfPKfl"] == Usage(registers=20, local=128)
    assert found["_ZN7planted7planted17LostThreadsKernelEPfPKfl"] == Usage(
        registers=8, barriers=1, shared=256
    )


def test_what_a_called_function_spills_is_its_kernels(recorded: Path) -> None:
    found = parse_ptxas((recorded / "calls_90a.ptxas").read_text())
    (calls,) = [usage for name, usage in found.items() if "two" in name]
    assert (calls.local, calls.spill_stores, calls.spill_loads) == (64, 28, 28)
    (other,) = [usage for name, usage in found.items() if "three" in name]
    assert other == Usage(registers=8)


def test_a_unit_without_kernels_has_none() -> None:
    assert parse_ptxas("ptxas info    : 0 bytes gmem\n") == {}
