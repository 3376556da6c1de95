from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from fictl.errors import SetupError
from fictl.power.counter import energy_counter


class NVMLError(Exception):
    pass


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """NVML with one GPU, which has used two joules."""

    def handle(uuid: str) -> str:
        if uuid != "GPU-1":
            raise NVMLError("Not Found")
        return "handle"

    fake = SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=handle,
        nvmlDeviceGetTotalEnergyConsumption={"handle": 2000}.__getitem__,
    )
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    return fake


def test_the_counter_is_in_joules(nvml: SimpleNamespace) -> None:
    assert energy_counter("GPU-1")() == 2.0


def test_a_gpu_that_nvml_does_not_know_is_an_error(nvml: SimpleNamespace) -> None:
    with pytest.raises(SetupError, match="energy of GPU-2 cannot be read: Not Found"):
        energy_counter("GPU-2")


def test_a_gpu_without_a_counter_is_an_error(nvml: SimpleNamespace) -> None:
    def refuse(device: object) -> int:
        raise NVMLError("Not Supported")

    nvml.nvmlDeviceGetTotalEnergyConsumption = refuse
    with pytest.raises(SetupError, match="Not Supported"):
        energy_counter("GPU-1")


def test_without_nvml_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(SetupError) as error:
        energy_counter("GPU-1")
    assert "fictl[power]" in error.value.hint
