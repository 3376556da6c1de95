"""EvalConfig: how often a solution runs, how long it may take, and which errors are tolerated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from fictl.errors import InvalidValue

if TYPE_CHECKING:
    from fictl.trace.documents.workload import Workload

DEVICES = ("cuda", "emu", "cpu")
FORMULAS = ("either", "sum")
# Fields that a dataset's file may set; the others depend on the machine or the user.
OF_FILES = (
    "warmup_runs",
    "iterations",
    "num_trials",
    "rtol",
    "atol",
    "required_matched_ratio",
    "timeout_seconds",
    "compile_timeout_seconds",
    "correctness_rounds",
    "sampling_validation_trials",
    "sampling_tvd_threshold",
    "seed",
    "profile_baseline",
)


@dataclass(frozen=True)
class EvalConfig:
    """Settings of one evaluation.

    `required_matched_ratio` of None leaves the ratio to the evaluator. `formula` decides which
    elements fail. "either", as in flashinfer-bench: the error is above `atol` and the relative
    error above `rtol`. "sum", for a workload with its own tolerance: the error is above atol + rtol
    * |expected|, and no error may exceed `max_error_cap`. `flags` names the fields given on the
    command line, which no workload overrides.
    """

    warmup_runs: int = 10
    iterations: int = 50
    num_trials: int = 3
    rtol: float = 1e-2
    atol: float = 1e-2
    required_matched_ratio: float | None = None
    timeout_seconds: float = 300.0
    compile_timeout_seconds: float = 600.0
    correctness_rounds: int = 3
    sampling_validation_trials: int = 100
    sampling_tvd_threshold: float = 0.2
    seed: int = 0
    device: str = "cuda"
    untrusted: bool = False
    profile_baseline: bool = True
    formula: str = "either"
    max_error_cap: float | None = None
    allow_negative_inf: bool = False
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            problem = _problem(field.name, getattr(self, field.name))
            if problem:
                seen = getattr(self, field.name)
                raise InvalidValue(f"{field.name} is {seen!r}", f"it must be {problem}")

    def changed(self, values: Mapping[str, Any]) -> EvalConfig:
        return replace(self, **values) if values else self

    def for_workload(self, workload: Workload) -> EvalConfig:
        """Return this configuration with the workload's own tolerance, if it has one."""
        own = workload.tolerance
        if own is None:
            return self
        values: dict[str, Any] = {
            "formula": "sum",
            "atol": own.max_atol,
            "rtol": own.max_rtol,
            "required_matched_ratio": own.required_matched_ratio,
            "max_error_cap": own.max_error_cap,
            "allow_negative_inf": own.allow_negative_inf,
        }
        return replace(self, **{n: value for n, value in values.items() if n not in self.flags})


_AT_LEAST = {
    "warmup_runs": 0,
    "iterations": 1,
    "num_trials": 1,
    "correctness_rounds": 1,
    "sampling_validation_trials": 1,
    "seed": 0,
}
_FLAGS = ("untrusted", "profile_baseline", "allow_negative_inf")
_CHOICES = {"formula": FORMULAS}


def _problem(name: str, value: Any) -> str:
    """Describe the accepted values of a field if `value` is invalid; else ''."""
    if name in _AT_LEAST:
        return "" if _is_whole(value, _AT_LEAST[name]) else f"a whole number from {_AT_LEAST[name]}"
    if name in _FLAGS:
        return "" if isinstance(value, bool) else "true or false"
    if name in _CHOICES:
        return "" if value in _CHOICES[name] else f"one of {', '.join(_CHOICES[name])}"
    if name == "device":
        known = isinstance(value, str) and value.partition(":")[0] in DEVICES
        return "" if known else f"one of {', '.join(DEVICES)}"
    return _problem_of_real(name, value)


def _problem_of_real(name: str, value: Any) -> str:
    if name == "required_matched_ratio":
        ok = value is None or (_is_real(value) and 0 <= value <= 1)
        return "" if ok else "a share from 0 to 1"
    if name == "max_error_cap":
        return "" if value is None or (_is_real(value) and value >= 0) else "a number from 0"
    if name in ("rtol", "atol"):
        return "" if _is_real(value) and value >= 0 else "a number from 0"
    if name == "sampling_tvd_threshold":
        return "" if _is_real(value) and 0 <= value <= 1 else "a share from 0 to 1"
    if name.endswith("_seconds"):
        return "" if _is_real(value) and value > 0 else "a number of seconds above 0"
    return ""


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
