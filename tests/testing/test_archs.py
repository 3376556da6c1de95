"""What tests ask of a GPU and a toolkit, on faked ones."""

from __future__ import annotations

import pytest

import fictl.testing
from fictl.arch import Arch
from fictl.errors import SetupError, UsageError
from fictl.testing import get_compute_capability
from fictl.toolchain import Gpu

CHECKS = ("90a", "100a", "100f", "110a", "120a", "120f", "121a")


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch):
    def fake(*archs: tuple[int, int]) -> None:
        found = tuple(Gpu(i, "faked", Arch(*arch)) for i, arch in enumerate(archs))
        monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: found)

    return fake


def supported(*device: object) -> set[str]:
    return {name for name in CHECKS if getattr(fictl.testing, f"is_sm{name}_supported")(*device)}


@pytest.mark.parametrize(
    ("gpu", "release", "wanted"),
    [
        ((9, 0), "13.0", {"90a"}),
        ((9, 0), "12.4", {"90a"}),
        ((9, 0), "12.2", set()),
        ((10, 0), "13.0", {"100a", "100f"}),
        ((10, 0), "12.8", {"100a"}),
        ((10, 3), "13.0", {"100f"}),
        ((11, 0), "13.0", {"110a"}),
        ((12, 0), "12.9", {"120a", "120f"}),
        ((12, 1), "12.9", {"120f", "121a"}),
        ((8, 0), "13.0", set()),
    ],
)
def test_the_gpu_and_the_toolkit_must_both_have_it(gpus, use_nvcc, gpu, release, wanted) -> None:
    gpus(gpu)
    use_nvcc(release)
    assert supported() == wanted


def test_without_nvcc_nothing_is(gpus, monkeypatch) -> None:
    gpus((9, 0))
    monkeypatch.setattr("fictl.toolchain.find_nvcc", lambda: None)
    assert supported() == set()


def test_without_a_gpu_nothing_is_and_a_capability_is_an_error(gpus) -> None:
    gpus()
    assert supported() == set()
    with pytest.raises(SetupError, match="no GPU that has a compute capability"):
        get_compute_capability()


@pytest.mark.parametrize("device", [1, "cuda:1"])
def test_one_gpu_of_several_is_named_as_torch_names_it(gpus, use_nvcc, device) -> None:
    gpus((8, 0), (9, 0))
    use_nvcc("13.0")
    assert get_compute_capability(device) == (9, 0)
    assert supported(device) == {"90a"}


def test_a_gpu_that_is_not_there_is_an_error(gpus) -> None:
    gpus((9, 0))
    with pytest.raises(UsageError, match="there is no GPU 1"):
        get_compute_capability("cuda:1")


def test_emulated_it_is_the_emulated_device(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert get_compute_capability() == get_compute_capability("cpu") == (8, 9)


def test_what_the_package_offers_is_there_and_nothing_is_imported_for_it() -> None:
    for name in fictl.testing.__all__:
        assert callable(getattr(fictl.testing, name)), name
