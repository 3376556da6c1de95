{% set x, out = inputs[0].name, outputs[0].name %}
"""What the trace of {{ name }} cannot say: several ranks, one call behind another, refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

{% set op = package ~ "." ~ family ~ "." ~ name %}
{{ import_block(["from fictl.comm import Group, Workspace", "from fictl.testing import run_ranks", "from " ~ op ~ ".op import " ~ name]) }}

DTYPES = ({% for dtype in dtypes %}torch.{{ dtype.name }}{{ ", " if not loop.last }}{% endfor %}{{ "," if dtypes | length == 1 }})
Gather = Callable[[list[torch.Tensor]], list[torch.Tensor]]


@pytest.fixture
def gathered(device: str) -> Callable[[int], Gather]:
    """Ranks of this process: on the emulated device, or on streams of one GPU."""

    def made(size: int, room: int = 1 << 16) -> Gather:
        workspaces = [Workspace(group, room, device=device) for group in Group.local(size)]

        def gather(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
            parts = zip(inputs, workspaces, strict=True)
            return run_ranks([lambda x=x, w=w: {{ name }}(x, workspace=w) for x, w in parts])

        return gather

    return made


def _inputs(size: int, *shape: int, dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    return [torch.randint(0, 2, shape, device=device).to(dtype) for _ in range(size)]


@pytest.mark.parametrize("size", range(1, 9))
def test_any_number_of_ranks(size: int, gathered: Callable[[int], Gather], device: str) -> None:
    gather = gathered(size)
    for _ in range(3):  # both halves of the workspace, and the first one again
        inputs = _inputs(size, 3, 5, dtype=DTYPES[0], device=device)
        for out in gather(inputs):
            assert torch.equal(out.float(), torch.cat(inputs).float())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 2, 7, 8, 2000])
def test_any_bytes(
    cols: int, dtype: torch.dtype, gathered: Callable[[int], Gather], device: str
) -> None:
    inputs = _inputs(2, 1, cols, dtype=dtype, device=device)
    for out in gathered(2)(inputs):
        assert torch.equal(out.float(), torch.cat(inputs).float())


def test_an_input_beyond_the_workspace_is_refused(device: str) -> None:
    group, _ = Group.local(2)
    {{ x }} = torch.zeros(64, 64, device=device).to(DTYPES[0])
    with pytest.raises(ValueError, match="{{ name }}: 'workspace' has room for 1024 bytes"):
        {{ name }}({{ x }}, workspace=Workspace(group, 1024, device=device))


def test_an_out_of_another_shape_is_refused(device: str) -> None:
    {{ x }} = torch.zeros(3, 4, device=device).to(DTYPES[0])
    with pytest.raises(ValueError, match="{{ name }}: argument '{{ x }}' has shape"):
        {{ name }}({{ x }}, {{ out }}={{ x }}.new_empty(6, 4))


@pytest.mark.gpus(2)
def test_two_processes(ranks, process_group, device: str) -> None:  # type: ignore[no-untyped-def]
    {{ x }} = torch.full((2, 8), ranks.rank, device=device).to(DTYPES[0])
    for _ in range(3):
        assert {{ name }}({{ x }})[:, 0].tolist() == [0, 0, 1, 1]
