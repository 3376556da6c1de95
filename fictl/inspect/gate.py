"""Gates: limits that kernels must keep, as in `spill_bytes==0, registers<=128, LDG.128>=4`."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.errors import UsageError
from fictl.inspect.inspected import Inspected
from fictl.inspect.instruction import SassInstruction
from fictl.inspect.kernel import InspectedKernel, Opcode
from fictl.inspect.metrics import METRICS, LaunchSize
from fictl.inspect.mnemonics import is_instruction, matches
from fictl.inspect.sources import KernelSources

_GATE = re.compile(
    r"\s*([A-Za-z_][\w.]*)\s*(==|!=|<=|>=|<|>)\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*%?\s*"
)
_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Gate:
    """A metric or an instruction's name, and the number to compare it with."""

    name: str
    sign: str
    wanted: float

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.wanted:g}"

    def holds(self, value: float) -> bool:
        return bool(_COMPARE[self.sign](value, self.wanted))


@dataclass(frozen=True)
class Violation:
    """A gate that a kernel breaks.

    place: of the first responsible instruction, else of the kernel; source: its line.

    why: why that instruction is responsible, if it is not obvious.
    """

    gate: Gate
    kernel: InspectedKernel
    value: float
    place: str
    source: str = ""
    instruction: str = ""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "gate": str(self.gate),
            "kernel": self.kernel.name,
            "arch": self.kernel.arch,
            "value": self.value,
            "place": self.place,
            "source": self.source,
            "instruction": self.instruction,
            "why": self.why,
        }


def parse_gates(texts: Iterable[str]) -> tuple[Gate, ...]:
    """Parse gates, separated by commas; an unknown name is an error."""
    return tuple(_parse(part) for text in texts for part in text.split(",") if part.strip())


def check(gates: Sequence[Gate], inspected: Inspected, launch: LaunchSize) -> list[Violation]:
    """List the gates that kernels break; an unknown number is an error, never a pass."""
    every = ((gate, kernel) for kernel in inspected.kernels for gate in gates)
    return [bad for gate, kernel in every for bad in _check(gate, kernel, launch, inspected)]


def _parse(text: str) -> Gate:
    match = _GATE.fullmatch(text)
    if not match:
        raise UsageError(
            f"gate {text.strip()!r} cannot be read", "write NAME==NUMBER, or <=, >=, <, >, !="
        )
    name, sign, number = match.groups()
    if name not in METRICS and not is_instruction(name):
        raise UsageError(
            f"there is nothing named {name!r} to hold a gate against",
            f"there are {', '.join(METRICS)}, and the names of instructions, as in LDL==0 or LDG.128>=1",
        )
    return Gate(name, sign, float(number))


def _check(
    gate: Gate, kernel: InspectedKernel, launch: LaunchSize, inspected: Inspected
) -> Iterator[Violation]:
    metric = METRICS.get(gate.name)
    value = metric.read(kernel, launch) if metric else _count(gate.name, kernel)
    if value is None:
        raise _unknown(gate, kernel)
    if not gate.holds(value):
        first, why = _culprit(gate, kernel, inspected)
        place = first.place if first and first.place else kernel.place
        sources = inspected.sources or KernelSources.nowhere()
        text = sources.text(place) if place else ""
        instruction = first.text if first else ""
        yield Violation(gate, kernel, value, sources.shown(place), text, instruction, why)


def _culprit(
    gate: Gate, kernel: InspectedKernel, inspected: Inspected
) -> tuple[Opcode | SassInstruction | None, str]:
    """Find the instruction that a number comes from, and the reason."""
    metric = METRICS.get(gate.name)
    if metric and metric.of_registers:
        peak = inspected.peak(kernel)
        return (peak.instruction, f"{peak.live} registers are in use here") if peak else (None, "")
    return _first(metric.culprits if metric else (gate.name,), kernel), ""


def _count(name: str, kernel: InspectedKernel) -> int:
    return sum(one.count for opcode, one in kernel.opcodes.items() if matches(opcode, name))


def _first(names: Sequence[str], kernel: InspectedKernel) -> Opcode | None:
    """First of these instructions in the code; opcodes are in the order of the code."""
    every = kernel.opcodes.items()
    return next((one for opcode, one in every if any(matches(opcode, n) for n in names)), None)


def _unknown(gate: Gate, kernel: InspectedKernel) -> UsageError:
    message = f"{gate} cannot be told of {kernel.name} for {kernel.arch}: "
    if gate.name in ("occupancy", "blocks_per_sm"):
        return UsageError(
            f"{message}it has no launch bounds, or the architecture is not known",
            "name the threads of a block: --threads 256",
        )
    return UsageError(
        f"{message}a compiled file does not say it", "name the op or the .cu, or use local_bytes"
    )
