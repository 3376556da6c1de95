"""Dumps of FICTL_LOGLEVEL=10 as workloads of a dataset; no call is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.op import declaration
from fictl.replay.dump import Dump, find_dumps
from fictl.replay.replay_worker import enums_of, recorded_arguments
from fictl.tracing.config import TracingConfig
from fictl.tracing.op_calls import OpCalls
from fictl.tracing.runtime import TracingRuntime


@dataclass(frozen=True)
class CollectedDumps:
    """Numbers of dumps and of workloads; `known`: the dataset has them; `refused`: with reasons."""

    root: Path
    dumps: int
    workloads: int
    known: int
    definitions: tuple[str, ...]
    refused: tuple[tuple[str, FictlError], ...]
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        refused = [
            {"dump": name, "message": error.message, "hint": error.hint}
            for name, error in self.refused
        ]
        return {
            **vars(self),
            "root": str(self.root),
            "definitions": list(self.definitions),
            "refused": refused,
        }


def collect_dumps(
    paths: Sequence[Path], root: Path, config: TracingConfig, dry_run: bool = False
) -> CollectedDumps:
    """Add the calls of dumps, which are folders or folders of such, as a policy chooses."""
    runtime = TracingRuntime(root, config)
    refused: list[tuple[str, FictlError]] = []
    dumps = find_dumps(paths)
    wanted = 0
    for path in dumps:
        try:
            _collect(runtime, Dump.open(path))
        except FictlError as error:
            refused.append((path.name, error))
        if dry_run:
            wanted += sum(len(policy.drain()) for policy in runtime.policies.values())
    if not dry_run:
        runtime.flush()
        wanted = runtime.written.workloads
    return CollectedDumps(
        runtime.root,
        len(dumps),
        wanted,
        runtime.written.known,
        tuple(sorted(runtime.policies)),
        tuple(refused),
        dry_run,
    )


def _collect(runtime: TracingRuntime, dump: Dump) -> None:
    api = getattr(dump.folder().load("op"), dump.name)
    calls = OpCalls(declaration(api), getattr(api, "run", api))
    values = recorded_arguments(dump, enums_of(api), "cpu")
    call = calls.describe(values)
    if call.definition is None or call.axes is None:
        raise FictlError(f"{dump.record.op}: this call is of no definition: {call.why}")
    runtime.define(call.definition)
    runtime.submit(call.definition, call.axes, call.input_values(values))
