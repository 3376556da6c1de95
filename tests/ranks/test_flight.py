"""Calls read from torch's flight recorder: from real dumps, and from ones that are not."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import torch
import torch.distributed as dist

from fictl.errors import FictlError
from fictl.ranks.flight import CollectiveCall, calls_in, own_calls

# As torch 2.11 documents and writes it for nccl.
ENTRY: dict[str, Any] = {
    "frames": [
        {"name": "all_reduce", "filename": "/lib/torch/distributed/distributed_c10d.py", "line": 9},
        {"name": "step", "filename": "/home/ada/train.py", "line": 41},
    ],
    "record_id": 16,
    "pg_id": 0,
    "process_group": ("0", "default_pg"),
    "collective_seq_id": 17,
    "p2p_seq_id": 0,
    "op_id": 17,
    "profiling_name": "nccl:all_reduce",
    "time_created_ns": 1795424712659689742,
    "input_sizes": [[4, 8]],
    "output_sizes": [[4, 8]],
    "state": "started",
    "retired": False,
    "is_p2p": False,
}


def dump(*changes: dict[str, Any]) -> bytes:
    entries = [{**ENTRY, **change} for change in changes]
    return pickle.dumps({"version": "2.10", "pg_config": {}, "entries": entries}, protocol=2)


@pytest.fixture
def group() -> Iterator[None]:
    store = dist.TCPStore("127.0.0.1", 0, 1, True, timeout=timedelta(seconds=30))  # type: ignore[attr-defined]
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_the_calls_of_this_process() -> None:
    began = time.time_ns()
    dist.all_reduce(torch.ones(4, 2))
    dist.barrier()
    calls = own_calls(began)
    assert [(str(call), call.is_done, call.shape) for call in calls] == [
        ("all_reduce #1", True, "4x2"),
        ("barrier #2", True, ""),
    ]
    assert calls[0].at.startswith("test_flight.py:")
    assert own_calls(time.time_ns()) == []


def test_a_dump_of_nccl() -> None:
    assert calls_in(dump({})) == [
        CollectiveCall(
            16,
            "default_pg",
            17,
            "all_reduce",
            False,
            "train.py:41",
            "4x8",
            ENTRY["time_created_ns"],
        )
    ]


@pytest.mark.parametrize(
    ("change", "name", "is_done"),
    [
        ({"state": "completed"}, "all_reduce #17", True),
        ({"retired": True}, "all_reduce #17", True),
        ({"state": "scheduled"}, "all_reduce #17", False),
        ({"profiling_name": "nccl:_all_gather_base"}, "all_gather #17", False),
        (
            {"profiling_name": "nccl:send 0->1", "is_p2p": True, "p2p_seq_id": 3},
            "send 0->1 #3",
            False,
        ),
    ],
)
def test_names_and_states(change: dict[str, Any], name: str, is_done: bool) -> None:
    (call,) = calls_in(dump(change))
    assert (str(call), call.is_done) == (name, is_done)


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/never",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a pickle",
        dump({})[:-40],
        pickle.dumps([1]),
        pickle.dumps({"entries": "text"}),
        pickle.dumps({"entries": [{"record_id": "x"}]}),
        pickle.dumps({"entries": [Evil()]}),
        pickle.dumps({"entries": [{**ENTRY, "frames": [Evil()]}]}),
    ],
    ids=["empty", "text", "cut", "list", "no list", "no numbers", "code", "code in it"],
)
def test_what_is_no_dump_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(FictlError, match="flight recorder"):
        calls_in(data)
