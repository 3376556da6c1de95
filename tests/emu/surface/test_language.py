"""What kernels have without asking for it, and the standard libraries that they include."""

from __future__ import annotations

import ctypes
import math

import pytest
import torch

both = pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])


def fp6_e2m3(x: float) -> float:
    """Nearest even; saturating."""
    steps = [(0, 1 / 8), (1, 1 / 8), (2, 1 / 4), (4, 1 / 2)]
    return nearest(x, [first + k * step for first, step in steps for k in range(8)])


def fp4_e2m1(x: float) -> float:
    return nearest(x, [0, 0.5, 1, 1.5, 2, 3, 4, 6])


def nearest(x: float, grid: list[float]) -> float:
    best = min(range(len(grid)), key=lambda i: (abs(abs(x) - grid[i]), i % 2))
    return math.copysign(grid[best], x)


def expected(x: torch.Tensor, i: int) -> torch.Tensor:
    value = x[i].item()
    as_fp8 = x[i].to(torch.float8_e4m3fn).float() + x[i].to(torch.float8_e5m2).float()
    return torch.tensor(
        [
            value + 1,
            2 * value,
            2 * abs(value) + i,
            math.factorial(i % 6),
            i + 1,
            5 + 32,
            2,
            as_fp8.item(),
            fp6_e2m3(value),
            fp4_e2m1(value),
            3 * value + 2 + 1 + 1,
        ]
    )


@both
def test_a_kernel_has_the_language_and_its_libraries(
    emulate, device, schedule, address, checked, capfd
) -> None:
    library = emulate("surface_language.cu", checked=checked)
    device.run_under(schedule)
    x = torch.randn(64, generator=torch.Generator().manual_seed(1)).mul(2)
    out = torch.zeros(11, 64)
    assert library.language(address(x), address(out)) == 0
    for i in range(64):
        torch.testing.assert_close(out[:, i], expected(x, i), rtol=1e-6, atol=1e-6)
    assert device.take_reports() == []
    library.language(address(x), address(out))
    assert "thread 3 of 64 says 1.50" in printed(capfd)


def printed(capfd) -> str:
    """What C's buffers held, too."""
    ctypes.CDLL(None).fflush(None)
    return capfd.readouterr().out


def test_barriers_and_pipelines_of_the_standard_library_work(
    emulate, device, schedule, address
) -> None:
    library = emulate("surface_language.cu")
    device.run_under(schedule)
    rounds = 3
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(rounds + 1, 64, dtype=torch.int32)
    assert library.barriers(address(x), address(out), rounds) == 0
    for round in range(rounds):
        assert torch.equal(out[round], x.roll(-1) + round)
    assert torch.equal(out[rounds], x.roll(-1))
