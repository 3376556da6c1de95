"""Where torch has to see a call, it sees an op that writes `out` and returns nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from fictl.errors import FictlError
from fictl.op import KernelModule

BINDING = """
void scale(View out, View input, double factor) {}
void shifted(View out, View input, Optional<View> by) {}
int64_t twice(int64_t n) { return 2 * n; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shifted, shifted);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, twice);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opaque, elsewhere::opaque);
"""
_projects = count()


@dataclass
class Spec:
    """A module whose functions are written in Python, and what they were called with."""

    sources: tuple[Path, ...]
    project: str
    name: str = "elementwise.scale"
    base: Path = Path()
    runs_on: str = "cuda"
    builds: int = 0
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def build_and_load(self) -> Any:
        self.builds += 1
        return SimpleNamespace(
            scale=self._scale, shifted=self._shifted, twice=lambda n: 2 * n, opaque=self._opaque
        )

    def _scale(self, out: torch.Tensor, input: torch.Tensor, factor: float) -> None:
        self.calls.append((out, input, factor))
        out.data.copy_(input.detach() * factor)  # As a kernel does: autograd hears nothing.

    def _shifted(self, out: torch.Tensor, input: torch.Tensor, by: torch.Tensor | None) -> None:
        self.calls.append((out, input, by))
        out.data.copy_(input if by is None else input + by)

    def _opaque(self, *arguments: Any) -> None:
        self.calls.append(arguments)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spec:
    """Of a project of its own: torch keeps its ops for as long as the process lives."""
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    binding = tmp_path / "binding.cpp"
    binding.write_text(BINDING, encoding="utf-8")
    return Spec((binding,), f"torch_op_{next(_projects)}")


@pytest.fixture
def kernel(spec: Spec) -> KernelModule:
    return KernelModule(lambda *_: spec)  # type: ignore[arg-type, return-value]


@pytest.fixture
def scale(kernel: KernelModule) -> Callable[..., torch.Tensor]:
    """A public function as authors write them."""

    def public(input: torch.Tensor, factor: float, out: torch.Tensor | None = None) -> torch.Tensor:
        if out is None:
            out = torch.empty_like(input)
        kernel.scale(out, input, factor)
        return out

    return public


@pytest.fixture(params=["eager", "aot_eager"])
def compiled(request) -> Callable[..., Any]:
    """torch.compile without Inductor's minutes."""
    torch.compiler.reset()
    return lambda function: torch.compile(function, fullgraph=True, backend=request.param)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def test_it_compiles_as_one_graph_before_its_module_is_built(spec, scale, compiled, x) -> None:
    assert torch.equal(compiled(lambda x: scale(x + 1, 3.0) * 2)(x), (x + 1) * 6)
    assert spec.builds == 1


def test_it_compiles_as_one_graph_once_its_module_is_loaded(spec, scale, compiled, x) -> None:
    scale(x, 1.0)
    assert torch.equal(compiled(lambda x: scale(x + 1, 3.0) * 2)(x), (x + 1) * 6)
    assert spec.builds == 1


def test_what_out_is_given_is_written(scale, compiled, x) -> None:
    out = torch.zeros(2, 3)
    result = compiled(lambda x, out: scale(x, 2.0, out=out) + 1)(x, out)
    assert torch.equal(out, x * 2)
    assert torch.equal(result, x * 2 + 1)


def test_other_scalars_and_shapes_are_other_calls(scale, compiled) -> None:
    function = compiled(scale)
    for n, factor in [(3, 1.0), (4, 2.5), (5, 3.0)]:
        assert torch.equal(function(torch.ones(n), factor), torch.full((n,), factor))


