"""Modules with a kernel in CuTe DSL: planned by its version, refused without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fictl.errors import NotInstalled
from fictl.jit import JitSpec
from fictl.jit.build import ensure, plan_build
from fictl.toolchain import libraries

pytestmark = pytest.mark.needs_nvcc

KERNEL = "from cutlass import cute\n\n\ndef variants(): ...\n"


@pytest.fixture
def in_cute(answer: Callable[..., JitSpec]) -> JitSpec:
    """A module with a host unit, a device unit and a kernel.py."""
    spec = answer()
    kernel, launcher = spec.base / "kernel.py", spec.base / "launcher.cu"
    kernel.write_text(KERNEL)
    launcher.write_text("// #include <kernel.inc>\n")
    return replace(spec, sources=(launcher, *spec.sources), triton=kernel)


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Of the library that is installed; none if empty."""
    return lambda text: monkeypatch.setattr(libraries, "_cute_version", lambda: text)


def test_its_compiler_and_its_version_are_in_the_plan(in_cute, version) -> None:
    version("4.8.1")
    before = plan_build(in_cute)
    assert before.identity["cute-dsl"] == "4.8.1"
    assert "triton" not in before.identity
    assert "fictl.jit.cute.compile" in before.steps[0].argv
    version("4.9.0")
    assert plan_build(in_cute).steps[0].key != before.steps[0].key


def test_another_language_is_another_recipe(in_cute, version) -> None:
    version("4.8.1")
    before = plan_build(in_cute).recipe
    in_cute.triton.write_text(KERNEL.replace("from cutlass import cute", "import triton"))
    assert plan_build(in_cute).recipe.key != before.key


def test_without_the_library_a_build_says_how_to_get_it(in_cute, version) -> None:
    version("")
    with pytest.raises(NotInstalled, match=r"answer has a kernel in CuTe DSL, .* not installed"):
        ensure(in_cute)
