"""Ops on arrays of JAX, and inside of jax.jit; where JAX and the bridge of TVM-FFI are installed."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fictl.errors import NotInstalled
from fictl.op import op

declare = op(archs=">=7.5", dtypes="f32", devices="cuda emu", mutates="out")


@declare
def added(
    x: torch.Tensor, y: torch.Tensor, factor: float = 1.0, out: torch.Tensor | None = None
) -> torch.Tensor:
    return torch.add(x, y, alpha=factor, out=out)


@declare
def split(x: torch.Tensor, n: int) -> tuple[torch.Tensor, ...]:
    return x[:n] + 1, x[n:].to(torch.bfloat16)


@pytest.fixture
def jnp(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    pytest.importorskip("jax_tvm_ffi")
    return pytest.importorskip("jax.numpy")


def test_arrays_go_in_and_come_out(jnp) -> None:
    x = jnp.arange(4, dtype=jnp.bfloat16)
    result = added(x, x, 2.0)
    assert type(result) is type(x)
    assert result.dtype == x.dtype
    assert result.tolist() == [0, 3, 6, 9]


def test_they_are_not_written(jnp) -> None:
    x = jnp.ones(4)
    with pytest.raises(ValueError, match="writes its argument 'out', and arrays of JAX cannot"):
        added(x, x, out=x)
    import jax

    with pytest.raises(ValueError, match="writes its argument 'out', and arrays of JAX cannot"):
        jax.jit(lambda v: added(v, v, out=v))(x)


def test_inside_of_jit_it_is_a_call_of_the_computation(jnp) -> None:
    import jax

    function = jax.jit(lambda v, w: added(v + 1, w, 2.0) * 10)
    assert function(jnp.ones(3), jnp.ones(3)).tolist() == [40, 40, 40]
    assert function(jnp.zeros((2, 2)), jnp.zeros((2, 2))).tolist() == [[10, 10], [10, 10]]


def test_calls_that_differ_in_shapes_share_a_target(jnp) -> None:
    import jax

    from fictl.op.foreign.jax_jit import _targets

    before = len(_targets)
    for n in (3, 4, 5):
        jax.jit(lambda v: added(v, v, 7.0))(jnp.ones(n))
    assert len(_targets) == before + 1


def test_several_results_have_their_shapes_and_types(jnp) -> None:
    import jax

    first, second = jax.jit(lambda v: split(v, 1))(jnp.ones(3))
    assert (first.tolist(), second.shape, str(second.dtype)) == ([2], (2,), "bfloat16")


def test_a_value_that_xla_cannot_pass_is_refused_by_name(jnp) -> None:
    import jax

    with pytest.raises(ValueError, match=r"added: argument 'y' is a Tensor, inside of jax\.jit"):
        jax.jit(lambda v: added(v, torch.ones(3)))(jnp.ones(3))


def test_without_the_bridge_it_says_what_to_install(monkeypatch) -> None:
    class Tracer:
        __dlpack__ = None

    monkeypatch.setitem(sys.modules, "jax.core", SimpleNamespace(Tracer=Tracer))  # type: ignore[misc]
    monkeypatch.setitem(sys.modules, "jax_tvm_ffi", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sys.modules.pop("fictl.op.foreign.jax_jit", None)
    with pytest.raises(NotInstalled, match=r"inside of jax\.jit needs the package jax-tvm-ffi"):
        added(Tracer(), Tracer())
    sys.modules.pop("fictl.op.foreign.jax_jit", None)
