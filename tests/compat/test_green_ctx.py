"""Green contexts, by a driver that is a stand-in, and by a GPU where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.compat.flashinfer import _green_driver as green
from fictl.compat.flashinfer import green_ctx
from fictl.errors import FictlError, InvalidValue, SetupError

SOURCE = Path(__file__).with_name("fake_green_driver.cpp")
needs_cxx = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    for name, words in ((built, ()), (built.with_name("old.so"), ("-DOLD_DRIVER",))):
        subprocess.run(["g++", "-shared", "-fPIC", *words, SOURCE, "-o", name], check=True)
    return built


@pytest.fixture
def gpu(library: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A GPU of 132 multiprocessors, whose streams are the handles of the driver."""
    monkeypatch.setattr(green, "_LIBRARY", str(library))
    monkeypatch.setenv("FAKE_SMS", "132")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    monkeypatch.setattr(torch.cuda, "ExternalStream", lambda handle, device: (handle >> 40, device))
    return monkeypatch


def _counts(split: tuple[Any, Any]) -> list[int]:
    streams, resources = split
    counts = [part.sm.smCount for part in resources]
    assert streams == [(count, 0) for count in counts]
    return counts


DEVICE = torch.device("cuda:0")


@needs_cxx
@pytest.mark.parametrize(
    ("groups", "least", "counts"),
    [(2, 16, [16, 16, 100]), (1, 7, [8, 124]), (3, 17, [24, 24, 24, 60]), (16, 8, [8] * 16 + [4])],
)
def test_groups_of_one_size(gpu, groups: int, least: int, counts: list[int]) -> None:
    assert _counts(green_ctx.split_device_green_ctx(DEVICE, groups, least)) == counts


@needs_cxx
@pytest.mark.parametrize(
    ("wanted", "counts"),
    [([8, 16, 24], [8, 16, 24, 84]), ([1, 9], [8, 16, 108]), ([128], [128, 4])],
)
def test_groups_of_sizes_of_their_own(gpu, wanted: list[int], counts: list[int]) -> None:
    assert _counts(green_ctx.split_device_green_ctx_by_sm_count(DEVICE, wanted)) == counts


@needs_cxx
def test_what_the_gpu_does_not_have_is_refused(gpu) -> None:
    text = r"cuda:0 has 132 multiprocessors; 9 groups of 16 do not fit: .* room for 8 of 9"
    with pytest.raises(RuntimeError, match=text):
        green_ctx.split_device_green_ctx(DEVICE, 9, 16)
    with pytest.raises(RuntimeError, match="2147483647 groups of 8 do not fit"):
        green_ctx.split_device_green_ctx(DEVICE, 2**31 - 1, 8)
    with pytest.raises(RuntimeError, match=r"1 groups of 200 do not fit: .*CUDA_ERROR_INVALID_V"):
        green_ctx.split_device_green_ctx(DEVICE, 1, 200)
    for counts in ([64, 64, 8], [128, 8], [200]):
        with pytest.raises(RuntimeError, match=rf"groups of \{counts} do not fit: .*returned 1 "):
            green_ctx.split_device_green_ctx_by_sm_count(DEVICE, counts)
    gpu.setenv("FAKE_SMS", "128")
    for split in (
        lambda: green_ctx.split_device_green_ctx(DEVICE, 2, 64),
        lambda: green_ctx.split_device_green_ctx_by_sm_count(DEVICE, [64, 64]),
    ):
        with pytest.raises(RuntimeError, match="nothing is left for the last stream"):
            split()


@pytest.mark.parametrize("count", [0, -8, 2**31, 2.0, True, "8"])
def test_counts_that_are_none_are_refused(count: Any) -> None:
    for split in (
        lambda: green_ctx.split_device_green_ctx(DEVICE, count, 8),
        lambda: green_ctx.split_device_green_ctx(DEVICE, 1, count),
        lambda: green_ctx.split_device_green_ctx_by_sm_count(DEVICE, [8, count]),
    ):
        with pytest.raises(ValueError, match="SM count must be positive") as refused:
            split()
        assert isinstance(refused.value, InvalidValue | FictlError)
    with pytest.raises(ValueError, match="sm_counts is empty"):
        green_ctx.split_device_green_ctx_by_sm_count(DEVICE, [])


@needs_cxx
def test_a_driver_that_lacks_a_function_is_refused_in_words(gpu, library: Path) -> None:
    gpu.setattr(green, "_LIBRARY", str(library.with_name("old.so")))
    with pytest.raises(SetupError, match=r"driver has no cuGreenCtxStreamCreate: .* CUDA 12\.4"):
        green_ctx.split_device_green_ctx(DEVICE, 1, 8)


def test_without_a_driver_or_a_gpu_it_is_refused_in_words(monkeypatch) -> None:
    with pytest.raises(InvalidValue, match="cpu is not a CUDA device"):
        green_ctx.split_device_green_ctx(torch.device("cpu"), 1, 8)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SetupError, match="finds no GPU to divide"):
        green_ctx.split_device_green_ctx_by_sm_count(DEVICE, [8])
    monkeypatch.setattr(green, "_LIBRARY", "libcuda-that-is-not-installed.so.1")
    with pytest.raises(SetupError, match="green contexts need the CUDA driver: libcuda-that"):
        green_ctx.get_device_resource(0)


@pytest.mark.parametrize(
    ("capability", "constraint"),
    [((6, 1), (1, 1)), ((7, 5), (2, 2)), ((8, 6), (4, 2)), ((9, 0), (8, 8)), ((12, 0), (8, 8))],
)
def test_sizes_by_architecture(capability: tuple[int, int], constraint: tuple[int, int]) -> None:
    assert green_ctx.get_sm_count_constraint(*capability) == constraint
    with pytest.raises(ValueError, match=r"Unsupported CUDA capability: 5\.2"):
        green_ctx.get_sm_count_constraint(5, 2)


@pytest.mark.needs_gpu
def test_streams_of_parts_compute() -> None:
    device = torch.device("cuda", torch.cuda.current_device())
    total = torch.cuda.get_device_properties(device).multi_processor_count
    for streams, resources in (
        green_ctx.split_device_green_ctx(device, 2, 16),
        green_ctx.split_device_green_ctx_by_sm_count(device, [8, 16, 24]),
    ):
        counts = [part.sm.smCount for part in resources]
        assert sum(counts) == total
        x = torch.randn(512, 512, device=device)
        expected = x @ x
        torch.cuda.synchronize(device)
        for stream in streams:
            with torch.cuda.stream(stream):
                got = x @ x
            stream.synchronize()
            torch.testing.assert_close(got, expected)
