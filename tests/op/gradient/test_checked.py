"""Where a gradient is wanted, a call is refused in words that name op and argument."""

from __future__ import annotations

import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

from fictl.errors import FictlError
from fictl.op import op

declare = op(archs=">=7.5", dtypes="f32", devices="cuda emu", mutates="")
REFUSED = "lossy: argument '{}' requires grad, and lossy has no gradient"


class Pair(NamedTuple):
    keys: Any
    values: Any


@dataclass
class Cache:
    pages: Any


@declare
def lossy(x: Any, factor: float = 1.0, /, *, cache: Any = None, flag: bool = True) -> torch.Tensor:
    """Everything in it loses a gradient without a kernel: numbers, integers, what is not used."""
    del cache, flag
    return torch.as_tensor(x).detach().to(torch.int32) * int(factor)


@pytest.fixture
def weight() -> torch.Tensor:
    return torch.nn.Parameter(torch.ones(3))


@pytest.fixture(params=["eager", "aot_eager"])
def compiled(request) -> Callable[..., Any]:
    torch.compiler.reset()
    return lambda function: torch.compile(function, fullgraph=True, backend=request.param)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda w: w,
        lambda w: w * 2,
        lambda w: [torch.ones(3), w],
        lambda w: (None, (1, w)),
        lambda w: {"keys": [w]},
        lambda w: OrderedDict(keys=w),
        lambda w: Pair(None, w),
        lambda w: Cache(Pair(w, w)),
        lambda w: {w},
    ],
)
@pytest.mark.parametrize("name", ["x", "cache"])
def test_a_tensor_is_seen_wherever_it_is(weight, wrapped, name) -> None:
    value = wrapped(weight)
    with pytest.raises(FictlError) as info:
        lossy(value) if name == "x" else lossy(1, cache=value)
    assert info.value.message == REFUSED.format(name)
    assert info.value.hint == (
        f"call it under torch.no_grad() or torch.inference_mode(), or pass {name}.detach(); its "
        "author can give it a gradient with @op(backward=…)"
    )


def test_a_tensor_in_place_of_a_number_is_seen() -> None:
    with pytest.raises(FictlError, match=REFUSED.format("factor")):
        lossy(torch.ones(3), torch.tensor(2.0, requires_grad=True))
    with pytest.raises(FictlError, match=REFUSED.format("flag")):
        lossy(torch.ones(3), flag=torch.tensor(2.0, requires_grad=True))


@pytest.mark.parametrize(
    "wrapped", [lambda w: w, lambda w: w * 2, lambda w: [w], lambda w: {"a": (w,)}]
)
def test_it_is_seen_when_compiled(weight, compiled, wrapped) -> None:
    with pytest.raises(RuntimeError, match=REFUSED.format("x")):
        compiled(lambda w: lossy(wrapped(w)))(weight)


@pytest.mark.parametrize("fullgraph", [True, False])
def test_compiled_the_error_is_that_sentence_and_where_it_was_called(weight, fullgraph) -> None:
    torch.compiler.reset()

    def layer(w: torch.Tensor) -> torch.Tensor:
        return lossy(w) * 2

    with pytest.raises(FictlError) as info:
        torch.compile(layer, fullgraph=fullgraph, backend="eager")(weight)
    line = layer.__code__.co_firstlineno + 1
    place = f"(called at {Path(__file__).name}:{line} in layer)"
    assert info.value.message == f"{REFUSED.format('x')} {place}"
    assert "torch.no_grad()" in info.value.hint
    report = "".join(traceback.format_exception(info.value))
    assert len(report.splitlines()) <= 10
    assert "Traceback" not in report.partition("\n")[2]


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_where_no_gradient_is_wanted_it_runs(weight, mode) -> None:
    with mode():
        assert lossy([*weight.tolist()], 2.0).tolist() == [2, 2, 2]
        assert lossy(weight, 2.0, cache=[weight]).tolist() == [2, 2, 2]


