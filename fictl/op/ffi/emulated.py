"""A function of an emulated module: kernel reports are raised at the call."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from fictl import settings
from fictl.emu.device import EmulatedDevice, Watched
from fictl.emu.report import Report
from fictl.errors import FictlError
from fictl.jit.emulation import emulated_device
from fictl.op.ffi.caller import public_function

Listener = Callable[[str, list[Report]], None]
_listeners: list[Listener] = []


class KernelDefect(FictlError):
    """The emulated device stopped a kernel, or check mode found a defect in it."""

    code = "kernel-defect"

    def __init__(self, op: str, reports: list[Report], device: EmulatedDevice) -> None:
        # Paths relative to the working folder.
        here = f"{Path.cwd()}{os.sep}"
        text = "\n".join(report.text() for report in reports).replace(here, "")
        super().__init__(
            f"{op}: {text}",
            f"{settings.EMU_SCHEDULE.name}={device.schedule} runs it in the same order again",
        )
        self.reports = tuple(reports)


class Emulated:
    """A wrapper with the signature of the function."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        device = emulated_device()
        device.keep(arguments)
        if settings.EMU_CHECK.get():
            device.watch(list(_watched(arguments, public_function())))
        try:
            result = self._function(*arguments)
        except Exception as error:
            reports = device.take_reports()
            _tell(self._name, reports)
            if reports:  # The launcher only says that the kernel was stopped.
                raise KernelDefect(self._name, reports, device) from None
            raise error.with_traceback(None) from None
        raise_defects(self._name, device)
        return result


def raise_defects(name: str, device: EmulatedDevice) -> None:
    """Raise what was reported since the last call, unless someone listens."""
    reports = device.take_reports()
    if reports and not _tell(name, reports):
        raise KernelDefect(name, reports, device)


def listen(listener: Listener) -> None:
    """Pass reports of finished kernels to `listener`, instead of raising them."""
    _listeners.append(listener)


def _tell(op: str, reports: list[Report]) -> bool:
    for listener in _listeners if reports else ():
        listener(op, reports)
    return bool(_listeners)


def _watched(arguments: Iterable[Any], caller: FrameType | None) -> Iterator[Watched]:
    """Yield the tensors passed, with their names in the public function."""
    names = dict(caller.f_locals) if caller else {}
    read_only = _read_only(caller) if caller else set()
    seen = Counter[int]()
    for position, value in enumerate(arguments):
        if hasattr(value, "data_ptr"):
            called = [name for name, other in names.items() if other is value]
            seen[id(value)] += 1
            # A tensor passed twice has two names, the later parameter's first.
            which = max(len(called) - seen[id(value)], 0)
            yield Watched(
                (called or [f"argument {position}"])[which],
                value.data_ptr(),
                value.element_size(),
                tuple(value.shape),
                tuple(value.stride()),
                writable=not called or not read_only.issuperset(called),
            )


def _read_only(caller: FrameType) -> set[str]:
    """Return the parameters that `@op(mutates=…)` does not name; empty without a declaration."""
    code = caller.f_code
    if "self" in caller.f_locals:  # A method of a class with plan and run.
        public = getattr(type(caller.f_locals["self"]), code.co_name, None)
    else:
        public = caller.f_globals.get(code.co_name)
    declared = getattr(public, "op", None)
    count = code.co_argcount + code.co_kwonlyargcount
    return set(code.co_varnames[:count]) - set(declared.mutates) if declared else set()
