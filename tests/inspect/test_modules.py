"""Modules planned unit by unit, for one architecture after the other."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fictl.arch import Arch, parse_archs
from fictl.errors import FictlError
from fictl.inspect import modules
from fictl.inspect.compiled import folder_of
from fictl.inspect.inspected import Inspected
from fictl.inspect.modules import inspect_specs
from fictl.jit import JitSpec, gen_jit_spec
from fictl.jit.build import plan_build
from fictl.jit.compile import SourcesChanged
from fictl.jit.progress import LogObserver


@pytest.fixture
def spec(tmp_path: Path, use_nvcc) -> JitSpec:
    use_nvcc("13.0")
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    return gen_jit_spec("a", [tmp_path / "a.cu"])


@pytest.mark.parametrize(("archs", "same"), [("8.0 9.0a", True), ("9.0a 10.0a", False)])
def test_what_is_kept_of_one_is_found_for_a_list(spec: JitSpec, archs: str, same: bool) -> None:
    """Beside a Blackwell, all are compiled with types that Hopper alone has not."""
    hopper = Arch.parse("9.0a")
    alone = plan_build(spec, (hopper,))
    among = modules._for_one(plan_build(spec, parse_archs(archs)), hopper)
    kept = folder_of(alone, alone.units[0], hopper)
    assert (folder_of(among, among.units[0], hopper) == kept) is same


def test_sources_that_keep_changing_are_told(spec: JitSpec, monkeypatch) -> None:
    tries: list[Any] = []

    def inspect_plan(plan, observer):
        tries.append(plan)
        raise SourcesChanged

    monkeypatch.setattr(modules, "_inspect_plan", inspect_plan)
    (found,) = inspect_specs([spec], (Arch.parse("9.0a"),), LogObserver())
    assert isinstance(found.error, FictlError)
    assert "keep changing" in found.error.message
    assert len(tries) == 3


def test_what_triton_made_is_read_from_the_built_module(kernel, monkeypatch) -> None:
    asked: list[Any] = []
    unit = SimpleNamespace(kernels=(kernel(),))

    def inspect_file(path, wanted):
        asked.append((path, sorted(map(str, wanted))))
        return Inspected(path.name, units=(unit,))

    monkeypatch.setattr(modules, "inspect_file", inspect_file)
    archs = parse_archs("8.0+PTX 9.0a")
    built = SimpleNamespace(module=Path("module.so"))
    outcome = SimpleNamespace(entry=built)
    monkeypatch.setattr(modules, "ensure", lambda spec, archs, observer: outcome)
    spec = SimpleNamespace(triton=Path("kernel.py"))
    plan: Any = SimpleNamespace(spec=spec, targets=SimpleNamespace(archs=archs))
    assert modules._made_by_triton(plan, LogObserver()) == (unit,)
    assert asked == [(Path("module.so"), ["8.0", "9.0"])]
