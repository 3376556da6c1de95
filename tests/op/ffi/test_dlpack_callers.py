"""Whatever speaks DLPack calls the same functions; here NumPy, on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fictl.emu.toolchain import current_toolchain
from fictl.op import KernelModule


@pytest.fixture
def kernel(users_cache: None, monkeypatch: pytest.MonkeyPatch) -> KernelModule:
    """The functions of a shipped module, whose op.py is for torch."""
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    from fictl.project import find

    return KernelModule(str(find("scale")[0].op))


class Exported:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def test_numpy_arrays_go_in_and_out(kernel: KernelModule) -> None:
    x = np.arange(1000, dtype=np.float32)
    out = np.zeros_like(x)
    kernel.scale(out, x, 2.0)
    kernel.scale(x, out, 2.0)
    np.testing.assert_array_equal(out * 2, x)


def test_what_only_speaks_dlpack_goes_in_and_out(kernel: KernelModule) -> None:
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    kernel.scale(Exported(out), Exported(x), 3.0)
    assert (out == 3.0).all()


def test_one_call_may_mix_them(kernel: KernelModule) -> None:
    out = np.zeros(8, np.float32)
    kernel.scale(out, torch.ones(8), 3.0)
    assert (out == 3.0).all()


def test_a_gradient_is_refused_beside_an_array_too(kernel: KernelModule) -> None:
    with pytest.raises(RuntimeError, match="'input' requires grad"):
        kernel.scale(np.zeros(8, np.float32), torch.ones(8, requires_grad=True), 3.0)


@pytest.mark.parametrize("position", [0, 1])
def test_a_read_only_array_is_refused_in_words(kernel: KernelModule, position: int) -> None:
    arrays = [np.zeros(8, np.float32), np.ones(8, np.float32)]
    arrays[position].flags.writeable = False
    with pytest.raises(Exception, match=r"(?i)read-?only"):
        kernel.scale(*arrays, 3.0)
    assert (arrays[0] == 0).all()


def test_shapes_that_differ_are_refused_as_they_are_for_torch(kernel: KernelModule) -> None:
    with pytest.raises(
        ValueError, match=r"scale: argument 'out' has shape \(4,\), 'input' has \(8,\)"
    ):
        kernel.scale(np.zeros(4, np.float32), np.ones(8, np.float32), 3.0)


def test_what_is_no_tensor_is_refused_with_what_is_taken(kernel: KernelModule) -> None:
    with pytest.raises(TypeError, match="Tensor"):
        kernel.scale([0.0], np.ones(1, np.float32), 3.0)
