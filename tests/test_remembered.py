"""What a process remembers: never an error, nor what an error tells its reader to change."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl import settings
from fictl.errors import FictlError
from fictl.jit.store.stores import writable_store
from fictl.toolchain import find_cxx, find_nvcc, require_nvcc

ROOT = Path(__file__).resolve().parents[1]

# What is kept for a whole process, and why no error can be about it. A cache of something else
# needs a reason here: `cache` keeps results, so what looks at the machine raises, or is asked again.
KEPT = {
    "fictl/arch.py _known_gpus": "fictl's own table",
    "fictl/comm/driver.py _library": "a loaded library",
    "fictl/comm/workspace.py _watch_forks": "a hook of this process",
    "fictl/testing/ranks.py _stream_of": "streams of a GPU that is there",
    "fictl/compat/flashinfer/_cudart.py _library": "a loaded library",
    "fictl/compat/flashinfer/_engines.py needed": "fictl's own list",
    "fictl/compat/flashinfer/_engines.py reached": "fictl's own list",
    "fictl/compat/flashinfer/_listing.py _served": "the shipped ops",
    "fictl/compat/flashinfer/_names.py recorded": "fictl's own list",
    "fictl/compat/flashinfer/_public.py plans": "fictl's own list",
    "fictl/compat/flashinfer/_record.py _recorder": "the calls of one process",
    "fictl/compat/flashinfer/_refused.py stand_in": "a name",
    "fictl/compat/flashinfer/_served.py _ops": "the shipped ops",
    "fictl/compat/flashinfer/_served.py _places": "the shipped ops",
    "fictl/judge/exchange/device_memory.py _driver": "a loaded library",
    "fictl/judge/exchange/device_memory.py _granularity": "the driver of a GPU that is there",
    "fictl/op/gradient/refusal.py _traced": "a class of torch's",
    "fictl/replay/recording/expectation.py families": "fictl's own files",
    "fictl/project/trusted.py require_trusted": "a project that may run; one that may not raises",
    "fictl/project_file.py _nearest": "the projects of a run of pytest",
    "fictl/testing/hooks/scope.py _home_of": "the projects of a run of pytest",
    "fictl/bench/compare/revision_worker.py subjects": "a revision's files, in a worker",
    "fictl/case/selection.py subject": "a project's files, in a worker",
    "fictl/child/codec.py _hints": "a class of fictl's own",
    "fictl/child/codec.py _settable": "a class of fictl's own",
    "fictl/dataset/export/solution.py _sources": "an op's files, of one command",
    "fictl/dataset/export/workloads.py _made_by_init": "an op's code, of one command",
    "fictl/jit/reproducible.py folders": "the folders of a spec, as it was when it was loaded",
    "fictl/emu/places.py _read": "a file of a published build, which nobody edits",
    "fictl/emu/symbols.py _known": "a file, by its time and size; no answer is asked for again",
    "fictl/emu/toolchain.py emulator_digest": "fictl's own files",
    "fictl/jit/emulation.py _loaded": "a loaded library",
    "fictl/jit/ffi.py _installed_abi": "a package that is there",
    "fictl/jit/ffi.py ffi_paths": "a package that is there",
    "fictl/jit/load.py _tvm_ffi": "an imported package",
    "fictl/jit/lock_file.py _read": "a file, by its time and size",
    "fictl/jit/remote/provenance.py source_of": "a checkout's commit, of one command",
    "fictl/jit/remote/sender.py _of_process": "a thread, by process",
    "fictl/jit/remote/url.py _client_of": "a client, by its URL and credentials",
    "fictl/jit/store/installed.py _stores": "installed packages, by their folders' times",
    "fictl/jit/store/this_platform.py _cxx_library": "a library that is there",
    "fictl/jit/store/this_platform.py _defines": "a library that is there",
    "fictl/jit/store/this_platform.py here": "the running machine",
    "fictl/jit/cute/step.py own_digest": "fictl's own files",
    "fictl/jit/triton/step.py own_digest": "fictl's own files",
    "fictl/judge/inputs/custom_code.py _compiled": "text",
    "fictl/judge/inside/integrity.py taken": "functions, before a solution is loaded",
    "fictl/dataset/run_jobs.py _named": "a value of a name",
    "fictl/trace/documents/reading.py _decoder": "fictl's own",
    "fictl/judge/sandbox/kernel.py _libc": "a loaded library",
    "fictl/judge/sandbox/policy.py possible": "the running kernel and its container",
    "fictl/log.py warn_once": "what was said",
    "fictl/op/tactics/machine.py _driver": "the driver of a GPU that is there",
    "fictl/op/tactics/recorded.py _fitting": "a file, by its time and size",
    "fictl/op/tactics/recorded.py _recipes": "an op's recipes; they raise where there are none",
    "fictl/op/watch/observers.py observers": "read once, as docs/settings.md says",
    "fictl/plot/page/document.py _content": "fictl's own files",
    "fictl/profile/cupti/device.py device": "a GPU that is there",
    "fictl/project/cpp_source.py _read": "a file, by its time and size",
    "fictl/project/declaration.py _read": "a file, by its time and size",
    "fictl/project/project.py _shipped": "fictl's own project",
    "fictl/project/python_source.py _parse": "a file, by its time and size",
    "fictl/setting.py _file": "by variables; forgotten with the file's first value that is wrong",
    "fictl/timing/ceilings.py tensors": "tensors",
    "fictl/timing/gpu_clocks.py _nvml": "a library of the driver",
    "fictl/toolchain/capability.py can_target": "a compiler's answer; where it has none it raises",
    "fictl/toolchain/kernel_name.py readable": "a name",
    "fictl/trace/expression.py _parse": "a text",
    "fictl/trace/source.py standalone": "a function",
    "fictl/version.py commit": "fictl's own",
}


def _caches() -> set[str]:
    return {
        f"{path.relative_to(ROOT)} {node.name}"
        for path in (ROOT / "fictl").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(
            "cache" in ast.unparse(each).replace("cached_property", "") for each in _marks(node)
        )
    }


def _marks(node: ast.FunctionDef) -> list[ast.expr]:
    return node.decorator_list


def test_every_cache_of_a_process_has_a_reason() -> None:
    assert _caches() == set(KEPT)


def test_no_cached_property_is_kept_as_long_as_the_process() -> None:
    """One of an object at module level, as a context is, would be."""
    kinds = {
        node.name: path
        for path in (ROOT / "fictl").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and "cached_property" in ast.unparse(node)
    }
    made = {
        ast.unparse(node.value.func)
        for path in (ROOT / "fictl").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call)
    }
    assert made & set(kinds) == set()


Change = Callable[[pytest.MonkeyPatch, Path, Any], None]


def _nvcc(patch: pytest.MonkeyPatch, tmp: Path, stand_in: Any) -> None:
    patch.setenv("FICTL_NVCC", str(stand_in("13.0")))


def _cuda_home(patch: pytest.MonkeyPatch, tmp: Path, stand_in: Any) -> None:
    patch.setenv("CUDA_HOME", str(stand_in("13.0").parents[1]))


def _path(patch: pytest.MonkeyPatch, tmp: Path, stand_in: Any) -> None:
    patch.setenv("PATH", str(stand_in("13.0").parent), prepend=os.pathsep)


def test_an_nvcc_that_cannot_be_used_is_forgotten(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stand_in_nvcc: Any
) -> None:
    monkeypatch.setenv("FICTL_NVCC", "/nowhere/nvcc")
    for _ in range(2):
        with pytest.raises(FictlError, match="FICTL_NVCC"):
            find_nvcc()
    _nvcc(monkeypatch, tmp_path, stand_in_nvcc)
    assert require_nvcc().release == "13.0"


@pytest.mark.parametrize("mend", [_nvcc, _cuda_home, _path])
def test_that_there_is_no_nvcc_is_forgotten(
    mend: Change, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stand_in_nvcc: Any
) -> None:
    monkeypatch.setattr("fictl.toolchain.search._ROOTS", ())
    monkeypatch.setattr("fictl.toolchain.search._wheels", tuple)
    (tmp_path / "gcc").mkdir()
    for tool in ("g++", "sh", "cat", "sed", "dirname", "grep"):
        if found := shutil.which(tool):
            (tmp_path / "gcc" / tool).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path / "gcc"))
    for _ in range(2):
        with pytest.raises(FictlError, match="no usable nvcc"):
            require_nvcc()
    mend(monkeypatch, tmp_path, stand_in_nvcc)
    assert require_nvcc().release == "13.0"


def test_a_compiler_that_is_not_there_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    for _ in range(2):
        with pytest.raises(FictlError, match="no-such-compiler"):
            find_cxx()
    monkeypatch.setenv("CXX", "g++")
    assert find_cxx().family == "gcc"


WRONG = {
    "value": "max_jobs = 'many'",
    "kind": "max_jobs = 1.5",
    "malformed": "max_jobs = ",
    "bytes": "max_jobs = 1 # \xe9",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_the_settings_file_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("FICTL_CONFIG", str(path))
    path.write_bytes(text.encode("latin-1"))
    for _ in range(2):
        with pytest.raises(FictlError):
            settings.MAX_JOBS.get()
    path.write_text("max_jobs = 3", encoding="utf-8")
    assert settings.MAX_JOBS.get() == 3


def test_another_settings_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.toml").write_text("max_jobs = 0", encoding="utf-8")
    monkeypatch.setenv("FICTL_CONFIG", str(tmp_path / "settings.toml"))
    with pytest.raises(FictlError, match="max_jobs"):
        settings.MAX_JOBS.get()
    (tmp_path / "other.toml").write_text("max_jobs = 5", encoding="utf-8")
    monkeypatch.setenv("FICTL_CONFIG", str(tmp_path / "other.toml"))
    assert settings.MAX_JOBS.get() == 5


@pytest.mark.parametrize(
    "name", [each.name for each in settings.SETTINGS if each.kind in ("bool", "int", "number")]
)
def test_a_value_that_cannot_be_read_is_forgotten(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = next(each for each in settings.SETTINGS if each.name == name)
    for other in (name, *setting.also):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "neither")
    with pytest.raises(FictlError, match=name):
        setting.get()
    monkeypatch.setenv(name, "1")
    assert setting.get() == 1


def test_a_cache_that_others_can_write_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "workspace" / ".cache" / "fictl" / "v1").mkdir(parents=True)
    (tmp_path / "workspace" / ".cache" / "fictl" / "v1").chmod(0o777)
    with pytest.raises(FictlError, match="can be written by others"):
        writable_store().ensure_private()
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "another"))
    writable_store().ensure_private()


_WRONG_DEVICE = """
import os, torch, fictl
for _ in range(2):
    try:
        fictl.ops.scale(torch.ones(8), 2.0)
    except ValueError as error:
        assert "FICTL_DEVICE=emu" in str(error), error
    else:
        raise AssertionError("a tensor of the CPU was taken")
os.environ["FICTL_DEVICE"] = "emu"
assert fictl.ops.scale(torch.ones(8), 2.0).tolist() == [2.0] * 8
"""


def test_a_tensor_on_the_wrong_device_is_forgotten(users_cache: None) -> None:
    """In a process of its own: a module that is loaded stays what it was loaded for."""
    env = {**os.environ, "FICTL_DEVICE": "cuda"}
    done = subprocess.run(
        [sys.executable, "-c", _WRONG_DEVICE], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
