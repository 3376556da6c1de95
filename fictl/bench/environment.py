"""On what a result was measured: machine, versions, and what there is to be wary of."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from fictl.bench.conversation import Conversation
from fictl.bench.result import Environment
from fictl.version import VERSION, commit

EMULATED = "emulated: these are times of the host, not of a GPU"


def environment(device: str, talks: Sequence[Conversation]) -> Environment:
    """Of all processes of a run: versions and ceilings are those of the first."""
    facts: dict[str, Any] = next((talk.facts for talk in talks if talk.facts), {})
    states = [talk.facts.get(when) for talk in talks for when in ("before", "after")]
    known = [state for state in states if state]
    return Environment(
        device=device,
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        fictl=VERSION,
        commit=commit(),
        python=platform.python_version(),
        torch=facts.get("torch", ""),
        cuda=facts.get("cuda", ""),
        before=known[0] if known else None,
        after=known[-1] if known else None,
        ceilings=facts.get("ceilings"),
        warnings=(*_warnings(device, known), *(w for talk in talks for w in talk.warnings)),
    )


def _warnings(device: str, states: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if device == "emu":
        yield EMULATED
        return
    if not states:
        yield "nvidia-smi says nothing of this GPU: its clocks and other users are unknown"
    others = sorted({pid for state in states for pid in state["others"]})
    if others:
        yield f"other processes use this GPU ({', '.join(map(str, others))}): do not trust the times"
    reasons = sorted({reason for state in states for reason in state["throttled"]})
    if reasons:
        yield f"the GPU slowed itself down: {', '.join(reasons)}"
