"""Where tests run when nobody says, and what they may ask for there."""

from __future__ import annotations

import pytest

from fictl.arch import Arch
from fictl.emu.device import ARCH
from fictl.errors import InvalidValue
from fictl.testing.device import available_archs, choose_device
from fictl.toolchain import Gpu


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """A machine with or without a GPU, with or without what the emulated device needs."""

    def have(*, gpu: bool = False, emulator: bool = False) -> None:
        gpus = (Gpu(0, "faked", Arch(9, 0)),) if gpu else ()
        monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: gpus)
        found = object() if emulator else None
        monkeypatch.setattr("fictl.emu.toolchain.current_toolchain", lambda: found)

    return have


@pytest.mark.parametrize(
    ("gpu", "emulator", "chosen"),
    [
        (True, True, "cuda"),
        (True, False, "cuda"),
        (False, True, "emu"),
        # Tests that need a GPU are skipped then, and say so.
        (False, False, "cuda"),
    ],
)
def test_a_gpu_is_used_where_there_is_one_else_it_is_emulated(machine, gpu, emulator, chosen):
    machine(gpu=gpu, emulator=emulator)
    assert choose_device() == chosen


@pytest.mark.parametrize("device", ["cuda", "emu"])
def test_what_the_environment_says_beats_what_is_there(machine, monkeypatch, device: str) -> None:
    machine(gpu=device == "emu", emulator=True)
    monkeypatch.setenv("FICTL_DEVICE", device)
    assert choose_device() == device


def test_what_the_settings_file_says_counts_as_well(machine, settings_toml) -> None:
    machine(gpu=True, emulator=True)
    settings_toml("device = 'emu'\n")
    assert choose_device() == "emu"


def test_who_asks_is_given_it(machine, monkeypatch) -> None:
    machine(gpu=True)
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    assert choose_device("emu") == "emu"


def test_a_device_that_means_nothing_is_an_error(machine, monkeypatch) -> None:
    machine()
    monkeypatch.setenv("FICTL_DEVICE", "tpu")
    with pytest.raises(InvalidValue, match="FICTL_DEVICE='tpu'"):
        choose_device()


def test_a_broken_compiler_that_was_named_is_not_passed_over(monkeypatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/g++")
    monkeypatch.setattr("fictl.emu.toolchain.find_headers", object)
    with pytest.raises(RuntimeError, match="/nowhere/g"):
        choose_device()


def test_on_gpus_their_architectures_are_there(machine, monkeypatch) -> None:
    machine(gpu=True)
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    assert available_archs() == [Arch(9, 0)]


def test_the_emulated_device_has_an_architecture_without_any_gpu(machine, monkeypatch) -> None:
    machine()
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert available_archs() == [ARCH]


def test_without_a_gpu_there_is_none(machine, monkeypatch) -> None:
    machine()
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    assert available_archs() == []
