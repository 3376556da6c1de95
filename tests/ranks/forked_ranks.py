"""Ranks that keep each other waiting: a program that forks two or three for each case it is given.

They share one import of torch, which takes longer than all cases. A line of its output is
`CASE RANK TEXT`: the verdict of a witness, or the error of a collective and what explains it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from fictl.errors import FictlError
from fictl.ranks.group import watched_group
from fictl.ranks.rank import Rank

FOUR = 4


def silent(rank: int) -> None:
    dist.all_reduce(torch.ones(FOUR))
    if rank == 0:
        dist.all_reduce(torch.ones(FOUR))
    else:
        time.sleep(60)


def another(rank: int) -> None:
    dist.barrier()
    if rank == 0:
        dist.all_reduce(torch.ones(1 << 20))
    else:
        dist.broadcast(torch.ones(FOUR), src=0)


def killed(rank: int) -> None:
    dist.all_reduce(torch.ones(FOUR))
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.broadcast(torch.ones(FOUR), src=1)


def server_killed(rank: int) -> None:
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(FOUR))


def third_of_three(rank: int) -> None:
    for _ in range(3 if rank == 2 else 4):
        dist.all_reduce(torch.ones(FOUR))
    while True:
        time.sleep(1)


def own_error(rank: int) -> None:
    raise RuntimeError("size mismatch")


def killed_early(rank: int) -> None:
    raise AssertionError("the first rank ended before the others had opened the group")


def killed_at_once(rank: int) -> None:
    raise AssertionError("the first rank ended before it had come")


CASES: dict[str, tuple[int, Callable[[int], None]]] = {
    case.__name__: (3 if case is third_of_three else 2, case)
    for case in (
        *(silent, another, killed, server_killed, third_of_three, own_error),
        *(killed_early, killed_at_once),
    )
}


# Cases in which every rank ends by itself: the others learn of the first one's end.
ENDING = ("another", "killed", "server_killed", "own_error", "killed_early", "killed_at_once")


def meet(store: Any, here: Rank) -> None:
    """Keep the rank that serves the store until the others have opened the group, which reads it."""
    store.set(f"open/{here.rank}", "1")
    if here.rank == 0:
        store.wait([f"open/{rank}" for rank in here.others])


def outlast(store: Any, here: Rank) -> None:
    """Keep the store until every rank has its error: one that is still starting reads from it."""
    store.set(f"over/{here.rank}", "1")
    if here.rank == 0:
        store.wait([f"over/{rank}" for rank in here.others])


def say(case: str, rank: int, text: object) -> None:
    first = str(text).splitlines()[0]
    os.write(1, f"{case} {rank} {first}\n".encode())


def run(case: str, here: Rank, port: int) -> None:
    opened: Any = dist
    store = opened.TCPStore(
        "127.0.0.1", port, here.size, here.rank == 0, timeout=timedelta(seconds=30)
    )
    if case == "killed_early":
        opens = dist.init_process_group
        opened.init_process_group = lambda *words, **more: open_or_die(
            store, here, opens, *words, **more
        )
    if case == "killed_at_once" and here.rank == 0:
        store.wait(["came"])
        os.kill(os.getpid(), signal.SIGKILL)
    store.set("came", "1")
    try:
        watch(case, here, store)
    except FictlError as error:
        say(case, here.rank, error.message)
        os._exit(1)


def open_or_die(
    kept: Any, here: Rank, opens: Callable[..., None], /, *words: Any, **more: Any
) -> None:
    """Rank 0 ends once the others know of it, as they do before they open their group."""
    kept.set(f"knows/{here.rank}", "1")
    if here.rank == 0:
        kept.wait([f"knows/{rank}" for rank in here.others])
        os.kill(os.getpid(), signal.SIGKILL)
    opens(*words, **more)


def watch(case: str, here: Rank, store: Any) -> None:
    with watched_group(here, store, lambda verdict: say(case, here.rank, verdict)) as witness:
        meet(store, here)
        try:
            CASES[case][1](here.rank)
        except RuntimeError as error:
            say(case, here.rank, witness.explain(error) or f"not explained: {error}")
            if case == "own_error":
                outlast(store, here)
            os._exit(1)


def main(cases: list[str]) -> None:
    for case in cases:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        children = []
        for rank in range(CASES[case][0]):
            child = os.fork()
            if not child:
                run(case, Rank(rank, CASES[case][0], rank), port)
                os._exit(0)
            children.append(child)
        children.remove(os.wait()[0])
        for child in children:
            if case not in ENDING:
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
