"""Results of earlier runs, so that --resume continues a run that was ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fictl.dataset.readable import readable_traces

if TYPE_CHECKING:
    from fictl.trace import TraceSet
    from fictl.trace.documents.reading import NotReadable

# Keys of Evaluation.fictl: hash of the solution, device of the run, place where it was made; seconds
# of the evaluation, of its parts, and of the builds that its solution ordered.
HASH, DEVICE, PLACE = "solution_hash", "device", "place"
SECONDS, SPENT, BUILD_SECONDS = "seconds", "spent", "build_seconds"


@dataclass
class PreviousResults:
    """Workloads with a result on this hardware, by the hash of their solution.

    An edited solution has another hash; results of other tools have none. `unreadable` are lines
    broken by a crash or another tool.
    """

    results: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unreadable: list[NotReadable] = field(default_factory=list)


def evaluated(
    dataset: TraceSet, definition: str, device: str, hardware: Collection[str] = ()
) -> PreviousResults:
    """Read the results of a kind of device. Where the names of `hardware` are known, only theirs
    count: a result of one GPU is none of another.
    """
    uuids_by_hash: defaultdict[str, set[str]] = defaultdict(set)
    broken: list[NotReadable] = []
    for trace in readable_traces(dataset, definition, broken.append):
        evaluation = trace.evaluation
        facts = evaluation.fictl if evaluation is not None else None
        if not facts or facts.get(DEVICE) != kind_of(device):
            continue
        assert evaluation is not None
        is_here = not hardware or evaluation.environment.hardware in hardware
        if is_here and isinstance(facts.get(HASH), str):
            uuids_by_hash[facts[HASH]].add(trace.workload.uuid)
    return PreviousResults(
        {digest: frozenset(uuids) for digest, uuids in uuids_by_hash.items()}, broken
    )


def kind_of(device: str) -> str:
    return device.partition(":")[0]
