"""Modules of the emulated device: their runtime, their keys, and what makes them stale."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.emu.places import true_path
from fictl.jit import MissingBuild, emulated_runtime
from fictl.jit.build import ensure, plan_build
from fictl.jit.cache.explain import explain
from fictl.jit.compilers import find_compilers
from fictl.jit.emulated_runtime import link_runtime, runtime_spec
from fictl.jit.lookup import find
from fictl.jit.recipe import recipe_of
from fictl.jit.status import built
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import stores, writable_store

# It compiles in a tenth of a second, and runs nothing.
RUNTIME = """
#pragma GCC visibility push(default)
extern "C" {
int fictl_emu_abi() { return 1; }
void fictl_emu_configure(const void*) {}
int fictl_emu_cudaGetLastError() { return 0; }
const char* fictl_emu_take_reports() { return ""; }
}
"""
# In a process of its own: two runtimes in one would be taken for each other.
WITH_RUNTIME = """
import sys
from pathlib import Path
from fictl.jit import emulated_runtime, emulation, gen_jit_spec
emulated_runtime.ROOT = emulated_runtime.RUNTIME = emulated_runtime.HEADERS = Path({folder!r})
"""
LOAD = "device = emulation.emulated_device(); print('loaded', device.schedule)\n"
BUILD = "spec = gen_jit_spec('answer', [Path({source!r})])\n"
CALL = BUILD + "print(spec.build_and_load().answer())\n"
ABI = {"value": "fictl_emu_abi()", "above": 'extern "C" int fictl_emu_abi();'}


@pytest.fixture(autouse=True)
def _emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "error")
    if find_compilers("emu") is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """The source of the runtime that run() uses."""
    source = tmp_path / "runtime" / "unit_all.cpp"
    source.parent.mkdir()
    source.write_text(RUNTIME)
    return source


@pytest.fixture
def start(python, runtime: Path):
    """A process with that runtime."""

    def start(code: str, source: Path | None = None, **changes: str | None):
        text = WITH_RUNTIME.format(folder=str(runtime.parent)) + code.format(source=str(source))
        return python(text, **changes)

    return start


@pytest.fixture
def run(start):
    """What such a process says."""
    return lambda *words, **changes: start(*words, **changes).communicate(timeout=120)[0]


def entries(project: str, module: str) -> list[Entry]:
    return writable_store().entries(project, module)


def test_the_runtime_is_compiled_once_however_many_processes_ask(start, compiled) -> None:
    processes = [start(LOAD) for _ in range(3)]
    assert [process.communicate(timeout=120)[0] for process in processes] == [
        "loaded forward\n"
    ] * 3
    assert compiled() == ["unit_all.o"]
    assert len(entries("fictl", "emu.runtime")) == 1


def test_a_module_is_linked_to_the_runtime_and_calls_it(run, answer) -> None:
    assert run(CALL, answer(**ABI).sources[0]) == "1\n"


def test_a_build_is_of_its_device_and_of_no_architecture(run, answer) -> None:
    run(CALL, answer(**ABI).sources[0])
    (entry,) = entries("local", "answer")
    made = entry.manifest
    assert (made.device, made.variant, made.archs) == ("emu", "fast", ())
    assert set(made.toolchain) == {"cxx", "CUDA headers", "emulator"}


def test_the_runtime_stays_where_it_was_built(run, answer) -> None:
    run(CALL, answer(**ABI).sources[0])
    (entry,) = entries("local", "answer")
    assert not [path for path in entry.path.rglob("*") if "fictl_emu" in path.name]


def test_an_edit_of_the_runtime_leaves_the_modules_alone(run, answer, compiled, runtime) -> None:
    source = answer(**ABI).sources[0]
    assert run(CALL, source) == "1\n"
    runtime.write_text(RUNTIME + "// edited\n")
    assert run(CALL, source) == "1\n"
    assert sorted(compiled()) == ["answer.o", "unit_all.o", "unit_all.o"]


def test_a_runtime_that_does_not_build_is_not_blamed_on_the_module(run, answer, runtime) -> None:
    runtime.write_text('#error "half done"\n')
    said = run(CALL, answer(**ABI).sources[0])
    assert "emu.runtime does not build" in said
    assert "half done" in said
    assert entries("local", "answer") == []


def test_a_machine_without_a_compiler_runs_what_was_built_before(run, answer, tmp_path) -> None:
    source = answer(**ABI).sources[0]
    run(CALL, source)
    assert run(CALL, source, PATH=str(tmp_path / "empty")) == "1\n"


def test_where_nothing_may_be_compiled_a_miss_says_so(answer, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(MissingBuild):
        answer().build_and_load()


def test_devices_and_variants_share_no_key(answer, monkeypatch) -> None:
    variants = [
        {"FICTL_DEVICE": "cuda"},
        {"FICTL_DEVICE": "emu"},
        {"FICTL_DEVICE": "emu", "FICTL_EMU_CHECK": "1"},
        {"FICTL_DEVICE": "emu", "FICTL_JIT_DEBUG": "1"},
    ]
    keys = set()
    for variant in variants:
        with monkeypatch.context() as changed:
            for name, value in variant.items():
                changed.setenv(name, value)
            keys.add(recipe_of(answer()).key)
    assert len(keys) == len(variants)


def test_the_schedule_is_in_no_key(answer, monkeypatch) -> None:
    before = recipe_of(answer()).key
    for name, value in {"SCHEDULE": "random-3", "THREADS": "1", "TIMEOUT": "5"}.items():
        monkeypatch.setenv(f"FICTL_EMU_{name}", value)
    assert recipe_of(answer()).key == before


def test_one_runtime_serves_every_variant(monkeypatch) -> None:
    before = recipe_of(runtime_spec())
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    assert recipe_of(runtime_spec()) == before


def test_the_runtime_is_emulated_whatever_the_ops_run_on(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    assert recipe_of(runtime_spec()).device == "emu"
    assert {path.suffix for path in runtime_spec().sources} == {".cpp", ".S"}


def test_every_file_of_the_runtime_is_compiled_once() -> None:
    folder = emulated_runtime.RUNTIME
    units = [path for path in runtime_spec().sources if path.suffix == ".cpp"]
    parts = [
        folder / name
        for unit in units
        for name in re.findall(r'^#include "(.+)"$', unit.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted(parts) == sorted({*folder.rglob("*.cpp")} - {*units})


@pytest.mark.needs_nvcc
def test_who_names_architectures_means_gpus(answer) -> None:
    plan = plan_build(answer(), (Arch(8, 0),))
    assert (plan.recipe.device, plan.targets.archs) == ("cuda", (Arch(8, 0),))


@pytest.mark.needs_nvcc
def test_builds_of_both_devices_live_side_by_side(run, answer, monkeypatch) -> None:
    spec = answer()
    run(CALL, spec.sources[0])
    emulated = find(spec)
    real = ensure(spec, (Arch(8, 0),)).entry
    assert emulated is not None
    assert emulated.path != real.path
    assert find(spec) == emulated
    status = built(stores(), spec.project, spec.name, spec.base, spec.include_dirs)
    assert (status.state, status.archs, status.emulated) == ("built", (Arch(8, 0),), True)


def test_an_edit_of_the_emulator_makes_modules_stale_and_explain_says_so(
    run, answer, monkeypatch
) -> None:
    spec = answer()
    run(CALL, spec.sources[0])
    assert explain(spec).hit
    monkeypatch.setattr("fictl.emu.toolchain.emulator_digest", lambda: "edited")
    verdict = explain(spec)
    assert not verdict.hit
    (change,) = verdict.changes
    assert (change.kind, change.name) == ("compiler", "emulator")
    assert change.how.startswith("is edited, was ")


def test_another_device_is_named_among_the_changes(run, answer, monkeypatch) -> None:
    spec = answer()
    run(CALL, spec.sources[0])
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    assert "is cuda, was emu" in [change.how for change in explain(spec).changes]


def test_a_build_of_a_fictl_with_other_flags_can_be_explained(
    answer, fake_build, monkeypatch
) -> None:
    folder = writable_store().recipe_dir("local", "answer", "recipe") / "build"
    fake_build(folder, flags={"nvcc": ["-O3"]})
    hows = {change.name: change.how for change in explain(answer()).changes}
    assert hows["nvcc"] == "without -O3"


def test_what_an_earlier_build_left_in_the_folder_is_replaced(tmp_path) -> None:
    module = tmp_path / "module.so"
    (tmp_path / "libfictl_emu.so").symlink_to("/nowhere")
    link_runtime(tmp_path, module)
    assert (tmp_path / "libfictl_emu.so").readlink() == module


@pytest.mark.parametrize("mode", ["", "FICTL_EMU_CHECK"], ids=["fast", "check"])
def test_a_build_of_a_removed_checkout_is_led_to_the_files_of_this_one(
    answer, tmp_path, monkeypatch, users_cache, mode
):
    """With the runtime of the user's cache, which another checkout may have built as well."""
    if mode:
        monkeypatch.setenv(mode, "1")
    mark = f"// {tmp_path}"  # Nobody has built it before.
    first = answer(folder="first/op", above=mark).build()
    (tmp_path / "first").rename(tmp_path / "removed")
    second = answer(folder="second/op", above=mark).build()
    assert second.path == first.path
    assert true_path("answer/answer.cpp", str(second.module)) == str(
        tmp_path / "second/op/answer.cpp"
    )
