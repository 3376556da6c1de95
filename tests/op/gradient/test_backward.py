"""`@op(backward=…)`: gradients from an author's function, in eager mode and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from fictl.emu.toolchain import current_toolchain
from fictl.errors import FictlError
from fictl.op import op

# Dynamo of itself, wherever it meets an autograd.Function.
pytestmark = pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
WORDS = {"archs": ">=7.5", "dtypes": "f32", "devices": "cuda emu"}


def _norm_backward(grad_out, input, weight, out, eps, needs_grad):
    """Written of torch's operations, so that it is differentiable itself."""
    mean_square = input.square().mean(-1, keepdim=True)
    scale = torch.rsqrt(mean_square + eps)
    found = {}
    if "weight" in needs_grad:
        found["weight"] = (grad_out * input * scale).sum(0)
    if "input" in needs_grad:
        inner = (grad_out * weight * input).mean(-1, keepdim=True)
        found["input"] = scale * (grad_out * weight - input * scale.square() * inner)
    return found


@op(**WORDS, mutates="out", backward=_norm_backward)
def norm(
    input: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6, *, out: torch.Tensor | None = None
) -> torch.Tensor:
    """What a kernel would do: autograd sees none of it."""
    with torch.no_grad():
        scaled = input * torch.rsqrt(input.square().mean(-1, keepdim=True) + eps) * weight
        if out is None:
            out = torch.empty_like(input)
        return out.copy_(scaled)


@pytest.fixture(params=["", "eager", "aot_eager"])
def mode(request) -> Callable[..., Any]:
    """As it is, and compiled."""
    torch.compiler.reset()
    if not request.param:
        return lambda function: function
    return lambda function: torch.compile(function, fullgraph=True, backend=request.param)


def _doubles(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()
        for shape in shapes
    ]


def test_the_gradients_are_those_of_the_function(mode) -> None:
    assert gradcheck(mode(norm), _doubles((3, 4), (4,)))


def test_so_are_those_of_the_gradients() -> None:
    assert gradgradcheck(lambda x, w: norm(x, w, eps=1e-3), _doubles((3, 4), (4,)))


def test_in_a_graph_it_is_what_torch_computes(mode) -> None:
    def block(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (norm(x + 1, w, 1e-3) + x).square().sum()

    def peer(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (torch.rms_norm(x + 1, (4,), w, 1e-3) + x).square().sum()

    x, w = _doubles((3, 4), (4,))
    found = torch.autograd.grad(mode(block)(x, w), (x, w))
    torch.testing.assert_close(found, torch.autograd.grad(peer(x, w), (x, w)))


def test_only_what_is_needed_is_asked_for() -> None:
    x, w = _doubles((3, 4), (4,))
    norm(x, w.detach()).sum().backward()
    assert x.grad is not None
    assert w.grad is None


def test_with_no_gradient_wanted_the_function_runs_as_it_is() -> None:
    x, w = (each.detach() for each in _doubles((3, 4), (4,)))
    out = torch.empty_like(x)
    assert norm(x, w, out=out) is out
    assert norm(x, w).grad_fn is None
    with torch.no_grad():
        assert norm(x.requires_grad_(), w, out=out) is out


@pytest.mark.parametrize("written", [False, True])
def test_a_result_that_is_given_has_no_gradient(mode, written) -> None:
    x, w = (each.detach() for each in _doubles((3, 4), (4,)))
    out = torch.empty_like(x)
    given, said = (out, "out") if written else (x, "input")
    given.requires_grad_()
    what = f"norm: argument '{said}' requires grad, and norm has a gradient only without out="
    with pytest.raises(RuntimeError, match=what):
        mode(lambda x, w, out: norm(x, w, out=out))(x, w, out)


def test_a_tensor_in_a_list_has_no_gradient() -> None:
    @op(**WORDS, mutates="", backward=lambda grad_out: {"parts": grad_out})
    def total(parts: Any) -> torch.Tensor:
        return torch.stack([*parts]).detach().sum(0)

    with pytest.raises(FictlError, match="'parts' requires grad, and total has a gradient of tens"):
        total([torch.ones(2, requires_grad=True)])


def test_several_results_have_their_names_and_integers_have_no_gradient(mode) -> None:
    def spread(grad_values, input, indices):
        return {"input": torch.zeros_like(input).scatter(-1, indices, grad_values)}

    @op(**WORDS, mutates="values indices", backward=spread)
    def largest(
        input: torch.Tensor, k: int, values: Any = None, indices: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        found = input.detach().topk(k)
        return found.values.clone(), found.indices.clone()

    (x,) = _doubles((3, 4))
    values, indices = mode(lambda x: largest(x, 2))(x)
    assert not indices.requires_grad
    (found,) = torch.autograd.grad(values.sum(), x)
    assert torch.equal(found, torch.zeros(3, 4).double().scatter(-1, indices, 1.0))


def test_what_was_saved_and_changed_since_is_noticed() -> None:
    x, w = _doubles((3, 4), (4,))
    result = norm(x, w)
    with torch.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def _declared(backward: Any, mutates: str = "") -> Callable[..., Any]:
    @op(**WORDS, mutates=mutates, backward=backward)
    def twice(x: torch.Tensor, out: Any = None) -> Any:
        return x.detach() * 2

    return twice


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda grad_out: 2 * grad_out, "twice: its backward returned a Tensor"),
        (lambda grad_out: {}, "twice: its backward gives no gradient of 'x', which requires grad"),
    ],
)
def test_a_backward_that_gives_no_gradient_is_said(backward, message) -> None:
    with pytest.raises(FictlError, match=message):
        _declared(backward)(torch.ones(2, requires_grad=True)).sum().backward()


