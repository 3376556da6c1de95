"""Mapping of ranks to groups, by its definition: of world sizes of up to 16."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fictl.comm import Group
from fictl.compat.flashinfer.comm import Mapping
from fictl.compat.flashinfer.comm.mnnvl import MnnvlConfig, TorchDistBackend


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ({"tp_size": 4, "pp_size": 2}, {"tp": [4, 5, 6, 7], "pp": [1, 5], "cp": [5]}),
        ({"tp_size": 4, "cp_size": 2}, {"tp": [4, 5, 6, 7], "pp": [5], "cp": [1, 5]}),
        ({"tp_size": 2, "pp_size": 2, "cp_size": 2}, {"tp": [4, 5], "pp": [1, 5], "cp": [5, 7]}),
        (
            {"tp_size": 8, "moe_tp_size": 2, "moe_ep_size": 4},
            {"moe_tp": [1, 5], "moe_ep": [4, 5, 6, 7]},
        ),
        ({"tp_size": 8, "moe_ep_size": 8}, {"moe_tp": [5], "moe_ep": [*range(8)]}),
    ],
)
def test_groups_of_rank_5_of_8(sizes: dict[str, int], groups: dict[str, list[int]]) -> None:
    mapping = Mapping(8, 5, **sizes)
    assert {name: getattr(mapping, f"{name}_group") for name in groups} == groups
    for name, ranks in groups.items():
        assert ranks[getattr(mapping, f"{name}_rank")] == 5
    assert Mapping.from_dict(mapping.to_dict()) == mapping
    assert hash(Mapping.from_dict(mapping.to_dict())) == hash(mapping)


def test_experts_and_nodes() -> None:
    mapping = Mapping(16, 9, tp_size=16, moe_ep_size=16)
    assert mapping.ep_experts(64) == [36, 37, 38, 39]
    assert (mapping.node_rank, mapping.local_rank, mapping.is_multi_node()) == (1, 1, True)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"world_size": 4, "tp_size": 2}, "world_size is 4, but tp_size 2"),
        ({"world_size": 4, "tp_size": 4, "moe_tp_size": 3, "moe_ep_size": 2}, "tp_size is 4, but"),
        ({"world_size": 2, "tp_size": 2, "rank": 2}, "rank 2 of 2 ranks"),
    ],
)
def test_sizes_that_do_not_fit(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Mapping(**sizes)


def test_a_communicator_of_torch() -> None:
    config = MnnvlConfig(comm_backend=TorchDistBackend())
    assert config.comm_backend.__class__.__name__ == "TorchDistBackend"
    fake = SimpleNamespace(
        Get_rank=lambda: 1, Get_size=lambda: 2, allgather=lambda data: [data, data]
    )
    assert Group.of(fake).rank == 1
