"""One dumped call, run again in this process, which it may take down: see fictl.replay.run."""

from __future__ import annotations

import inspect
import json
import sys
import typing
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

import torch

from fictl.op import Op, declaration
from fictl.op.bound import bind
from fictl.op.watch.dump.record import Refused, TensorFile
from fictl.op.watch.dump.tensors import read_tensors, restored
from fictl.op.watch.dump.values import Decoder, Enums
from fictl.replay.compare import Comparison
from fictl.replay.dump import Dump
from fictl.trace.template import TOLERANCES


def replay_one(dump: Dump, device: str) -> tuple[str, str]:
    """A status and what there is to say about it; what the call itself raises goes on."""
    api = getattr(dump.folder().load("op"), dump.name)
    record, enums = dump.record, enums_of(api)
    arguments = _arguments(dump, enums, device)
    plan, run = bind(api, arguments)
    plan()
    result = run()
    if device == "cuda":
        torch.cuda.synchronize()  # A fault of the kernel is one of this call.
    if record.outputs is None:
        return "no reference", _why_none(dump)
    decoder = Decoder(_tensors(dump, record.outputs, device), enums, device)
    comparison = Comparison(_tolerances(declaration(api)))
    try:
        comparison.check(result, decoder.decode(record.result), "result")
        for name, value in record.written.items():
            comparison.check(arguments.get(name), decoder.decode(value), name)
    except AssertionError as error:
        return "mismatch", str(error)
    return ("match", "") if comparison.compared else ("no reference", "it returns nothing")


def enums_of(api: Any) -> Enums:
    """Those that op.py imports or defines, and those that a parameter is annotated with."""
    functions = [f for f in (api, *(getattr(api, n, None) for n in ("plan", "run"))) if f]
    names = vars(sys.modules[api.__module__]).values()
    hints = [hint for function in functions for hint in _hints(function)]
    classes = [each for each in (*names, *hints) if inspect.isclass(each)]
    return {(e.__module__, e.__qualname__): e for e in classes if issubclass(e, Enum)}


def _hints(function: Any) -> Iterator[Any]:
    with suppress(Exception):  # An annotation for type checkers only has no name here.
        for hint in typing.get_type_hints(inspect.unwrap(function)).values():
            yield from (hint, *typing.get_args(hint))


def _arguments(dump: Dump, enums: Enums, device: str) -> dict[str, Any]:
    decoder = Decoder(_tensors(dump, dump.record.inputs, device), enums, device)
    arguments = {name: decoder.decode(value) for name, value in dump.record.arguments.items()}
    if decoder.opaque:
        raise Refused(f"the call was given {', '.join(decoder.opaque)}, which no dump can hold")
    return arguments


def _tensors(dump: Dump, described: TensorFile, device: str) -> dict[str, torch.Tensor]:
    """On the device, except for what the host had in a call on a GPU."""
    stored = read_tensors(dump.path, described)
    from_gpu = dump.record.settings.get("FICTL_DEVICE") == "cuda"
    return {
        key: restored(stored[key], layout, "cpu" if from_gpu and layout.device == "cpu" else device)
        for key, layout in described.tensors.items()
    }


def _tolerances(op: Op) -> Any:
    with suppress(Exception):  # An op without a trace has the tolerances of its dtypes.
        return op.template.tolerances
    return TOLERANCES


def _why_none(dump: Dump) -> str:
    record = dump.record
    if record.error:
        return f"it ran; the recorded call had ended with {record.error.type}"
    if record.status == "inputs_saved":
        return "it ran; the recorded process had ended in this call"
    return f"it ran; {record.note or 'no outputs were recorded'}"


def main(arguments: Sequence[str]) -> int:
    """The dump, the device of its tensors, and the file that the outcome is written to."""
    path, device, report = arguments
    said = _outcome(Dump.open(Path(path)), device)
    Path(report).write_text(json.dumps(said), encoding="utf-8")
    return 0


def _outcome(dump: Dump, device: str) -> dict[str, str]:
    try:
        status, detail = replay_one(dump, device)
    except Refused as error:
        return {"status": "refused", "detail": error.message, "hint": error.hint}
    except BaseException as error:
        name, recorded = type(error).__name__, dump.record.error
        as_recorded = " (as recorded)" if recorded and recorded.type == name else ""
        detail = f"{name}{as_recorded}: {getattr(error, 'message', error)}"
        return {"status": "error", "detail": detail, "hint": getattr(error, "hint", "")}
    return {"status": status, "detail": detail}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
