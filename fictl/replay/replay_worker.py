"""Run one dumped call in this process, which a fault may kill: see fictl.replay.replay_dumps."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import Any

import torch

from fictl import settings
from fictl.case.compare import assert_right
from fictl.case.results import named_results
from fictl.child.program import leave_answer, request_in
from fictl.errors import SetupError
from fictl.op import Op, declaration
from fictl.op.bound import bind
from fictl.op.ffi.emulated import KernelDefect, listen
from fictl.op.watch.dump.record import Refused, TensorFile
from fictl.op.watch.dump.tensors import read_tensors, restored
from fictl.op.watch.dump.values import Decoder, Enums
from fictl.replay.compare import Comparison
from fictl.replay.dump import Dump
from fictl.replay.looking import profiled, reported, timed
from fictl.replay.messages import ReplayAnswer, ReplayRequest
from fictl.replay.replay_process import BENCH, PROFILE
from fictl.sanitize import compute_sanitizer
from fictl.trace import TraceTemplate
from fictl.trace.template import TOLERANCES

_STOPPED = "its kernel was stopped there"


def replay_one(dump: Dump, device: str) -> tuple[str, str]:
    """Replay the call; return a status and its explanation. Exceptions of the call itself
    propagate.
    """
    api = _api(dump)
    record, enums = dump.record, enums_of(api)
    arguments = recorded_arguments(dump, enums, device)
    result = _planned(api, arguments)()
    if device == "cuda":
        torch.cuda.synchronize()  # A fault of the kernel is one of this call.
    if record.outputs is None:
        return "no reference", _why_none(dump)
    decoder = Decoder(_tensors(dump, record.outputs, device), enums, device)
    template = _template(declaration(api))
    comparison = Comparison(template.tolerances if template else TOLERANCES)
    try:
        if template and template.judge:
            # Several results may be correct, so this call's may differ from the recorded one.
            _judge(template, recorded_arguments(dump, enums, device), arguments, result)
            return "match", ""
        comparison.check(result, decoder.decode(record.result), "result")
        for name, value in record.written.items():
            comparison.check(arguments.get(name), decoder.decode(value), name)
    except AssertionError as error:
        return "mismatch", str(error)
    return ("match", "") if comparison.compared else ("no reference", "it returns nothing")


def look(dump: Dump, device: str, under: str) -> ReplayAnswer:
    """Observe the call by CUPTI or a timer, after its replay."""
    api = _api(dump)
    enums = enums_of(api)

    def planned() -> Callable[[], Any]:
        return _planned(api, recorded_arguments(dump, enums, device))

    if under == PROFILE:
        return ReplayAnswer("", profile=profiled(dump, planned))
    if under == BENCH:
        arguments = recorded_arguments(dump, enums, device)
        return ReplayAnswer("", time=timed(declaration(api), planned, arguments, device))
    return ReplayAnswer("")


def _api(dump: Dump) -> Any:
    return getattr(dump.folder().load("op"), dump.name)


def _planned(api: Any, arguments: dict[str, Any]) -> Callable[[], Any]:
    plan, run = bind(api, arguments)
    plan()
    return run


def enums_of(api: Any) -> Enums:
    """Enums that op.py imports or defines, or that annotate a parameter."""
    functions = [f for f in (api, *(getattr(api, n, None) for n in ("plan", "run"))) if f]
    names = vars(sys.modules[api.__module__]).values()
    hints = [hint for function in functions for hint in _hints(function)]
    classes = [entry for entry in (*names, *hints) if inspect.isclass(entry)]
    return {(e.__module__, e.__qualname__): e for e in classes if issubclass(e, Enum)}


def _hints(function: Any) -> Iterator[Any]:
    with suppress(Exception):  # An annotation for type checkers only has no name here.
        for hint in typing.get_type_hints(inspect.unwrap(function)).values():
            yield from (hint, *typing.get_args(hint))


def recorded_arguments(dump: Dump, enums: Enums, device: str) -> dict[str, Any]:
    decoder = Decoder(_tensors(dump, dump.record.inputs, device), enums, device)
    arguments = {name: decoder.decode(value) for name, value in dump.record.arguments.items()}
    if decoder.opaque:
        raise Refused(f"the call was given {', '.join(decoder.opaque)}, which no dump can hold")
    return arguments


def _tensors(dump: Dump, described: TensorFile, device: str) -> dict[str, torch.Tensor]:
    """Read tensors to the device; those on the host in a GPU call stay on the host."""
    stored = read_tensors(dump.path, described)
    from_gpu = dump.record.settings.get("FICTL_DEVICE") == "cuda"
    return {
        key: restored(stored[key], layout, "cpu" if from_gpu and layout.device == "cpu" else device)
        for key, layout in described.tensors.items()
    }


def _template(op: Op) -> TraceTemplate | None:
    with suppress(Exception):  # An op may have no trace.
        return op.template
    return None


def _judge(
    template: TraceTemplate, before: dict[str, Any], after: dict[str, Any], result: Any
) -> None:
    """Check a result; `before` and `after` are the arguments before and after the call."""
    results = named_results(template, after, result)
    assert_right(template, before, results, tuple)


def _why_none(dump: Dump) -> str:
    record = dump.record
    if record.error:
        return f"it ran; the recorded call had ended with {record.error.type}"
    if record.status == "inputs_saved":
        return "it ran; the recorded process had ended in this call"
    return f"it ran; {record.note or 'no outputs were recorded'}"


def main(arguments: Sequence[str]) -> int:
    """Replay the dump of a request, and send a ReplayAnswer."""
    request = request_in(arguments, ReplayRequest)
    dump = Dump.open(request.dump)
    rows: list[dict[str, Any]] = []
    if settings.EMU_CHECK.get() and request.under in compute_sanitizer.TOOLS:
        listen(reported(str(dump.folder()), rows))
    answer = _answer(dump, request, rows)
    leave_answer(arguments, replace(answer, rows=(*rows,)))
    return 0


def _answer(dump: Dump, request: ReplayRequest, rows: Sequence[Any]) -> ReplayAnswer:
    try:
        status, detail = replay_one(dump, request.device)
        return replace(look(dump, request.device, request.under), status=status, detail=detail)
    except Refused as error:
        return ReplayAnswer("refused", error.message, error.hint)
    except BaseException as error:
        code = SetupError.exit_code if isinstance(error, SetupError) else 0
        # The error that stopped a kernel is also among the rows.
        detail = _STOPPED if rows and isinstance(error, KernelDefect) else _told(dump, error)
        hint = "" if detail == _STOPPED else getattr(error, "hint", "")
        return ReplayAnswer("error", detail, hint, code)


def _told(dump: Dump, error: BaseException) -> str:
    name, recorded = type(error).__name__, dump.record.error
    as_recorded = " (as recorded)" if recorded and recorded.type == name else ""
    return f"{name}{as_recorded}: {getattr(error, 'message', error)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