def test_what_is_detached_runs(weight, compiled) -> None:
    assert lossy(weight.detach(), 2.0, cache=(weight.detach(),)).tolist() == [2, 2, 2]
    assert compiled(lambda w: lossy(w.detach(), 2.0))(weight).tolist() == [2, 2, 2]


def test_other_numbers_and_shapes_of_a_compiled_call_are_no_argument_against_it(compiled) -> None:
    @declare
    def grown(x: torch.Tensor, by: float, count: int = 1, name: str = "") -> torch.Tensor:
        return x + by * count

    function = compiled(grown)
    for n, by, count in [(3, 1.0, 1), (4, 2.5, 7), (5, 3.0, 9)]:
        assert torch.equal(function(torch.ones(n), by, count), torch.full((n,), 1 + by * count))


def test_fake_tensors_are_refused_as_well(weight) -> None:
    with FakeTensorMode() as mode, pytest.raises(FictlError, match=REFUSED.format("x")):
        lossy(mode.from_tensor(weight))


@pytest.mark.parametrize("tracing", ["real", "fake", "symbolic"])
def test_a_trace_of_make_fx_is_refused_as_well(weight, tracing) -> None:
    with pytest.raises(FictlError, match=REFUSED.format("x")):
        make_fx(lambda w: lossy(w, 2.0), tracing_mode=tracing)(weight)


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad])
def test_a_tangent_of_forward_mode_is_no_less_lost(mode) -> None:
    with mode(), forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(3), torch.ones(3))
        with pytest.raises(FictlError, match="argument 'x' has a tangent") as info:
            lossy(dual)
    assert "unpack_dual(x)" in info.value.hint


def test_a_lambda_is_a_function(weight) -> None:
    halved = declare(lambda x: x / 2)
    assert halved(torch.ones(1)).item() == 0.5
    with pytest.raises(FictlError, match="<lambda>: argument 'x' requires grad"):
        halved(weight)


def test_a_default_is_an_argument_too(weight) -> None:
    @declare
    def weighed(x: torch.Tensor, by: torch.Tensor = weight) -> torch.Tensor:
        return x * by.detach()

    with pytest.raises(FictlError, match="weighed: argument 'by' requires grad"):
        weighed(torch.ones(3))


def test_arguments_without_names_are_seen(weight) -> None:
    @declare
    def total(*parts: Any, **more: Any) -> float:
        return sum(float(each.sum()) for each in (*parts, *more.values()))

    assert total(torch.ones(2), more=torch.ones(2)) == 4.0
    with pytest.raises(FictlError, match="total: argument 'argument 2' requires grad"):
        total(torch.ones(2), weight)
    with pytest.raises(FictlError, match="total: argument 'bias' requires grad"):
        total(torch.ones(2), bias=weight)


class Weighted:
    """A class whose plan makes a number of a tensor."""

    def plan(self, weight: Any) -> None:
        self.factor = float(weight.sum())

    @declare
    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor

    begin_forward = plan
    forward = run


@pytest.mark.parametrize("plan", ["plan", "begin_forward"])
def test_a_plan_is_refused_in_the_name_of_its_class(weight, plan) -> None:
    weighted = Weighted()
    with pytest.raises(FictlError, match="Weighted: argument 'weight' requires grad"):
        getattr(weighted, plan)(weight)
    with torch.no_grad():
        getattr(weighted, plan)(weight)
    assert weighted.run(torch.ones(1)).item() == 3.0


@pytest.mark.parametrize("run", ["run", "forward"])
def test_run_is_refused_under_all_its_names(weight, run) -> None:
    weighted = Weighted()
    weighted.plan(torch.ones(3))
    with pytest.raises(FictlError, match="Weighted: argument 'x' requires grad"):
        getattr(weighted, run)(weight)
    assert getattr(weighted, run)(torch.ones(1)).item() == 3.0


def test_the_choice_of_a_backend_is_behind_it(weight) -> None:
    @op(backends={"any": ">=7.5"}, dtypes="f32", devices="cuda emu", mutates="")
    def attend(q: torch.Tensor, backend: str = "auto") -> str:
        return backend

    with pytest.raises(FictlError, match="attend: argument 'q' requires grad"):
        attend(weight)
