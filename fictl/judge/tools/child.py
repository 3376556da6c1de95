"""The process that a tool observes: builds a solution and calls it.

Only the calls lie between cudaProfilerStart and cudaProfilerStop.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.case.messages import CaseChosen
from fictl.child.message import Done, send
from fictl.child.program import leave_answer, request_in
from fictl.errors import FictlError
from fictl.judge.inputs import make_inputs
from fictl.judge.tools.messages import LookAnswer, LookRequest
from fictl.op.ffi.emulated import KernelDefect, listen
from fictl.op.folder_specs import folder_specs
from fictl.project import OpFolder, Project
from fictl.project.discover import folders
from fictl.runnable import BuilderRegistry, BuildError, Runnable
from fictl.trace import Definition, Solution, Workload

BUILD, CALLS = "build", "calls"


def main(arguments: Sequence[str]) -> int:
    """Write a LookAnswer; the exit code has no further meaning."""
    request = request_in(arguments, LookRequest)
    rows: list[dict[str, Any]] = []
    if settings.EMU_CHECK.get():
        listen(_heard(rows))
    answer = _answer(request)
    leave_answer(arguments, replace(answer, rows=(*rows,)))
    return 0


def _answer(request: LookRequest) -> LookAnswer:
    definition = Definition.model_validate(json.loads(request.definition))
    solution = Solution.model_validate(json.loads(request.solution))
    start = time.perf_counter()
    try:
        runnable = BuilderRegistry.get_instance().build(definition, solution)
        if request.mode == BUILD:
            _build_kernels(runnable)
            seconds = time.perf_counter() - start
            return LookAnswer("built", builder=runnable.metadata.build_type, seconds=seconds)
        _call(definition, runnable, request)
    except BuildError as error:
        text = "\n".join(filter(None, (error.first_error, error.log)))
        return _failed("COMPILE_ERROR", error, text)
    except KernelDefect as error:
        return _failed("RUNTIME_ERROR", error, error.message)
    except FictlError as error:
        status = "COMPILE_ERROR" if request.mode == BUILD else "RUNTIME_ERROR"
        return _failed(status, error, _traced())
    except BaseException as error:
        problem = FictlError(f"{type(error).__name__}: {error}")
        return _failed("RUNTIME_ERROR", problem, _traced())
    return LookAnswer("called")


def _build_kernels(runnable: Runnable) -> None:
    """Build the modules that an exported op's first calls would build: one a folder."""
    module = sys.modules.get(str(runnable.metadata.misc.get("module_name")))
    project = Project.of(Path(module.__file__).parent) if module and module.__file__ else None
    if project is None or not os.path.isdir(project.kernels):
        return
    for folder in folders(project):
        spec = next(iter(_specs(folder, module.__name__.rpartition(".")[0])), None)  # type: ignore[union-attr]
        if spec is not None:
            spec.build()


def _specs(folder: OpFolder, package: str) -> list[Any]:
    """Specs from the copy of jit.py that the solution imports, or the default one."""
    if not os.path.isfile(folder.jit):
        return folder_specs(folder)
    from importlib import import_module

    return list(import_module(f"{package}.kernels.{folder.family}.{folder.module}.jit").aot())


def _call(definition: Definition, runnable: Runnable, request: LookRequest) -> None:
    assert request.workload is not None
    workload = Workload.model_validate(json.loads(request.workload))

    def once() -> Callable[[], object]:
        inputs = make_inputs(definition, workload, request.root, request.seed, request.device)
        return lambda: runnable.call_value_returning(*inputs.values())

    once()()
    send(CaseChosen(definition.name))
    calls = [once() for _ in range(request.calls)]
    with _collected(request.device):
        for call in calls:
            call()
    send(Done())


@contextmanager
def _collected(device: str) -> Iterator[None]:
    if device != "cuda":
        yield
        return
    import torch

    profiler: Any = torch.cuda.profiler  # Its functions have no types.
    torch.cuda.synchronize()
    profiler.start()
    try:
        yield
        torch.cuda.synchronize()
    finally:
        profiler.stop()


def _heard(rows: list[dict[str, Any]]) -> Callable[[str, list[Any]], None]:
    def add(op: str, reports: list[Any]) -> None:
        rows.extend({"op": op, **report.to_dict(), "text": report.text()} for report in reports)

    return add


def _traced() -> str:
    return traceback.format_exc()


def _failed(status: str, error: FictlError, text: str) -> LookAnswer:
    return LookAnswer(status, error.message, error.hint, error.exit_code, text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
