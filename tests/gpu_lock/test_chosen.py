"""Several GPUs for ranks that talk to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from fictl.arch import Arch
from fictl.gpu_lock.chosen import chosen
from fictl.toolchain import Gpu
from fictl.toolchain.smi import Smi

Machine = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with these links between its GPUs, which CUDA counts in the order of `cuda`."""

    def make(links: Mapping[tuple[int, int], str], cuda: str = "0123", names: str = "") -> None:
        gpus = tuple(Gpu(at, "faked", Arch(9, 0), f"id-{smi}") for at, smi in enumerate(cuda))
        rows = tuple({"index": smi, "uuid": f"GPU-id-{smi}"} for smi in sorted(cuda))
        monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: gpus)
        monkeypatch.setattr("fictl.toolchain.smi.read_smi", lambda: Smi(rows))
        monkeypatch.setattr("fictl.toolchain.links.read_links", lambda: links)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", names)

    return make


def test_those_with_the_fastest_link(machine: Machine) -> None:
    machine({(0, 1): "SYS", (0, 2): "NV4", (0, 3): "PIX", (1, 2): "SYS", (1, 3): "NV18"})
    two = chosen(2)
    assert (two.names, two.link) == (("1", "3"), "NV18")
    assert str(two) == "GPUs 1, 3 (NV18)"
    assert two.variables == {"CUDA_VISIBLE_DEVICES": "1,3"}


def test_the_slowest_link_of_a_group_decides(machine: Machine) -> None:
    machine(
        {(0, 1): "NV18", (0, 2): "SYS", (0, 3): "NV4", (1, 2): "SYS", (1, 3): "NV4", (2, 3): "NV18"}
    )
    three = chosen(3)
    assert (three.names, three.link) == (("0", "1", "3"), "NV4")


def test_cuda_may_count_them_differently(machine: Machine) -> None:
    machine({(0, 1): "NV18", (2, 3): "SYS"}, cuda="3201", names="5,7,0,4")
    assert chosen(2).names == ("0", "4")


def test_where_all_are_alike_the_first(machine: Machine) -> None:
    machine({(one, two): "NV18" for one in range(4) for two in range(one + 1, 4)})
    assert chosen(2).names == ("0", "1")


def test_without_links_the_first(machine: Machine) -> None:
    machine({})
    assert (chosen(2).names, chosen(2).link, str(chosen(2))) == (("0", "1"), "", "GPUs 0, 1")


def test_one_gpu_is_the_first_and_shown_to_nobody_else(machine: Machine) -> None:
    machine({(1, 2): "NV18"})
    assert (chosen(1).names, chosen(1).variables, str(chosen(1))) == (("0",), {}, "")


def test_too_few_are_all(machine: Machine) -> None:
    machine({(0, 1): "NV18"}, cuda="01")
    assert chosen(8).names == ("0", "1")
