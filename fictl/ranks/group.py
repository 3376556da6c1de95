"""torch's default process group of these ranks, watched: who hangs in it learns for whom it waits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from fictl import settings
from fictl.errors import FictlError, SetupError
from fictl.process import set_defaults
from fictl.ranks.rank import Rank
from fictl.ranks.verdict import Verdict
from fictl.ranks.witness import LATER_SECONDS, Witness, own_connection

# The exit code of a rank that has told a verdict: the others need not be waited for.
TOLD = 70
# The flight recorder and the watchdog of nccl; a user's own values win.
RECORDED = {
    "TORCH_FR_BUFFER_SIZE": "512",
    # 3: after an error or at the time limit, the process ends; kernels on the GPU cannot be ended.
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "3",
    # The witness reads the recorder itself; files of it would be written to /tmp.
    "TORCH_NCCL_DUMP_ON_TIMEOUT": "0",
    # A store whose rank has ended is a page of C++ frames for each of the others.
    "TORCH_CPP_LOG_LEVEL": "ERROR",
}


@contextmanager
def watched_group(
    here: Rank,
    store: Any,
    tell: Callable[[Verdict], object],
    *,
    name: str = "",
) -> Iterator[Witness]:
    """Open torch's default group: nccl on GPUs, gloo on the emulated device.

    A hang ends this process after `tell`, as no thread can end another's wait for a GPU.

    name: of this group, among those that the store serves.
    """
    import torch
    import torch.distributed as dist

    set_defaults(RECORDED)
    gpu = None
    if settings.DEVICE.get() == "cuda":
        if not torch.cuda.is_available():
            raise SetupError(
                f"rank {here.rank} sees no GPU",
                "FICTL_DEVICE=emu runs ranks on the emulated device",
            )
        # Some launchers show each rank its own GPU alone.
        gpu = torch.device("cuda", here.local % torch.cuda.device_count())
        torch.cuda.set_device(gpu)
    seconds = settings.RANK_TIMEOUT.get()
    tools: Any = dist
    own = tools.PrefixStore(name, own_connection(store))
    with Witness(here, own, seconds, lambda verdict: _end(tell, verdict)) as witness:
        try:
            dist.init_process_group(
                "gloo" if gpu is None else "nccl",
                store=tools.PrefixStore(name, store),
                rank=here.rank,
                world_size=here.size,
                # torch ends the process at this limit, without a word on who is missing.
                timeout=timedelta(seconds=seconds + LATER_SECONDS),
                # Without it a barrier guesses the GPU, and warns.
                device_id=gpu,
            )
        except RuntimeError as error:
            raise _not_opened(error, witness) from None
        try:
            yield witness
        finally:
            with suppress(RuntimeError):  # What a lost rank leaves behind has its own report.
                dist.destroy_process_group()


def _not_opened(error: RuntimeError, witness: Witness) -> FictlError:
    first = str(error).partition("\n")[0]
    ended = witness.awaited_end()
    if not ended:
        return FictlError(f"the ranks cannot open their group: {first}", "see the error of torch")
    ranks = "rank" if len(ended) == 1 else "ranks"
    return FictlError(
        f"{ranks} {', '.join(map(str, ended))} ended before all ranks had opened their group",
        f"see the output of that rank; torch reports here: {first}",
    )


def _end(tell: Callable[[Verdict], object], verdict: Verdict) -> None:
    try:
        tell(verdict)
    finally:
        os._exit(TOLD)
