"""Which stores serve a build: broken, read-only, prebuilt and shared ones, and warm loads."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.jit import MissingBuild
from fictl.jit.compile import compile_plan
from fictl.jit.lookup import find
from fictl.jit.recipe import recipe_of
from fictl.jit.store.entry import MANIFEST
from fictl.jit.store.stores import STORE_FILE, writable_store
from fictl.sealed import seal, unseal
from fictl.toolchain import Probe
from fictl.version import VERSION

pytestmark = pytest.mark.needs_nvcc


def _truncated(entry):
    entry.module.write_bytes(entry.module.read_bytes()[:100])


def _flipped(entry):
    data = bytearray(entry.module.read_bytes())
    data[len(data) // 2] ^= 1
    entry.module.write_bytes(bytes(data))


def _without_manifest(entry):
    (entry.path / MANIFEST).unlink()


def _of_another_schema(entry):
    data = json.loads((entry.path / MANIFEST).read_text())
    (entry.path / MANIFEST).write_text(json.dumps({**data, "schema": "fictl.build/0"}))


def _without_module(entry):
    entry.module.unlink()


@pytest.mark.parametrize(
    "breaks", [_truncated, _flipped, _without_manifest, _of_another_schema, _without_module]
)
def test_a_broken_build_is_set_aside_reported_and_healed_once(
    answer, cache, caplog, compiled, breaks
):
    spec = answer(6)
    broken = spec.build()
    breaks(broken)
    assert spec.build_and_load().answer() == 6
    spec.build().verify(everything=True)
    assert len(list((cache / "v1" / ".quarantine").iterdir())) == 1
    assert caplog.text.count("corrupt build") == 1
    assert caplog.text.count("building local/answer") == 2
    assert compiled() == ["answer.o"]


@pytest.fixture
def as_store(cache, tmp_path, monkeypatch):
    """Turns the cache into a read-only store and leaves an empty cache."""

    def turn(version: str | None = None) -> Path:
        store = tmp_path / "store"
        os.rename(cache, store)
        if version:
            (store / STORE_FILE).write_text(json.dumps({"fictl": version}))
        monkeypatch.setenv("FICTL_STORES", str(store))
        return store

    return turn


def test_a_read_only_store_is_used_and_never_written(answer, as_store, compiled, listing, cache):
    spec = answer(3)
    spec.build()
    store = as_store()
    before = listing(store)
    assert spec.build_and_load().answer() == 3
    assert listing(store) == before
    assert compiled() == ["answer.o"]
    assert not (cache / "v1" / "local").exists()


def test_that_nothing_may_be_compiled_is_forgotten(answer, monkeypatch):
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    for _ in range(2):
        with pytest.raises(MissingBuild):
            answer(3).build_and_load()
    monkeypatch.delenv("FICTL_DISABLE_JIT")
    assert answer(3).build_and_load().answer() == 3


def test_a_store_that_is_named_later_is_looked_in(answer, as_store, monkeypatch):
    spec = answer(3)
    spec.build()
    store = as_store()
    monkeypatch.delenv("FICTL_STORES")
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(MissingBuild):
        spec.build_and_load()
    monkeypatch.setenv("FICTL_STORES", str(store))
    assert spec.build_and_load().answer() == 3


def test_an_edit_beats_a_prebuilt_store(answer, as_store, listing):
    answer(3).build()
    store = as_store(VERSION)
    before = listing(store)
    assert answer(4).build_and_load().answer() == 4
    assert answer(3).build_and_load().answer() == 3
    assert listing(store) == before


def test_a_broken_build_in_a_read_only_store_is_built_in_the_cache(
    answer, as_store, listing, caplog
):
    spec = answer(3)
    _flipped(spec.build())
    store = as_store()
    before = listing(store)
    assert spec.build_and_load().answer() == 3
    assert listing(store) == before
    assert caplog.text.count("is passed over") == 1


@pytest.fixture
def of_another_nvcc(answer, stand_in_nvcc, monkeypatch):
    """A spec whose only build an older nvcc made."""
    nvcc = stand_in_nvcc("12.8")
    monkeypatch.setenv("FICTL_NVCC", str(nvcc))
    spec = answer(3)
    built = spec.build()
    assert built.manifest.toolchain["nvcc"].startswith("12.8")
    monkeypatch.delenv("FICTL_NVCC")
    return spec


def test_a_build_of_another_compiler_is_not_used(of_another_nvcc, compiled):
    assert find(of_another_nvcc) is None
    of_another_nvcc.build()
    assert compiled() == ["answer.o"]


def test_a_build_of_another_compiler_is_used_where_there_is_none(of_another_nvcc, monkeypatch):
    monkeypatch.setattr("fictl.toolchain.current_toolchain", lambda: None)
    assert of_another_nvcc.build_and_load().answer() == 3


def test_a_prebuilt_store_serves_every_compiler(of_another_nvcc, as_store, compiled):
    as_store(VERSION)
    assert of_another_nvcc.build_and_load().answer() == 3
    assert compiled() == []


def test_a_plain_store_serves_its_own_compiler_only(of_another_nvcc, as_store, compiled):
    as_store()
    of_another_nvcc.build()
    assert compiled() == ["answer.o"]


def test_a_prebuilt_store_of_another_version_is_used(of_another_nvcc, as_store, compiled, caplog):
    as_store("0.0.9")
    assert of_another_nvcc.build_and_load().answer() == 3
    assert compiled() == []
    assert "0.0.9" not in caplog.text


_ELSEWHERE = ["sparc64-linux-glibc2.2", "x86_64-linux-glibc2.999", "x86_64-linux-glibcxx3.4.999"]


def _rewrite(folder: Path, *without: str, **facts) -> None:
    data = unseal((folder / MANIFEST).read_text())
    kept = {name: value for name, value in data.items() if name not in without}
    (folder / MANIFEST).write_text(seal({**kept, **facts}))


@pytest.fixture
def beside(as_store):
    """Turns the cache into a prebuilt store where a newer build of each recipe is beside it."""

    def put(entry, **facts) -> None:
        newer = shutil.copytree(entry.path, entry.path.with_name("newer"))
        _rewrite(newer, build="newer", created=entry.manifest.created + 9, **facts)
        as_store(VERSION)

    return put


@pytest.mark.parametrize("jit", ["0", "1"])
@pytest.mark.parametrize("platform", _ELSEWHERE)
def test_a_build_for_another_platform_is_passed_over_for_the_good_one(
    answer, beside, compiled, caplog, monkeypatch, platform, jit
):
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "debug")
    spec = answer(3)
    beside(spec.build(), platform=platform)
    monkeypatch.setenv("FICTL_DISABLE_JIT", jit)
    assert spec.build_and_load().answer() == 3
    assert compiled() == ["answer.o"]
    assert re.search(r"newer is passed over: it (is for|needs)", caplog.text)
    assert "WARNING" not in caplog.text


def test_a_build_of_a_newer_cuda_than_the_drivers_is_passed_over(
    answer, beside, compiled, caplog, monkeypatch
):
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "debug")
    spec = answer(3)
    good = spec.build()
    monkeypatch.setattr("fictl.jit.lookup.probe", lambda: Probe(cuda=good.manifest.cudart))
    beside(good, cudart=good.manifest.cudart + 1)
    assert spec.build_and_load().answer() == 3
    assert compiled() == ["answer.o"]
    assert re.search(r"newer is passed over: it is of CUDA \d+, and the driver runs", caplog.text)


def test_a_build_whose_cuda_runtime_is_nowhere_is_passed_over_for_the_good_one(
    calls_cuda_99, beside, on_a_gpu, monkeypatch
):
    good = calls_cuda_99.build()
    beside(good, cudart=99)
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    assert find(calls_cuda_99).manifest.cudart == good.manifest.cudart


def test_where_nothing_compiles_the_runtime_that_is_nowhere_is_the_reason(
    calls_cuda_99, as_store, on_a_gpu, monkeypatch
):
    _rewrite(calls_cuda_99.build().path, cudart=99)
    as_store(VERSION)
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    nowhere = r"libcudart\.so\.99, CUDA's runtime, is neither .*: pip install .*==99\.\*"
    with pytest.raises(MissingBuild, match=f"there are builds that do not fit:\n .*: {nowhere}"):
        calls_cuda_99.build_and_load()


def test_without_a_gpu_a_build_is_taken_wherever_its_runtime_is(calls_cuda_99, beside, monkeypatch):
    beside(calls_cuda_99.build(), cudart=99)
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    assert calls_cuda_99.build().manifest.cudart == 99
    with pytest.raises(SetupError, match=r"modules of CUDA 99 do not load: libcudart\.so\.99"):
        calls_cuda_99.build_and_load()


def test_a_newer_schema_beside_it_does_not_matter(answer, beside, compiled, caplog):
    spec = answer(3)
    beside(spec.build(), schema="fictl.build/2")
    assert spec.build_and_load().answer() == 3
    assert compiled() == ["answer.o"]
    assert "WARNING" not in caplog.text


def test_a_build_of_an_older_fictl_has_no_platform_and_is_used(answer, as_store, compiled):
    spec = answer(3)
    _rewrite(spec.build().path, "platform", "origin", "source", "builder")
    as_store(VERSION)
    assert spec.build_and_load().answer() == 3
    assert compiled() == ["answer.o"]


def test_where_compiling_is_forbidden_a_miss_names_the_builds_that_do_not_fit(
    answer, as_store, monkeypatch
):
    spec = answer(3)
    build = spec.build().path
    _rewrite(build, platform="sparc64-linux-glibc2.2")
    as_store(VERSION)
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(MissingBuild, match=rf"{build.name}: it is for sparc64-linux, this is"):
        spec.build_and_load()


def test_where_compiling_is_forbidden_any_valid_build_will_do(of_another_nvcc, monkeypatch):
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    assert of_another_nvcc.build_and_load().answer() == 3


def test_where_compiling_is_forbidden_a_miss_names_key_op_and_command(
    answer, monkeypatch, compiled, cache
):
    spec = answer()
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(MissingBuild) as caught:
        spec.build_and_load()
    assert "answer" in caught.value.message
    assert recipe_of(spec).key in caught.value.message
    assert caught.value.hint.startswith("fictl build answer")
    assert compiled() == []
    assert not (cache / "v1" / "local").exists()


def test_a_cache_that_others_can_write_is_neither_read_nor_written(answer, cache, compiled):
    spec = answer()
    spec.build()
    (cache / "v1").chmod(0o777)
    for attempt in (spec.build, spec.try_load, spec.build_and_load):
        with pytest.raises(SetupError, match="can be written by others"):
            attempt()
    assert compiled() == ["answer.o"]


def test_a_holder_that_never_finishes_is_waited_for_and_then_passed(
    answer, cache, monkeypatch, caplog
):
    spec = answer()
    locks = cache / "v1" / ".locks"
    locks.mkdir(parents=True, mode=0o700)
    (cache / "v1").chmod(0o700)
    monkeypatch.setenv("FICTL_LOCK_TIMEOUT", "1")
    with (locks / f"local.answer.{recipe_of(spec).key}").open("w") as file:
        json.dump({"pid": 4711, "host": "far", "since": time.time()}, file)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        assert spec.build_and_load().answer() == 42
    assert "waited 1 s for pid 4711 on far" in caplog.text


def test_two_writers_of_one_build_end_with_one(answer, monkeypatch, compiled):
    """The lock is off: a second build is published while the first one compiles."""
    spec = answer(5)
    monkeypatch.setattr("fictl.jit.store.lock.on_network", lambda _: True)
    published = []

    def race(plan, *rest):
        if not published:
            published.append(None)
            published.append(compile_plan(plan, *rest))
        return compile_plan(plan, *rest)

    monkeypatch.setattr("fictl.jit.build.compile_plan", race)
    loser = spec.build()
    assert loser == published[1]
    assert spec.build_and_load().answer() == 5
    assert len(writable_store().entries("local", "answer")) == 1


_LOAD = """
from fictl.jit import gen_jit_spec
print(gen_jit_spec("answer", [{source!r}]).build_and_load().answer())
"""


def test_processes_that_ask_at_once_compile_once_and_all_load(
    answer, python, compiled, script, tmp_path
):
    source = str(answer(11).sources[0])
    gate = tmp_path / "gate"
    code = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    askers = [python(code + _LOAD.format(source=source)) for _ in range(8)]
    gate.touch()
    said = [asker.communicate(timeout=60)[0] for asker in askers]
    assert [text.splitlines()[-1] for text in said] == ["11"] * 8
    assert compiled() == ["answer.o"]


def test_a_warm_load_needs_no_toolkit(answer, python, tmp_path):
    spec = answer(12)
    spec.build()
    (tmp_path / "empty").mkdir()
    without = (
        "from fictl import toolchain\n"
        "toolchain.search._ROOTS = ()\n"
        "toolchain.search._wheels = lambda: iter(())\n"
        "assert toolchain.find_nvcc() is None\n"
    )
    asker = python(
        without + _LOAD.format(source=str(spec.sources[0])),
        PATH=str(tmp_path / "empty"),
        FICTL_CUDA_ARCH_LIST=None,
    )
    assert asker.communicate(timeout=60)[0] == "12\n"


def test_a_warm_load_imports_no_jinja_and_runs_no_program(answer, python):
    spec = answer(13)
    spec.build()
    forbid = (
        "import subprocess, tvm_ffi\n"  # tvm-ffi may ask ldconfig when it is imported
        "def no(*_, **__): raise SystemExit('a program was run')\n"
        "subprocess.Popen = no\n"
    )
    after = "import sys; print({'jinja2', 'ninja', 'pydantic', 'typer'} & set(sys.modules))\n"
    asker = python(forbid + _LOAD.format(source=str(spec.sources[0])) + after)
    assert asker.communicate(timeout=60)[0] == "13\nset()\n"
