"""What earlier runs have evaluated, so that a run can go on where one was ended."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from fictl.dataset.readable import readable_traces

if TYPE_CHECKING:
    from fictl.trace import TraceSet

# In Evaluation.fictl: which text of the solution it was, and on what it ran.
HASH, DEVICE = "solution_hash", "device"


def evaluated(dataset: TraceSet, definition: str, device: str) -> dict[str, frozenset[str]]:
    """By the hash of a solution: the workloads with a result on this kind of device.

    One that was changed since has another hash, and results of others' tools have none.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for trace in readable_traces(dataset, definition, lambda error: None):
        said = trace.evaluation.fictl if trace.evaluation is not None else None
        if said and said.get(DEVICE) == kind_of(device) and isinstance(said.get(HASH), str):
            found[said[HASH]].add(trace.workload.uuid)
    return {digest: frozenset(uuids) for digest, uuids in found.items()}


def kind_of(device: str) -> str:
    return device.partition(":")[0]
