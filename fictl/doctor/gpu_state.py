"""Checks of what spoils measurements: throttling, other processes, memory errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.toolchain.smi import Row, throttled

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts


def answers(facts: Facts) -> Iterator[DoctorFinding]:
    """Check that nvidia-smi works; its absence matters only where there is a GPU."""
    name = "nvidia-smi"
    if facts.smi is None:
        if facts.gpus.gpus:
            yield warning(
                name,
                "not on PATH: clocks, throttling and other processes stay unknown",
                "put the driver's programs on PATH; in a container: NVIDIA_DRIVER_CAPABILITIES="
                "compute,utility",
            )
    elif facts.smi.problem:
        # Where CUDA works nevertheless, only this program is broken.
        say = warning if facts.gpus.gpus else error
        fix = "sudo modprobe nvidia; if it fails, install the driver again or reboot"
        yield say(name, facts.smi.problem, fix)
    else:
        count = len(facts.smi.gpus)
        yield ok(name, f"shows {count} GPU{'s' * (count != 1)}")


def clocks(facts: Facts) -> Iterator[DoctorFinding]:
    slow = [(row, why) for row in _rows(facts) if (why := ", ".join(throttled(row)))]
    if slow:
        yield warning(
            "clocks",
            "; ".join(
                f"GPU {_index(row)} is held back by {why}: {_clock(row)}" for row, why in slow
            ),
            "let it cool or end what runs on it: nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER",
        )
    elif _rows(facts):
        yield ok(
            "clocks",
            "not held back",
            *(f"GPU {_index(row)}: {_state(row)}" for row in _rows(facts)),
        )


def memory_errors(facts: Facts) -> Iterator[DoctorFinding]:
    key = "ecc.errors.uncorrected.volatile.total"
    bad = [row for row in _rows(facts) if row.get(key, "0") != "0"]
    if bad:
        yield warning(
            "GPU memory",
            "; ".join(
                f"GPU {_index(row)}: {row[key]} errors that ECC could not correct" for row in bad
            ),
            "its results cannot be trusted: nvidia-smi -q -d ECC,ROW_REMAPPER; reset or replace it",
        )


def processes(facts: Facts) -> Iterator[DoctorFinding]:
    numbers = {row.get("uuid"): _index(row) for row in _rows(facts)}
    others = [row for row in _processes(facts) if row.get("pid") != str(os.getpid())]
    if others:
        users = "; ".join(
            f"GPU {numbers.get(row.get('gpu_uuid'), '?')}: {row.get('process_name', 'a process')}"
            f" (pid {row.get('pid', '?')}), {row.get('used_memory', '?')} MiB"
            for row in others
        )
        yield warning(
            "other processes", users, "timings will be noisy: end them, or CUDA_VISIBLE_DEVICES=N"
        )
    elif _rows(facts):
        yield ok("other processes", "none on a GPU here")


def _rows(facts: Facts) -> tuple[Row, ...]:
    return facts.smi.gpus if facts.smi else ()


def _processes(facts: Facts) -> tuple[Row, ...]:
    return facts.smi.processes if facts.smi else ()


def _index(row: Row) -> str:
    return row.get("index", "?")


def _clock(row: Row) -> str:
    return f"{row.get('clocks.sm', '?')} of {row.get('clocks.max.sm', '?')} MHz"


def _state(row: Row) -> str:
    facts = {
        "persistence": "persistence_mode",
        "MIG": "mig.mode.current",
        "ECC": "ecc.mode.current",
        "°C": "temperature.gpu",
        "MiB in use": "memory.used",
    }
    known = [f"{word} {row[key]}" for word, key in facts.items() if key in row]
    return ", ".join([_clock(row), *known])
