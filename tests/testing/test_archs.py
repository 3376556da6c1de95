"""What tests ask of a GPU and a toolkit, on faked ones."""

from __future__ import annotations

import pytest
import torch

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


FORMS = {
    "none": (),
    "None": (None,),
    "torch.device": (torch.device("cuda"),),
    "torch.device with a number": (torch.device("cuda", 0),),
    "text": ("cuda",),
    "text with a number": ("cuda:0",),
    "int": (0,),
    "int out of range": (7,),
    "int below 0": (-1,),
    "text out of range": ("cuda:7",),
    "torch.device out of range": (torch.device("cuda:7"),),
    "another device": ("cpu",),
    "a device without numbers": (torch.device("meta"),),
}


@pytest.fixture(params=["without CUDA", "without a GPU"])
def poor_torch(request, monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch says of the current GPU where it was built without CUDA, or sees none."""
    error = {
        "without CUDA": AssertionError("Torch not compiled with CUDA enabled"),
        "without a GPU": RuntimeError("No CUDA GPUs are available"),
    }[request.param]

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name in ("current_device", "get_device_capability", "get_device_properties", "init"):
        monkeypatch.setattr(torch.cuda, name, refuse)


@pytest.mark.parametrize("device", FORMS.values(), ids=FORMS)
def test_without_a_gpu_every_form_of_the_question_is_answered_no(gpus, poor_torch, device) -> None:
    gpus()
    assert supported(*device) == set()
    with pytest.raises(SetupError, match="no GPU that has a compute capability"):
        get_compute_capability(*device)


@pytest.mark.parametrize("device", FORMS.values(), ids=FORMS)
def test_a_torch_without_cuda_beside_gpus_has_the_first_as_its_current(
    gpus, use_nvcc, poor_torch, device
) -> None:
    gpus((9, 0), (8, 0))
    use_nvcc("13.0")
    is_there = not device or device[0] is None or str(device[0]) in ("cuda", "cuda:0", "0")
    assert supported(*device) == ({"90a"} if is_there else set())


@pytest.mark.parametrize("device", ["cuda:1", 1, -1, torch.device("cuda:1"), "cpu"])
def test_a_gpu_that_is_not_there_has_no_capability(gpus, use_nvcc, device) -> None:
    gpus((9, 0))
    use_nvcc("13.0")
    assert supported(device) == set()
    with pytest.raises(UsageError, match=f"there is no GPU {device}"):
        get_compute_capability(device)


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "", object()])
def test_what_names_no_device_is_refused_in_words(gpus, device) -> None:
    gpus()
    with pytest.raises(UsageError, match="names no device"):
        supported(device)


def test_emulated_it_is_the_emulated_device(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    for device in (None, "cpu", "cuda", torch.device("cuda"), torch.device("cpu"), 0):
        assert get_compute_capability(device) == (9, 0)
        assert supported(device) == {"90a"}


def test_what_the_package_offers_is_there_and_nothing_is_imported_for_it() -> None:
    for name in fictl.testing.__all__:
        assert callable(getattr(fictl.testing, name)), name
