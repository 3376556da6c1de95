from __future__ import annotations

import pytest
import torch

from fictl.errors import SetupError
from fictl.power.measure import measure_energy
from fictl.timing.side import Side


def test_the_emulated_device_uses_no_power() -> None:
    side = Side(lambda copy: lambda: None, 0)
    with pytest.raises(SetupError, match="emulated device has none"):
        measure_energy({"a": side}, {"a": 1e-6}, device="cpu", cold=True)


@pytest.mark.needs_gpu
def test_a_call_of_twice_the_work_uses_about_twice_the_energy() -> None:
    pytest.importorskip("pynvml")
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)

    def side(times: int) -> Side:
        return Side(lambda copy: lambda: [x @ x for _ in range(times)], 3 * x.nbytes)

    energy = measure_energy(
        {"once": side(1), "twice": side(2)},
        {"once": 2e-4, "twice": 4e-4},
        device="cuda",
        cold=False,
    )
    assert 1.6 < energy["twice"].joules / energy["once"].joules < 2.4
    assert 50 < energy["once"].watts < 1500