@pytest.mark.parametrize("by", [None, torch.ones(3)])
def test_an_optional_tensor_may_be_left_out(kernel, compiled, x, by) -> None:
    def shifted(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        kernel.shifted(out, x, by)
        return out

    expected = x if by is None else x + by
    assert torch.equal(shifted(x), expected)
    assert torch.equal(compiled(shifted)(x), expected)


@pytest.mark.parametrize("used_before", [False, True])
def test_a_module_with_parameters_has_an_op_of_its_own(
    spec, kernel, compiled, x, used_before
) -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        kernel[x.dtype, 128].scale(out, x, 2.0)
        return out

    if used_before:
        scaled(x)
    assert torch.equal(compiled(scaled)(x), x * 2)
    namespace = getattr(torch.ops, spec.project)
    assert namespace.scale_float32_128.default._schema.arguments[0].alias_info.is_write


def test_a_function_without_tensors_is_computed_while_torch_traces(kernel, compiled, x) -> None:
    assert torch.equal(compiled(lambda x: x.new_ones(kernel.twice(3)))(x), torch.ones(6))


def test_a_function_that_cannot_be_read_is_refused_only_when_compiled(
    spec, kernel, compiled, x
) -> None:
    kernel.opaque(x)
    assert len(spec.calls) == 1
    with pytest.raises(Exception, match=r"binding\.cpp:8: opaque cannot be read"):
        compiled(kernel.opaque)(x)


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_make_fx_records_it(spec, scale, x, mode) -> None:
    graph = make_fx(lambda x: scale(x, 2.0), tracing_mode=mode)(x)
    assert f"torch.ops.{spec.project}.scale.default(" in graph.code
    assert torch.equal(graph(x), x * 2)


def test_fake_tensors_reach_no_kernel(spec, scale, x) -> None:
    with FakeTensorMode() as mode:
        result = scale(mode.from_tensor(x), 2.0)
    assert result.shape == x.shape
    assert spec.builds == 0


def test_tensors_wrapped_by_a_transform_reach_no_kernel(spec, scale, x) -> None:
    with pytest.raises(RuntimeError, match=f"{spec.project}::scale"):
        torch.func.functionalize(lambda x: scale(x, 2.0))(x)
    with pytest.raises(RuntimeError, match=f"{spec.project}::scale"):
        torch.func.vmap(lambda x: scale(x, 2.0))(x)
    assert spec.builds == 0


def test_a_function_compiled_for_one_module_is_not_anothers(spec, kernel, compiled, x) -> None:
    other = Spec(spec.sources, f"{spec.project}_other")
    for module in (kernel, KernelModule(lambda *_: other)):

        def scaled(x: torch.Tensor, module: KernelModule = module) -> torch.Tensor:
            out = torch.empty_like(x)
            module.scale(out, x, 2.0)
            return out

        compiled(scaled)(x)
    assert len(spec.calls) == len(other.calls) == 1


def test_it_passes_torchs_own_checks_of_an_op(spec, scale, x) -> None:
    make_fx(lambda x: scale(x, 2.0))(x)
    overload = getattr(torch.ops, spec.project).scale.default
    torch.library.opcheck(overload, (torch.empty_like(x), x, 2.0))


def test_an_input_that_requires_grad_is_refused_in_words(scale, x) -> None:
    with pytest.raises(FictlError) as info:
        scale(x.requires_grad_(), 2.0)
    assert info.value.message == "scale: argument 'input' requires grad, and scale has no gradient"
    assert info.value.hint.startswith(
        "call it under torch.no_grad() or torch.inference_mode(), or "
    )


def test_it_is_refused_in_the_same_words_when_compiled(scale, compiled, x) -> None:
    with pytest.raises(RuntimeError, match="argument 'input' requires grad, and scale has no"):
        compiled(lambda x: scale(x, 2.0))(x.requires_grad_())


def test_what_is_written_is_refused_as_what_is_read_is(kernel, x) -> None:
    with pytest.raises(FictlError, match="scale: argument 'out' requires grad"):
        kernel.scale(torch.empty_like(x).requires_grad_(), x, 2.0)


def test_a_weight_that_no_argument_names_is_refused(kernel, compiled, x) -> None:
    """As one that an object keeps: the public function sees none of it."""
    weight = torch.nn.Parameter(torch.ones(3))

    def shifted(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        kernel.shifted(out, x, weight)
        return out

    with pytest.raises(FictlError, match="shifted: argument 'by' requires grad, and shifted has"):
        shifted(x)
    with pytest.raises(RuntimeError, match="shifted: argument 'by' requires grad, and shifted has"):
        compiled(shifted)(x)


def test_a_function_that_cannot_be_read_refuses_it_as_well(spec, kernel, x) -> None:
    with pytest.raises(FictlError, match="opaque: argument 'argument 2' requires grad"):
        kernel.opaque(x, x.clone().requires_grad_())
    with torch.no_grad():
        kernel.opaque(x, x.clone().requires_grad_())
    assert len(spec.calls) == 1


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_autograd_notices_a_saved_tensor_that_a_kernel_has_changed(kernel, mode) -> None:
    saved, weight = torch.ones(3), torch.ones(3, requires_grad=True)
    product = (saved * weight).sum()
    with mode():
        kernel.scale(saved, torch.ones(3), 2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("by", [None, torch.ones(3)])
def test_a_kernel_changes_nothing_but_what_it_writes(kernel, by) -> None:
    x, out = torch.ones(3), torch.ones(3)
    kernel.shifted(out, x, by)
    assert out._version > 0
    assert x._version == 0


def test_the_op_that_torch_sees_tells_it_too(spec, kernel, x) -> None:
    make_fx(lambda x: (out := torch.empty_like(x), kernel.scale(out, x, 2.0), out)[2])(x)
    saved, weight = torch.ones(3), torch.ones(3, requires_grad=True)
    product = (saved * weight).sum()
    getattr(torch.ops, spec.project).scale(saved, torch.ones(3), 2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_a_parameter_goes_straight_to_the_kernel_where_no_gradient_is_wanted(
    spec, scale, x, mode
) -> None:
    weight = torch.nn.Parameter(x)
    with mode():
        assert torch.equal(scale(weight, 2.0), x * 2)
    assert spec.calls[0][1] is weight
    assert not hasattr(getattr(torch.ops, spec.project), "scale")


def test_a_module_made_anew_replaces_the_one_before_it(spec, scale, x) -> None:
    graph = make_fx(lambda x: scale(x, 2.0))(x)
    newer = Spec(spec.sources, spec.project)
    kernel = KernelModule(lambda: newer)  # type: ignore[arg-type, return-value]
    make_fx(lambda x: kernel.scale(torch.empty_like(x), x, 2.0))(x)
    newer.calls.clear()
    graph(x)
    assert len(newer.calls) == 1


def test_a_signature_edited_since_is_the_new_op(spec, scale, x) -> None:
    make_fx(lambda x: scale(x, 2.0))(x)
    text = BINDING.replace("double factor", "double factor, bool round")
    spec.sources[0].write_text(text, encoding="utf-8")
    newer = Spec(spec.sources, spec.project)
    newer._scale = lambda out, input, factor, round: out.copy_(input)  # type: ignore[method-assign]
    kernel = KernelModule(lambda: newer)  # type: ignore[arg-type, return-value]
    make_fx(lambda x: kernel.scale(torch.empty_like(x), x, 2.0, True))(x)
    assert "bool round" in str(getattr(torch.ops, spec.project).scale.default._schema)


def test_two_modules_that_export_one_name_are_refused(spec, scale, x) -> None:
    make_fx(lambda x: scale(x, 2.0))(x)
    other = KernelModule(lambda: Spec(spec.sources, spec.project, "norm.scale"))  # type: ignore[arg-type, return-value]
    with pytest.raises(FictlError, match=r"elementwise\.scale and norm\.scale both export 'scale'"):
        make_fx(lambda x: other.scale(torch.empty_like(x), x, 2.0))(x)
