"""Describing a module, from plain files and by the seeds' arguments."""

from __future__ import annotations

import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit import gen_jit_spec, write_if_different
from fictl.paths import data_root


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "op" / "a.cu"
    path.parent.mkdir()
    path.write_text("")
    return path


def test_a_spec_does_nothing_until_it_is_asked_to(source, cache):
    spec = gen_jit_spec("a", [source])
    assert not cache.exists()
    with pytest.raises(FrozenInstanceError):
        spec.name = "b"


def test_gencode_flags_become_architectures(source):
    flags = [
        "-O2",
        "-gencode=arch=compute_90a,code=sm_90a",
        "-gencode=arch=compute_80,code=[sm_80,compute_80]",
        "-use_fast_math",
    ]
    spec = gen_jit_spec("a", [str(source)], extra_cuda_cflags=flags)
    assert spec.extra_cuda_cflags == ("-O2", "-use_fast_math")
    assert spec.exact_archs == (Arch(8, 0, ptx=True), Arch(9, 0, "a"))


def test_include_flags_become_include_folders(source, tmp_path):
    spec = gen_jit_spec(
        "a",
        [source],
        extra_cflags=[f"-I{tmp_path}/one", "-Wall"],
        extra_cuda_cflags=[f"-I{tmp_path}/two"],
        extra_include_paths=[tmp_path / "three"],
    )
    assert spec.extra_cflags == ("-Wall",)
    assert spec.extra_cuda_cflags == ()
    assert set(spec.include_dirs[:3]) == {tmp_path / name for name in ("one", "two", "three")}


def test_the_shipped_headers_are_on_the_include_path(source):
    kernels = data_root("kernels")
    assert gen_jit_spec("a", [source]).include_dirs == (kernels / "include", kernels)


def test_paths_are_made_absolute(source, monkeypatch):
    monkeypatch.chdir(source.parent)
    spec = gen_jit_spec("a", ["../op/a.cu"], extra_include_paths=["inc"])
    assert spec.sources == (source,)
    assert spec.base == source.parent
    assert spec.include_dirs[0] == source.parent / "inc"


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden"])
def test_a_name_that_cannot_be_a_folder_is_refused(source, name):
    with pytest.raises(UsageError, match="cannot name a module"):
        gen_jit_spec(name, [source])


def test_a_source_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"a: source .*gone\.cu does not exist"):
        gen_jit_spec("a", [tmp_path / "gone.cu"])


def test_no_sources_are_refused():
    with pytest.raises(UsageError, match="no sources given"):
        gen_jit_spec("a", [])


def test_what_was_never_built_does_not_load_and_is_not_compiled(answer, compiled):
    assert answer().try_load() is None
    assert compiled() == []


def test_what_was_built_loads(answer, compiled):
    spec = answer(7)
    spec.build()
    assert spec.try_load().answer() == 7
    assert spec.build_and_load().answer() == 7
    assert compiled() == ["answer.o"]


def test_a_module_builds_and_loads_in_one_call(answer):
    assert answer(8).build_and_load().answer() == 8


def test_the_ninja_file_of_a_spec_builds_all_of_it(answer, tmp_path):
    path = answer().write_ninja(tmp_path / "graph")
    assert path == tmp_path / "graph" / "build.ninja"
    assert "build answer.o: run" in path.read_text()


def test_a_file_that_has_the_text_keeps_its_mtime(tmp_path):
    path = tmp_path / "gen" / "a.inc"
    write_if_different(path, "ein Gruß\n")
    os.utime(path, (1, 1))
    write_if_different(str(path), "ein Gruß\n")
    assert path.stat().st_mtime == 1
    write_if_different(path, "other\n")
    assert path.read_text() == "other\n"


def test_line_ends_make_a_difference(tmp_path):
    path = Path(tmp_path / "a.inc")
    path.write_bytes(b"a\r\n")
    write_if_different(path, "a\n")
    assert path.read_bytes() == b"a\n"
