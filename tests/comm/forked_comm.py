"""Groups and workspaces of real processes: a program that forks ranks for each case it is given.

They share one import of torch, which takes longer than all cases. A line of its output is
`CASE RANK TEXT`.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from fictl.comm import Group, Workspace
from fictl.comm.late import Late
from fictl.errors import FictlError
from fictl.kernels.comm.all_gather.op import all_gather

Say = Callable[[object], None]


def pairs(rank: int, say: Say) -> None:
    """TP2 x 2, of which the second pair is without rank 0; and all four at the same time."""
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    pair = Workspace(groups[rank // 2], 1024)
    x = torch.full((2,), float(rank))
    both = [all_gather(x, workspace=pair).tolist() for _ in range(2)]
    say((both[0][::2], both[0] == both[1], all_gather(x)[::2].tolist(), str(pair.group)))
    pair.destroy()


def different(rank: int, say: Say) -> None:
    for options in ({"bytes": 1024 + rank * 256}, {"fill": rank}, {"purpose": f"x{rank}"}):
        try:
            Workspace(**options)
        except FictlError as error:
            say(error)


def missing(rank: int, say: Say) -> None:
    if rank == 0:
        try:
            Workspace()
        except FictlError as error:
            left = [*Path("/dev/shm").glob(f"fictl-comm-{os.getpid()}-*")]
            say(f"{error.args[0]}; left: {left}")
    else:
        time.sleep(1.2)


def foreign(rank: int, say: Say) -> None:
    group = dist.new_group([1])
    if rank == 0:
        try:
            Group.of(group)
        except FictlError as error:
            say(error)
    else:
        say(Group.of(group))


def reading(rank: int, say: Say) -> None:
    """Rank 0 destroys at once what rank 1 still reads."""
    store = dist.PrefixStore("reading", dist.distributed_c10d._get_default_store())
    workspace = Workspace(None, 1024, fill=7)
    if rank == 0:
        workspace.destroy()
        say(store.check(["has read"]))
    else:
        time.sleep(0.3)
        peer = workspace.memory[workspace.memory.numel() // 2 - 4 :][:4]
        say(peer.view(torch.int32).item())
        store.set("has read", "")
        del peer
        workspace.destroy()


def rebuilt(rank: int, say: Say) -> None:
    workspace = Workspace(None, 1024, fill=7)
    workspace.data.zero_()
    workspace.rebuild()
    x = torch.full((2,), float(rank))
    say((workspace.data[0].item(), all_gather(x, workspace=workspace).tolist()))
    workspace.destroy()


def forked(rank: int, say: Say) -> None:
    workspace = Workspace(None, 1024)
    if not (child := os.fork()):
        try:
            workspace.table  # noqa: B018
        except FictlError as error:
            say(error)
        workspace.destroy()
        os._exit(0)
    os.waitpid(child, 0)
    say(all_gather(torch.tensor([rank]), workspace=workspace).tolist())
    workspace.destroy()


def late(rank: int, say: Say) -> None:
    """Rank 0 has waited for rank 1, as its kernel says."""
    store = dist.PrefixStore("late", dist.distributed_c10d._get_default_store())
    waiting = Late(Group.of(), 3)
    waiting.start()
    if rank == 0:
        waiting.words[:] = torch.tensor([2, 1, 4, 17, 16])
        waiting._thread.join()
        store.set("told", "")
    else:
        store.wait(["told"])
    waiting.stop()


CASES: dict[str, tuple[int, Callable[[int, Say], None]]] = {
    case.__name__: (4 if case is pairs else 2, case)
    for case in (pairs, different, missing, foreign, reading, rebuilt, forked, late)
}


def run(case: str, rank: int, size: int, port: int) -> None:
    def say(text: object) -> None:
        os.write(1, f"{case} {rank} {str(text).splitlines()[0]}\n".encode())

    opened: Any = dist
    store = opened.TCPStore("127.0.0.1", port, size, rank == 0, timeout=timedelta(seconds=30))
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    CASES[case][1](rank, say)
    store.set(f"over/{rank}", "1")
    if rank == 0:
        store.wait([f"over/{one}" for one in range(size)])


def main(cases: list[str]) -> None:
    for case in cases:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        children = []
        size = CASES[case][0]
        for rank in range(size):
            child = os.fork()
            if not child:
                os.dup2(1, 2)
                run(case, rank, size, port)
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
