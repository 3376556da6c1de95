"""Modules with a kernel in Triton: planned without it, built with it, found again without it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.arch import parse_archs
from fictl.errors import NotInstalled
from fictl.jit import BuildFailed, JitSpec
from fictl.jit.build import ensure, plan_build
from fictl.jit.cache.explain import explain
from fictl.jit.ninja_file import ninja_text
from fictl.toolchain import libraries

pytestmark = pytest.mark.needs_nvcc

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def clear(out, block: tl.constexpr):
    tl.store(out + tl.arange(0, block), 0)


def variants():
    yield clear, {"out": "*i32:16", "block": 64}
"""


@pytest.fixture
def in_triton(answer: Callable[..., JitSpec]) -> JitSpec:
    """A module with a host unit, a device unit and a kernel.py."""
    spec = answer()
    kernel, launcher = spec.base / "kernel.py", spec.base / "launcher.cu"
    kernel.write_text(KERNEL)
    launcher.write_text("// #include <kernel.inc>\n")
    return replace(spec, sources=(launcher, *spec.sources), triton=kernel)


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Of the Triton that is installed; none if empty."""
    return lambda text: monkeypatch.setattr(libraries, "_triton_version", lambda: text)


def test_what_triton_writes_comes_before_the_units_that_include_it(in_triton, version) -> None:
    version("3.6.0")
    plan = plan_build(in_triton)
    assert [step.object for step in plan.steps] == ["src/kernel.inc", "launcher.o", "answer.o"]
    assert "src/kernel.inc" not in plan.link
    assert all("-Isrc" in unit.argv for unit in plan.units)
    text = ninja_text(plan)
    assert "build launcher.o: nvcc $source | src/kernel.inc\n" in text
    assert "build answer.o: run $source\n" in text


def test_an_edit_of_the_kernel_is_an_edit_of_device_units(in_triton, version) -> None:
    version("3.6.0")
    before = plan_build(in_triton)
    in_triton.triton.write_text(KERNEL.replace("64", "128"))
    after = plan_build(in_triton)
    assert [a.key == b.key for a, b in zip(before.steps, after.steps, strict=True)] == [
        False,
        False,
        True,
    ]
    assert before.recipe.key != after.recipe.key


@pytest.mark.parametrize("change", ["version", "archs", "variant"])
def test_what_decides_the_code_is_in_its_key(in_triton, version, monkeypatch, change: str) -> None:
    version("3.6.0")
    before = plan_build(in_triton)
    if change == "version":
        version("3.7.0")
    if change == "variant":
        monkeypatch.setenv("FICTL_JIT_LINEINFO", "1")
    after = plan_build(in_triton, parse_archs("9.0a" if change == "archs" else ""))
    assert before.generated.key != after.generated.key


def test_without_triton_a_build_says_how_to_get_it(in_triton, version) -> None:
    version("")
    with pytest.raises(NotInstalled, match=r"answer has a kernel in Triton, .* not installed"):
        ensure(in_triton)


@needs_triton
def test_what_was_built_is_found_where_triton_is_missing(in_triton, version) -> None:
    built = ensure(in_triton)
    assert built.compiled
    assert set(built.entry.manifest.units) >= {"src/kernel.inc", "launcher.o"}
    version("")
    assert not ensure(in_triton).compiled
    version("0.1")
    (change,) = explain(in_triton).changes
    assert (change.kind, change.name) == ("compiler", "triton")


@needs_triton
def test_an_edit_elsewhere_does_not_run_triton_again(in_triton) -> None:
    ensure(in_triton)
    in_triton.sources[0].write_text("// edited\n")
    assert "src/kernel.inc" not in ensure(in_triton).entry.manifest.units


@needs_triton
def test_an_error_in_the_kernel_is_the_build_s_with_its_line(in_triton) -> None:
    in_triton.triton.write_text(KERNEL.replace("tl.store", "tl.stroe"))
    with pytest.raises(BuildFailed, match=r"kernel\.py:7: error: .*stroe"):
        ensure(in_triton)


@needs_triton
def test_explain_names_the_line_of_the_kernel(in_triton: JitSpec) -> None:
    ensure(in_triton)
    assert in_triton.triton
    in_triton.triton.write_text(KERNEL.replace("64", "128"))
    (change,) = explain(in_triton).changes
    assert (Path(change.name).name, change.how) == ("kernel.py", "changed (line 11)")
