"""Host time of calls: of plans, and of launches."""

from __future__ import annotations

from fictl.case.trial import Prepared
from fictl.timing.samples import Samples
from fictl.timing.side import Side
from fictl.timing.stop import Stop


def time_plan(prepared: Prepared, device: str, stop: Stop) -> Samples:
    """Time a plan by the host's clock until the GPU is done: most of its work is on the host."""
    from fictl.timing.measure import measure

    def plan() -> None:
        prepared.plan()
        if device != "cpu":
            import torch

            torch.cuda.synchronize()

    sides = {"plan": Side(lambda _copy: plan, 0)}
    return measure(sides, device="cpu", cold=False, stop=stop)["plan"]


def time_host(prepared: Prepared, device: str) -> float:
    """Return the seconds until a call returns, without waiting for its launched work."""
    from fictl.timing.host_overhead import host_overhead

    return host_overhead(prepared, device)
