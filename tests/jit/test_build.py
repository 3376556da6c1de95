"""From a spec to a build: what hits, what misses, what an edit or another GPU changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace

import pytest

from fictl.arch import Arch, ArchRule
from fictl.errors import FictlError, SetupError
from fictl.jit import gen_jit_spec
from fictl.jit.build import ensure, ensure_runs
from fictl.jit.compile import ninja_binary
from fictl.jit.lookup import Need, find
from fictl.jit.recipe import recipe_of
from fictl.jit.store.entry import MODULE
from fictl.jit.store.stores import writable_store
from fictl.paths import PACKAGE, data_root
from fictl.toolchain import Gpu

pytestmark = pytest.mark.needs_nvcc

A80, A90A = Arch(8, 0), Arch(9, 0, "a")


@pytest.mark.parametrize(
    ("need", "archs", "met"),
    [
        (Need(), (A80,), True),
        (Need(targets=(A80,)), (A80, A90A), True),
        (Need(targets=(A80, A90A)), (A80,), False),
        (Need(gpus=(Arch(8, 6),)), (A80,), True),
        (Need(gpus=(Arch(9, 0),)), (A80,), False),
        (Need(gpus=(Arch(8, 0), Arch(9, 0))), (A80, A90A), True),
        (Need(gpus=(Arch(9, 0),)), (Arch(8, 0, ptx=True),), True),
        (Need(targets=(A80,), exact=True), (A80,), True),
        (Need(targets=(A80,), exact=True), (A80, A90A), False),
        (Need(targets=(A80, A90A), exact=True), (A80,), False),
    ],
)
def test_a_build_covers_targets_or_runs_on_gpus(need, archs, met):
    assert need.met_by(archs) == met


def test_the_log_says_which_build_was_found_and_where_there_is_none(
    answer, caplog, cache, monkeypatch, tmp_path
):
    monkeypatch.setenv("FICTL_STORES", str(tmp_path / "prebuilt"))
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "debug")
    ensure(answer())
    missed = [text for text in caplog.messages if "is in none of" in text]
    assert f"for 8.0 is in none of {cache}, {tmp_path / 'prebuilt'}" in missed[0]
    caplog.clear()
    entry = ensure(answer()).entry
    assert caplog.messages == [f"local/answer: found {entry.path}"]
    caplog.clear()
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "info")
    ensure(answer())
    assert caplog.messages == []


def test_the_second_request_finds_what_the_first_compiled(answer, compiled):
    first, second = ensure(answer()), ensure(answer())
    assert first.compiled
    assert not second.compiled
    assert first.entry == second.entry
    assert compiled() == ["answer.o"]


def test_the_same_bytes_with_a_new_mtime_hit(answer, compiled):
    spec = answer()
    spec.build()
    os.utime(spec.sources[0], (1, 1))
    spec.build()
    assert compiled() == ["answer.o"]


def test_the_same_bytes_at_a_new_path_hit(answer, compiled):
    answer(folder="here").build()
    answer(folder="over/there").build()
    assert compiled() == ["answer.o"]


def test_changed_bytes_with_an_old_mtime_miss(answer, compiled):
    spec = answer(1)
    spec.build()
    times = spec.sources[0].stat()
    answer(2)
    os.utime(spec.sources[0], ns=(times.st_atime_ns, times.st_mtime_ns))
    assert spec.build_and_load().answer() == 2
    assert len(compiled()) == 2


def test_an_edit_that_is_taken_back_hits(answer, compiled):
    for value in (1, 2, 1):
        assert answer(value).build_and_load().answer() == value
    assert len(compiled()) == 2


def test_more_architectures_are_a_build_of_their_own_and_serve_fewer(answer, compiled):
    spec = answer()
    both = spec.build([A80, A90A])
    assert spec.build([A90A]) == both
    assert spec.build([Arch(8, 6)]) != both
    assert compiled() == ["answer.o"]


def test_gencode_flags_decide_the_architectures(answer):
    spec = answer(extra_cuda_cflags=["-gencode=arch=compute_86,code=sm_86"])
    assert spec.build().manifest.archs == ("8.6",)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FICTL_JIT_DEBUG", "1"),
        ("FICTL_JIT_LINEINFO", "1"),
        ("FICTL_EXTRA_CFLAGS", "-DX"),
        ("FICTL_EXTRA_LDFLAGS", "-lm"),
    ],
)
def test_a_variant_is_a_build_of_its_own(answer, monkeypatch, variable, value):
    spec = answer()
    plain = spec.build()
    monkeypatch.setenv(variable, value)
    variant = spec.build()
    assert variant.manifest.recipe != plain.manifest.recipe
    monkeypatch.delenv(variable)
    assert spec.build() == plain


def test_a_source_edited_while_it_is_compiled_is_compiled_again(
    answer, script, tmp_path, monkeypatch, caplog
):
    spec = answer(1)
    old = recipe_of(spec).key
    edited = tmp_path / "edited"
    answer(2, folder="next")
    launcher = script(
        "edit",
        f'"$@" || exit 1\n'
        f'mkdir "{edited}" 2>/dev/null && cp "{tmp_path}/next/answer.cpp" "{spec.sources[0]}"\n'
        "exit 0\n",
    )
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", str(launcher))
    assert spec.build_and_load().answer() == 2
    assert "sources changed while they were compiled; building again" in caplog.text
    assert not writable_store().recipe_dir("local", "answer", old).exists()


def test_a_source_edited_and_put_back_meanwhile_is_compiled_again(
    answer, script, tmp_path, monkeypatch
):
    spec = answer(1)
    answer(2, folder="next")
    source, log = spec.sources[0], tmp_path / "runs"
    shutil.copy(source, tmp_path / "saved")
    launcher = script(
        "edit",
        f'echo run >> "{log}"\n'
        f'[ $(wc -l < "{log}") = 1 ] || exec "$@"\n'
        f'cp "{tmp_path}/next/answer.cpp" "{source}"; "$@"; cp "{tmp_path}/saved" "{source}"\n',
    )
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", str(launcher))
    assert spec.build_and_load().answer() == 1
    assert len(log.read_text().split()) == 2


def test_sources_that_keep_changing_are_an_error(answer, script, monkeypatch):
    spec = answer()
    launcher = script("edit", f'"$@"; echo "// $$" >> "{spec.sources[0]}"\n')
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", str(launcher))
    with pytest.raises(FictlError, match="its sources keep changing"):
        spec.build()
    assert writable_store().entries("local", "answer") == []


@pytest.fixture
def see_gpu(monkeypatch):
    def see(major, minor):
        seen = (Gpu(0, "GPU", Arch(major, minor)),)
        monkeypatch.setattr("fictl.jit.lookup.visible_gpus", lambda: seen)

    return see


def test_a_build_for_another_gpu_is_not_run(answer, see_gpu):
    see_gpu(9, 0)
    with pytest.raises(SetupError, match=r"(?s)built for 8\.0, the GPU is 9\.0.*CUDA_ARCH_LIST"):
        ensure_runs(answer())


def test_the_build_that_runs_on_the_gpu_is_found(answer, see_gpu, compiled):
    spec = answer()
    spec.build([A80])
    right = spec.build([A90A])
    spec.build([Arch(8, 6)])
    see_gpu(9, 0)
    assert ensure_runs(spec) == right
    assert find(spec) == right


def test_no_build_is_taken_for_a_gpu_that_the_spec_is_not_for(answer, see_gpu):
    spec = replace(answer(), archs=ArchRule.parse("<9.0"))
    spec.build([A80])
    see_gpu(9, 0)
    assert find(spec) is None


def test_the_list_says_which_of_several_gpus_count(answer, see_gpu, monkeypatch):
    see_gpu(8, 6)
    monkeypatch.setattr(
        "fictl.jit.lookup.visible_gpus",
        lambda: (Gpu(0, "A", Arch(8, 6)), Gpu(1, "B", Arch(12, 0))),
    )
    assert ensure_runs(answer()).manifest.archs == ("8.0",)


def test_an_architecture_that_nvcc_lacks_is_said_when_it_is_left_out(answer, caplog):
    with pytest.raises(SetupError, match=r"99\.0"):
        answer().build([Arch(99, 0)])
    entry = answer().build([A80, Arch(99, 0)])
    assert entry.manifest.archs == ("8.0",)
    assert caplog.text.count("cannot target 99.0") == 1


def test_the_whole_graph_is_written_and_ninja_builds_it(answer, tmp_path):
    spec = answer()
    spec.build()
    folder = spec.write_ninja().parent
    subprocess.run([ninja_binary(), "-C", str(folder)], check=True, capture_output=True)
    assert (folder / MODULE).is_file()


def test_nothing_is_written_beside_the_sources_nor_to_the_package(answer, listing):
    spec = answer()
    folders = (data_root("kernels"), PACKAGE, spec.base)
    before = [_files(listing(folder)) for folder in folders]
    spec.build_and_load()
    spec.write_ninja()
    with pytest.raises(FictlError):
        answer(above="#error", folder="bad").build()
    assert [_files(listing(folder)) for folder in folders] == before


def _files(listed):
    """Without byte code, which belongs to the interpreter."""
    return {name for name in listed if "__pycache__" not in name}


def test_a_single_file_that_includes_tvm_ffi_builds(tmp_path):
    source = tmp_path / "add_one.cu"
    source.write_text(
        "#include <tvm/ffi/tvm_ffi.h>\n"
        "__global__ void kernel(int* out) { *out = 1; }\n"
        "int add_one(int x) { return x + 1; }\n"
        "TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_one, add_one);\n"
    )
    spec = gen_jit_spec(
        "add_one",
        [source],
        extra_cflags=["-O3"],
        extra_cuda_cflags=["-gencode=arch=compute_80,code=sm_80"],
    )
    assert spec.build_and_load().add_one(41) == 42
