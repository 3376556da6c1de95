"""GPUs by all names that CUDA_VISIBLE_DEVICES allows: the driver tells which they are."""

from __future__ import annotations

import pytest

from fictl.arch import Arch
from fictl.errors import SetupError
from fictl.gpu_lock.visible import LockedGpu, named, visible
from fictl.toolchain import Gpu


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("", ["0", "1"]),
        ("5, 3", ["5", "3"]),
        ("GPU-8932f937,GPU-0", ["GPU-8932f937", "GPU-0"]),
        ("MIG-GPU-8932f937/1/0,MIG-4f1a", ["MIG-GPU-8932f937/1/0", "MIG-4f1a"]),
        ("1,0,-1,2", ["1", "0"]),
    ],
)
def test_a_gpu_has_its_name_and_the_uuid_that_the_driver_says(
    monkeypatch: pytest.MonkeyPatch, names: str, expected: list[str]
) -> None:
    gpus = tuple(Gpu(index, "faked", Arch(9, 0), f"uuid-{index}") for index in range(2))
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: gpus)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", names)
    assert visible() == tuple(LockedGpu(f"uuid-{at}", name) for at, name in enumerate(expected))
    assert named(expected[1]).key == "uuid-1"
    with pytest.raises(SetupError, match="does not show the GPU 7"):
        named("7")
