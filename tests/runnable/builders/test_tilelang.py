"""Solutions in TileLang: its C target where there is no GPU."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch

from fictl.runnable import BuilderRegistry, BuildError
from fictl.runnable.builders import TileLangBuilder

KERNEL = """
import tilelang
import tilelang.language as T
import torch


@tilelang.jit(target="c", execution_backend="cython")
def make(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), S: T.Tensor((1,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 128), threads=128) as bx:
            for i in T.Parallel(128):
                B[bx * 128 + i] = A[bx * 128 + i] * S[0]

    return main


def run(x, s, y):
    make(x.shape[0])(x, torch.tensor([s]), y)
"""
HERE = find_spec("tilelang") is not None


@pytest.mark.skipif(not HERE, reason="needs TileLang")
def test_it_runs(definition, solution, kept):
    made = solution(KERNEL, "tilelang", dps=True)
    runnable = BuilderRegistry.get_instance().build(definition, made)
    x = torch.arange(256.0)
    assert torch.equal(runnable(x=x, s=2.0), x * 2)
    assert runnable.metadata.build_type == "tilelang"


@pytest.mark.skipif(HERE, reason="TileLang is installed")
def test_where_it_is_missing_the_error_says_so(definition, solution):
    with pytest.raises(BuildError, match="language tilelang") as raised:
        BuilderRegistry.get_instance().build(definition, solution(KERNEL, "tilelang"))
    assert raised.value.hint == TileLangBuilder.needs
    assert raised.value.exit_code == 3
