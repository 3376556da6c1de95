"""Placement: the device that a call runs on, and its architecture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fictl import settings
from fictl.arch import Arch, ArchRule
from fictl.emu.device import ARCH
from fictl.errors import InvalidValue
from fictl.op.ffi.dynamo import constant_to_dynamo
from fictl.op.ffi.wrong_device import DLPACK, WrongDevice, device_type
from fictl.toolchain import visible_gpus


class Placement(NamedTuple):
    """Device of a call; `name` is for messages: 'cuda:0', 'the emulated device'.

    Both are text, which is constant to Dynamo.
    """

    name: str
    arch: str


def placement(op: str, arguments: Mapping[str, Any]) -> Placement:
    """Return the device of the first tensor; refuse a device that ops do not run on."""
    from torch import Tensor

    for name, value in arguments.items():
        if isinstance(value, Tensor):
            return device_placement(op, name, value.device)
        if device_type(value) is not None:
            return _of_dlpack(op, name, value)
    raise InvalidValue(f"{op}: no argument is a tensor: where should it run?", "pass a tensor")


def devices_are_alike() -> bool:
    """Return whether all devices are of one kind, so that choices ignore the device."""
    return settings.DEVICE.get() == "emu" or len(set(map(str, visible_gpus()))) <= 1


@constant_to_dynamo
def device_placement(op: str, argument: str, device: Any) -> Placement:
    """Return the placement of a torch.device; refuse a device that ops do not run on."""
    kinds = {"cuda": DLPACK["cuda"], "cpu": DLPACK["emu"]}
    return _of(op, argument, kinds.get(device.type, -1), device.index or 0, str(device))


def _of_dlpack(op: str, argument: str, value: Any) -> Placement:
    kind = device_type(value)
    index = value.__dlpack_device__()[1] if kind == DLPACK["cuda"] else 0
    return _of(op, argument, kind, int(index), getattr(value, "device", "another device"))


def _of(op: str, argument: str, kind: int | None, index: int, place: Any) -> Placement:
    device = settings.DEVICE.get()
    if kind != DLPACK[device]:
        raise WrongDevice(op, argument, place)
    if device == "emu":
        return Placement("the emulated device", str(ARCH))
    from torch.cuda import get_device_capability

    return Placement(f"cuda:{index}", str(Arch(*get_device_capability(index))))


@constant_to_dynamo
def misfit(archs: str, name: str, arch: str) -> str:
    """Say why code for `archs` cannot run there; '' if it can."""
    if ArchRule.parse(archs).supports(Arch.parse(arch)):
        return ""
    return f"runs on {archs}, and {name} is {arch}"
