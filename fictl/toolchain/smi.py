"""Reads the state of the GPUs from nvidia-smi; tolerates missing fields and failures."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from fictl.errors import FictlError, SetupError
from fictl.process import run

_PROGRAM = "nvidia-smi"
_SECONDS = 15.0
_GPU_FIELDS = (
    "index",
    "uuid",
    "name",
    "driver_version",
    "memory.total",
    "memory.used",
    "clocks.sm",
    "clocks.max.sm",
    "clocks_throttle_reasons.active",
    "temperature.gpu",
    "persistence_mode",
    "mig.mode.current",
    "ecc.mode.current",
    "ecc.errors.uncorrected.volatile.total",
    "clocks.mem",
    "power.draw",
)
_PROCESS_FIELDS = ("gpu_uuid", "pid", "used_memory", "process_name")
# Bits of nvml.h, without those for idle GPUs and for clocks set by a user.
_THROTTLES = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "heat (driver)",
    0x40: "heat (hardware)",
    0x80: "power brake",
}
_UNKNOWN_FIELD = re.compile(r'Field "(.+?)" is not a valid field')

Row = dict[str, str]


@dataclass(frozen=True)
class Smi:
    """One row per GPU of the machine, hidden ones too, and per process that uses a GPU."""

    gpus: tuple[Row, ...] = ()
    processes: tuple[Row, ...] = ()
    problem: str = ""


def read_smi() -> Smi | None:
    """Return the state of the GPUs; None without nvidia-smi."""
    if shutil.which(_PROGRAM) is None:
        return None
    try:
        return Smi(_query("gpu", _GPU_FIELDS), _query("compute-apps", _PROCESS_FIELDS))
    except FictlError as error:
        return Smi(problem=error.message)


def throttled(gpu: Row) -> tuple[str, ...]:
    """Return the reasons why the GPU's clocks are reduced."""
    try:
        mask = int(gpu.get("clocks_throttle_reasons.active", "0"), 16)
    except ValueError:
        return ()
    return throttles(mask)


def throttles(mask: int) -> tuple[str, ...]:
    """Return the reasons in NVML's mask of them."""
    return tuple(text for bit, text in _THROTTLES.items() if mask & bit)


def _query(what: str, fields: Sequence[str]) -> tuple[Row, ...]:
    done = run(
        [_PROGRAM, f"--query-{what}={','.join(fields)}", "--format=csv,noheader,nounits"],
        timeout=_SECONDS,
    )
    unknown = _UNKNOWN_FIELD.search(done.output)
    if unknown and unknown[1] in fields:  # An older driver: retry without it.
        return _query(what, [field for field in fields if field != unknown[1]])
    if done.code:
        first_line = next(iter(done.output.strip().splitlines()), "nothing")
        raise SetupError(f"{_PROGRAM} fails (exit code {done.code}): {first_line}")
    return tuple(_row(line, fields) for line in done.output.splitlines() if line.strip())


def _row(line: str, fields: Sequence[str]) -> Row:
    values = line.strip().split(", ", len(fields) - 1)
    if len(values) != len(fields):
        raise SetupError(f"{_PROGRAM} answers what cannot be read: {line.strip()!r}")
    # '[N/A]', '[Not Supported]', '[Unknown Error]': the GPU lacks this value.
    known = (pair for pair in zip(fields, values, strict=True) if pair[1][:1] not in ("[", ""))
    return {field: value for field, value in known if value != "N/A"}
