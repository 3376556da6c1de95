"""Checks of the GPUs that this process may use: any, hidden ones, and too old ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl.arch import Arch
from fictl.doctor.finding import DoctorFinding, error, ok, warning

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_FLOOR = Arch(7, 5)
_DRIVER_ERRORS = {
    "SYSTEM_NOT_READY": "sudo systemctl restart nvidia-fabricmanager",
    "SYSTEM_DRIVER_MISMATCH": "reboot: the driver was updated, and the kernel still has the old one",
    "COMPAT_NOT_SUPPORTED": "take the folder of cuda-compat out of LD_LIBRARY_PATH",
}
_HIDES = "CUDA_VISIBLE_DEVICES"


def gpus(facts: Facts) -> Iterator[DoctorFinding]:
    name = "GPU"
    if facts.gpus.problem:
        fixes = (fix for sign, fix in _DRIVER_ERRORS.items() if sign in facts.gpus.problem)
        yield error(name, facts.gpus.problem, next(fixes, "sudo modprobe nvidia_uvm; or reboot"))
    elif not facts.gpus.gpus:
        yield _none(name, facts)
    else:
        yield _visible(name, facts)


def _none(name: str, facts: Facts) -> DoctorFinding:
    present = len(facts.smi.gpus) if facts.smi else 0
    hidden = facts.environ.get(_HIDES)
    if present and hidden is not None:
        text = f"none visible: {_HIDES}={hidden!r} hides all {present} of this machine"
        return warning(name, text, f"unset {_HIDES}")
    if present:
        text = f"none visible to CUDA, but nvidia-smi shows {present}"
        return error(
            name, text, "ls -l /dev/nvidia*: this user must be able to read and write them"
        )
    if hidden is not None and facts.driver:
        return warning(name, f"none visible, and {_HIDES}={hidden!r} is set", f"unset {_HIDES}")
    return warning(
        name,
        "none: ops can be built here, not run",
        "run them where there is one; FICTL_CUDA_ARCH_LIST names the ones to build for",
    )


def _visible(name: str, facts: Facts) -> DoctorFinding:
    gpus = facts.gpus.gpus
    old = [gpu for gpu in gpus if gpu.arch < _FLOOR]
    if old:
        text = f"{', '.join(map(str, old))}: {_FLOOR} or newer is needed"
        usable = [str(gpu.index) for gpu in gpus if gpu not in old]
        if usable:
            return warning(name, text, f"{_HIDES}={','.join(usable)}")
        return error(name, text, "run on a GPU from Turing (T4, RTX 20) on")
    kinds = dict.fromkeys(map(str, gpus))
    counted = ", ".join(f"{[str(gpu) for gpu in gpus].count(kind)} x {kind}" for kind in kinds)
    hidden = f" ({_HIDES}={facts.environ[_HIDES]})" if facts.environ.get(_HIDES) else ""
    return ok(name, counted + hidden, *(f"{gpu.index}: {gpu}" for gpu in gpus))