def test_none_is_a_gradient_of_zero() -> None:
    x = torch.ones(2, requires_grad=True)
    (_declared(lambda grad_out: {"x": None})(x).sum() + x.sum()).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("backward", "mutates", "message"),
    [
        ("_norm_backward", "", "twice: backward='_norm_backward' is not a function"),
        (lambda grad, x: {}, "", "twice: its backward takes 'grad'"),
        (lambda grad_x: {}, "out", "twice: its backward takes 'grad_x'"),
        (lambda grad_out: {}, "x", "twice has a backward, and writes its argument 'x'"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(backward, mutates, message) -> None:
    with pytest.raises(FictlError, match=message):
        _declared(backward, mutates)


def test_a_class_has_no_backward() -> None:
    with pytest.raises(FictlError, match="Sums: a class with plan and run has no backward"):

        class Sums:
            @op(**WORDS, mutates="", backward=lambda grad_out: {"x": grad_out})
            def run(self, x: torch.Tensor) -> torch.Tensor:
                return x


def test_more_results_than_names_are_said() -> None:
    @op(**WORDS, mutates="", backward=lambda grad_out: {"x": grad_out})
    def both(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.detach() * 2, x.detach() * 3

    with pytest.raises(FictlError, match="both returns 2 results, and its backward knows out"):
        both(torch.ones(2, requires_grad=True))


@pytest.mark.filterwarnings("ignore:Input #. requires gradient and is not a double:UserWarning")
@pytest.mark.skipif(current_toolchain() is None, reason="needs a C++ compiler and CUDA's headers")
def test_the_backward_of_a_kernel_may_be_the_kernel(mode, users_cache, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    from fictl.kernels.elementwise.scale.op import kernel

    def backward(grad_out, factor):
        return {"x": scaled(grad_out, factor)}

    @op(**WORDS, mutates="out", backward=backward)
    def scaled(x: torch.Tensor, factor: float, out: torch.Tensor | None = None) -> torch.Tensor:
        if out is None:
            out = torch.empty_like(x)
        kernel.scale(out, x, factor)
        return out

    x = torch.arange(6.0).requires_grad_()
    function = mode(lambda x: scaled(x, 3.0))
    # Linear, so that a large step makes up for fp32.
    assert gradcheck(function, (x,), eps=0.5, atol=1e-4)
    assert gradgradcheck(lambda x: scaled(x, 3.0), (x,), eps=0.5, atol=1e-4)
