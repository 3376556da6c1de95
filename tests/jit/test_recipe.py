"""What is in a module's key, and what is not."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.jit import Template, gen_jit_spec
from fictl.jit.recipe import digest, recipe_of, unit_inputs


@pytest.fixture
def spec(tmp_path):
    folder = tmp_path / "op"
    folder.mkdir()
    (folder / "a.cpp").write_text('#include "a.h"\n')
    (folder / "a.h").write_text("// one\n")
    (folder / "b.cpp").write_text("// two\n")
    return gen_jit_spec("two_units", [folder / "a.cpp", folder / "b.cpp"])


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest({"a": 1}) != digest({"a": "1"})


def test_a_digest_of_a_set_is_the_same_in_every_process(python):
    code = "from fictl.jit.recipe import digest; print(digest({'x', 'y', 'z', 'w'}))"
    said = {python(code, PYTHONHASHSEED=seed).communicate()[0] for seed in ("1", "2", "3")}
    assert said == {digest({"x", "y", "z", "w"}) + "\n"}


def test_a_digest_takes_paths_and_refuses_what_has_no_stable_text():
    assert digest(Path("a")) == digest("a")
    with pytest.raises(UsageError, match=r"object at 0x.* cannot be part of a module's key"):
        digest([object()])


@pytest.mark.parametrize("name", ["a.cpp", "a.h", "b.cpp"])
def test_the_bytes_of_sources_and_headers_are_in_the_key(spec, name):
    before = recipe_of(spec)
    path = spec.base / name
    path.write_text(path.read_text() + " ")
    after = recipe_of(spec)
    assert after.key != before.key
    assert after.inputs[name] != before.inputs[name]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"project": "other"},
        {"extra_cflags": ("-DX",)},
        {"extra_cuda_cflags": ("-use_fast_math",)},
        {"extra_ldflags": ("-lm",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_the_spec_says_is_in_the_key(spec, change):
    assert recipe_of(replace(spec, **change)).key != recipe_of(spec).key


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FICTL_EXTRA_CFLAGS", "-DX"),
        ("FICTL_EXTRA_CUDAFLAGS", "-DX"),
        ("FICTL_EXTRA_LDFLAGS", "-lm"),
        ("FICTL_JIT_DEBUG", "1"),
        ("FICTL_JIT_LINEINFO", "1"),
    ],
)
def test_a_setting_that_changes_the_code_is_in_the_key(spec, monkeypatch, variable, value):
    before = recipe_of(spec).key
    monkeypatch.setenv(variable, value)
    assert recipe_of(spec).key != before


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FICTL_JIT_VERBOSE", "1"),
        ("FICTL_MAX_JOBS", "1"),
        ("FICTL_NVCC_THREADS", "4"),
        ("FICTL_CXX_LAUNCHER", "ccache"),
        ("FICTL_CUDA_ARCH_LIST", "9.0a"),
        ("FICTL_LOGGING_LEVEL", "debug"),
    ],
)
def test_a_setting_that_does_not_change_the_code_is_not(spec, monkeypatch, variable, value):
    before = recipe_of(spec).key
    monkeypatch.setenv(variable, value)
    assert recipe_of(spec).key == before


def test_a_touched_file_keeps_the_key_and_changes_its_stamp(spec):
    before = recipe_of(spec)
    os.utime(spec.base / "a.h", (1, 1))
    after = recipe_of(spec)
    assert after.key == before.key
    assert after != before


@pytest.fixture
def moved(spec, tmp_path):
    shutil.copytree(spec.base, tmp_path / "else" / "where")
    return gen_jit_spec("two_units", [tmp_path / "else/where" / path.name for path in spec.sources])


@pytest.mark.parametrize("variable", ["FICTL_EMU_CHECK", "FICTL_JIT_PROFILE", ""])
def test_sources_that_moved_keep_the_key(spec, moved, monkeypatch, variable):
    if variable:
        monkeypatch.setenv("FICTL_DEVICE", "emu")
        monkeypatch.setenv(variable, "1")
    assert recipe_of(moved).key == recipe_of(spec).key


@pytest.mark.parametrize("device", ["cuda", "emu"])
def test_a_build_whose_code_names_its_files_is_for_these_files(spec, moved, monkeypatch, device):
    monkeypatch.setenv("FICTL_JIT_DEBUG", "1")
    monkeypatch.setenv("FICTL_DEVICE", device)
    here = recipe_of(spec).key
    assert recipe_of(spec).key == here
    assert recipe_of(moved).key != here


def test_sources_of_several_folders_that_moved_together_keep_the_key(tmp_path):
    keys = set()
    for root in (tmp_path / "one", tmp_path / "two" / "deep"):
        (root / "csrc").mkdir(parents=True)
        (root / "gen").mkdir()
        paths = [root / "csrc" / "a.cpp", root / "gen" / "b.cpp"]
        for path in paths:
            path.write_text("")
        keys.add(recipe_of(gen_jit_spec("m", paths)).key)
    assert len(keys) == 1


def test_headers_on_an_include_path_that_moved_keep_the_key(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text("#include <p/x.h>\n")
    keys = set()
    for place in ("one", "two/deep"):
        header = tmp_path / place / "p" / "x.h"
        header.parent.mkdir(parents=True)
        header.write_text("// same\n")
        spec = gen_jit_spec("m", [source], extra_include_paths=[tmp_path / place])
        assert "<p/x.h>" in recipe_of(spec).inputs
        keys.add(recipe_of(spec).key)
    assert len(keys) == 1


def test_a_template_counts_by_its_bytes_and_parameters_unrendered(spec):
    path = spec.base / "config.jinja"
    path.write_text("{{ no such thing }}")
    keys = {recipe_of(spec).key}
    keys.add(recipe_of(replace(spec, template=Template(path, "config.inc", {"d": 64}))).key)
    keys.add(recipe_of(replace(spec, template=Template(path, "config.inc", {"d": 128}))).key)
    path.write_text("{{ d }}")
    keys.add(recipe_of(replace(spec, template=Template(path, "config.inc", {"d": 64}))).key)
    assert len(keys) == 4


def test_a_unit_depends_on_what_it_reaches_alone(spec):
    assert list(unit_inputs(spec, spec.sources[0])) == ["a.cpp", "a.h"]
    assert list(unit_inputs(spec, spec.sources[1])) == ["b.cpp"]


def test_libraries_are_named_and_not_hashed(spec):
    (spec.base / "b.cpp").write_text("#include <cub/block/block_reduce.cuh>\n")
    recipe = recipe_of(spec)
    assert recipe.libraries == {"cccl"}
    assert list(recipe.inputs) == ["a.cpp", "a.h", "b.cpp"]
