"""What earlier runs have evaluated, so that a run can go on where one was ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fictl.dataset.readable import readable_traces

if TYPE_CHECKING:
    from fictl.trace import TraceSet
    from fictl.trace.documents.reading import NotReadable

# In Evaluation.fictl: which text of the solution it was, and on what it ran.
HASH, DEVICE = "solution_hash", "device"


@dataclass
class PreviousResults:
    """`results` by the hash of a solution: the workloads with one on this kind of device.

    A solution that was changed since has another hash, and results of others' tools have none.
    `unreadable` are lines that a crash, or another tool, left broken.
    """

    results: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unreadable: list[NotReadable] = field(default_factory=list)


def evaluated(dataset: TraceSet, definition: str, device: str) -> PreviousResults:
    found: defaultdict[str, set[str]] = defaultdict(set)
    broken: list[NotReadable] = []
    for trace in readable_traces(dataset, definition, broken.append):
        said = trace.evaluation.fictl if trace.evaluation is not None else None
        if said and said.get(DEVICE) == kind_of(device) and isinstance(said.get(HASH), str):
            found[said[HASH]].add(trace.workload.uuid)
    return PreviousResults({digest: frozenset(uuids) for digest, uuids in found.items()}, broken)


def kind_of(device: str) -> str:
    return device.partition(":")[0]
