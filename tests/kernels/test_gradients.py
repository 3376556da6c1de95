"""No shipped op returns a tensor that silently has no gradient, whichever argument wants one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import isclass, signature
from typing import Any

import pytest
import torch

import fictl.ops
from fictl.errors import FictlError
from fictl.project import Project, folders

NAMES = [each.name for folder in folders(Project.shipped()) for each in folder.declarations()]


def _called(name: str) -> Callable[..., Any]:
    """The function; of a class `run` of an object, before any plan."""
    api = getattr(fictl.ops, name)
    return object.__new__(api).run if isclass(api) else api


def _tensors(name: str) -> list[str]:
    """The parameters that may be tensors, outputs among them."""
    found = signature(_called(name)).parameters.values()
    return [p.name for p in found if any(w in str(p.annotation) for w in ("Tensor", "Cache"))]


def _with(name: str, argument: str, value: object) -> dict[str, Any]:
    """All arguments of a call; the others are nothing: it is refused before they are looked at."""
    return {**dict.fromkeys(signature(_called(name)).parameters), argument: value}


def _refused(name: str, argument: str) -> str:
    return f"{name}: argument '{argument}' requires grad, and {name} has no gradient"


EACH = [(name, argument) for name in NAMES for argument in _tensors(name)]


@pytest.mark.parametrize(("name", "argument"), EACH)
def test_an_argument_that_requires_grad_is_refused_by_name(name: str, argument: str) -> None:
    weight = torch.nn.Parameter(torch.ones(2, 8))
    for value in (weight, weight * 2, (weight, None), [torch.ones(2), weight], {"a": (weight,)}):
        with pytest.raises(FictlError) as info:
            _called(name)(**_with(name, argument, value))
        assert info.value.message == _refused(name, argument)
        assert "torch.no_grad()" in info.value.hint
        assert f"{argument}.detach()" in info.value.hint


@pytest.mark.parametrize("name", NAMES)
def test_it_is_refused_in_the_same_words_when_compiled(name: str) -> None:
    call, argument = _called(name), _tensors(name)[-1]
    others = _with(name, argument, None)
    torch.compiler.reset()
    compiled = torch.compile(
        lambda x: call(**{**others, argument: x}), fullgraph=True, backend="eager"
    )
    with pytest.raises(RuntimeError, match=_refused(name, argument)):
        compiled(torch.ones(2, 8, requires_grad=True))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_where_a_gradient_is_wanted_of_the_rest_of_a_graph_an_op_may_be_in_it(
    backend: str, device: str
) -> None:
    def block(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            normed = fictl.ops.rmsnorm(x, weight)
        return fictl.ops.scale(x.detach(), 2.0) + normed + x

    torch.compiler.reset()
    x = torch.ones(2, 8, device=device, requires_grad=True)
    weight = torch.nn.Parameter(torch.ones(8, device=device))
    torch.compile(block, fullgraph=True, backend=backend)(x, weight).sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, torch.ones(2, 8, device=device))
    assert weight.grad is None


def test_the_sum_of_a_norm_and_its_input_gets_no_wrong_gradient() -> None:
    x = torch.ones(2, 8, requires_grad=True)
    with pytest.raises(FictlError, match="rmsnorm: argument 'input' requires grad"):
        (fictl.ops.rmsnorm(x, torch.ones(8)) + x).sum().backward()


@pytest.mark.parametrize(
    "place", ["norm.rmsnorm", "rope.apply_rope_pos_ids", "activation.silu_and_mul"]
)
def test_flashinfers_names_refuse_it_too(place: str) -> None:
    family, _, name = place.partition(".")
    function = getattr(import_module(f"fictl.compat.flashinfer.{family}"), name)
    argument = _tensors(name)[0]
    with pytest.raises(FictlError, match=_refused(name, argument)):
        function(**_with(name, argument, torch.ones(2, 8, requires_grad=True)))
