"""Environment of a result: machine, versions, and reasons for doubt."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timezone

from fictl.bench.conversation import Conversation
from fictl.bench.result import Environment
from fictl.timing.gpu_state import GpuState
from fictl.version import VERSION, commit

EMULATED = "emulated: these are times of the host, not of a GPU"


def environment(device: str, talks: Sequence[Conversation], gpus: str = "") -> Environment:
    """Collect the environment of all processes of a run; versions and ceilings are the first's.

    gpus: those of several ranks.
    """
    versions = next((talk.versions for talk in talks if talk.versions), None)
    before = next((talk.before for talk in talks if talk.before), None)
    known = [
        seen.state for talk in talks for seen in (talk.before, talk.after) if seen and seen.state
    ]
    ranks = next((talk.ranks.states for talk in talks if talk.ranks), ())
    everywhere = [*known, *(state for state in ranks if state)]
    return Environment(
        device=device,
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        fictl=VERSION,
        commit=commit(),
        python=platform.python_version(),
        torch=versions.torch if versions else "",
        cuda=versions.cuda if versions else "",
        before=asdict(known[0]) if known else None,
        after=asdict(known[-1]) if known else None,
        ceilings=before.ceilings if before else None,
        gpus=gpus,
        ranks=tuple(asdict(state) if state else None for state in ranks),
        warnings=(*_warnings(device, everywhere), *(w for talk in talks for w in talk.warnings)),
    )


def _warnings(device: str, states: Sequence[GpuState]) -> Iterator[str]:
    if device == "emu":
        yield EMULATED
        return
    if not states:
        yield "nvidia-smi says nothing of this GPU: its clocks and other users are unknown"
    others = sorted({pid for state in states for pid in state.others})
    if others:
        yield f"other processes use this GPU ({', '.join(map(str, others))}): do not trust the times"
    reasons = sorted({reason for state in states for reason in state.throttled})
    if reasons:
        yield f"the GPU slowed itself down: {', '.join(reasons)}"
