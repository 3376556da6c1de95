"""The benchmark of one op, in this process, which it may take down: see fictl.bench.run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from fictl.bench.observer import Observer
from fictl.bench.options import BenchOptions
from fictl.bench.worker.measuring import Place, measure_case
from fictl.bench.worker.sides import contenders, missing_baselines
from fictl.case.contender import Contender, own
from fictl.case.device_fault import device_fault
from fictl.case.selection import NoCase, selected_cases
from fictl.case.subject import Subject
from fictl.child.message import send
from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.trace import Case

Work: TypeAlias = tuple[Subject, Case, Sequence[Contender]]

# Often enough for a bar; rounds may be shorter than a message.
_EVERY_SECONDS = 0.2


class _Sender(Observer):
    def __init__(self) -> None:
        self._sent = 0.0

    def round(self, number: int) -> None:
        if time.monotonic() - self._sent >= _EVERY_SECONDS:
            self._sent = time.monotonic()
            send("round", number=number)


def of_folder(folder: OpFolder, names: Iterable[str], options: BenchOptions) -> Iterator[Work]:
    """Cases of an op folder, each with its sides; ours come first."""
    bench = folder.load("bench")
    sides: dict[str, list[Contender]] = {}
    for subject, case in selected_cases(folder, names, options):
        if subject.function not in sides:
            sides[subject.function] = contenders(folder, subject, options, bench)
        yield subject, case, sides[subject.function]


def main(arguments: Sequence[str]) -> int:
    return respond(arguments, _work)


def respond(
    arguments: Sequence[str], work_of: Callable[[Mapping[str, Any], BenchOptions], Iterable[Work]]
) -> int:
    """To a request of fictl.bench.run; rows go out as they are there."""
    request = json.loads(arguments[0])
    options = BenchOptions.from_dict(request["options"])
    try:
        _measure(list(work_of(request, options)), request["device"] == "emu", options)
    except NoCase as error:
        send("note", text=f"{error.message}; {error.hint}")
        send("done")
    except FictlError as error:
        send("error", message=error.message, hint=error.hint, code=error.exit_code)
    return 0


def _measure(work: Sequence[Work], emulated: bool, options: BenchOptions) -> None:
    send("cases", count=len(work))
    ceilings = _facts(emulated, options.timer)
    place = Place("cpu" if emulated else "cuda", ceilings, _Sender())
    for subject, case, among in work:
        send(
            "case",
            function=case.function,
            case=str(case),
            sizes=dict(case.sizes),
            dtype=case.dtype,
            passing=case.manner,
        )
        for row in measure_case(subject, case, among, options, place):
            send("row", row=row.to_dict())
        if not emulated and device_fault() is not None:
            return
    if not emulated:
        send("facts", after=_state())
    send("done")


def _work(request: Mapping[str, Any], options: BenchOptions) -> list[Work]:
    if "file" in request:
        from fictl.bench.worker.source_file import source_subjects

        made = source_subjects(Path(request["file"]), request["values"])
        return [(subject, case, [own(subject)]) for subject, case in made]
    folder = OpFolder.of(request["op"])
    for name in missing_baselines(folder, request["functions"], options):
        send("note", text=f"{folder} has no baseline {name!r}")
    return list(of_folder(folder, request["functions"], options))


def _facts(emulated: bool, timer: str) -> dict[str, float]:
    """Sent; the ceilings of the device are what is returned of them."""
    import torch

    send("facts", torch=torch.__version__, cuda=torch.version.cuda or "")
    if emulated:
        return {}
    found = _ceilings(timer)
    send("facts", ceilings=found, before=_state())
    return found


def _ceilings(timer: str) -> dict[str, float]:
    """None where they cannot be measured, as on a GPU whose memory others have."""
    from fictl.timing.ceilings import ceilings

    try:
        return asdict(ceilings(timer=timer))
    except Exception as error:
        send("note", text=f"no ceilings were measured: {type(error).__name__}: {error}")
        return {}


def _state() -> dict[str, Any] | None:
    """Asked for right after work, when the clocks are those of work."""
    from fictl.timing.gpu_state import gpu_state

    state = gpu_state()
    return asdict(state) if state else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
