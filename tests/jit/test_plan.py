"""Which unit is compiled by which command."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit import Template, gen_jit_spec
from fictl.jit.build import plan_build
from fictl.jit.ffi import ffi_paths
from fictl.toolchain import require_nvcc

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def sources(tmp_path):
    def make(*names):
        for name in names:
            (tmp_path / "op" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "op" / name).write_text(f"// {name}\n")
        return [tmp_path / "op" / name for name in names]

    return make


def test_each_source_has_its_compiler(sources):
    plan = plan_build(gen_jit_spec("m", sources("a.cu", "b.cpp", "c.cc", "d.cxx")))
    assert [unit.object for unit in plan.units] == ["a.o", "b.o", "c.o", "d.o"]
    assert [unit.device for unit in plan.units] == [True, False, False, False]
    assert plan.units[0].argv[0] == str(require_nvcc().path)
    assert plan.units[0].argv[-3:] == (str(plan.units[0].source), "-o", "a.o")
    assert plan.link[-2:] == ("-o", "module.so")


@pytest.mark.parametrize("name", ["a.c", "a", "a.py"])
def test_a_source_that_no_compiler_takes_is_refused(sources, name):
    with pytest.raises(UsageError, match=r"(?s)m: cannot compile .*end in \.cu, \.cpp"):
        plan_build(gen_jit_spec("m", sources(name)))


def test_sources_of_one_name_have_objects_of_their_own(sources):
    plan = plan_build(gen_jit_spec("m", sources("x/a.cpp", "y/a.cpp", "a.cu", "b.cu")))
    assert [unit.object for unit in plan.units] == ["a.0.o", "a.1.o", "a.2.o", "b.o"]
    assert len({unit.key for unit in plan.units}) == 4


def test_only_device_units_depend_on_the_targets(sources):
    spec = gen_jit_spec("m", sources("a.cu", "b.cpp"))
    one, two = plan_build(spec, (Arch(8, 0),)), plan_build(spec, (Arch(8, 0), Arch(9, 0, "a")))
    assert one.units[0].key != two.units[0].key
    assert one.units[1].key == two.units[1].key
    assert one.build_key != two.build_key
    assert Arch(9, 0, "a").gencode in two.units[0].argv
    assert not any("gencode" in word for word in two.units[1].argv)


def test_flags_of_one_compiler_leave_the_other_s_units_alone(sources):
    spec = gen_jit_spec("m", sources("a.cu", "b.cpp"))
    plain = plan_build(spec)
    fast = plan_build(replace(spec, extra_cuda_cflags=("-use_fast_math",)))
    assert plain.units[0].key != fast.units[0].key
    assert plain.units[1].key == fast.units[1].key
    assert "-use_fast_math" in fast.units[0].argv


def test_an_edit_changes_the_key_of_the_units_that_see_it(sources):
    paths = sources("a.cu", "b.cpp", "x.h")
    paths[0].write_text('#include "x.h"\n')
    spec = gen_jit_spec("m", paths[:2])
    before = [unit.key for unit in plan_build(spec).units]
    paths[2].write_text("// edited\n")
    after = [unit.key for unit in plan_build(spec).units]
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_another_compiler_changes_every_key(sources, use_nvcc):
    spec = gen_jit_spec("m", sources("a.cu", "b.cpp"))
    use_nvcc("12.8")
    old = plan_build(spec)
    use_nvcc("12.9")
    new = plan_build(spec)
    assert old.recipe == new.recipe
    assert old.build_key != new.build_key
    assert not {unit.key for unit in old.units} & {unit.key for unit in new.units}


def test_where_the_compiler_is_changes_no_key(sources, stand_in_nvcc, monkeypatch, tmp_path):
    spec = gen_jit_spec("m", sources("a.cu", "b.cpp"))
    plans = []
    for home in ("one", "two"):
        monkeypatch.setenv("FICTL_NVCC", str(stand_in_nvcc("12.9", tmp_path / home)))
        plans.append(plan_build(spec))
    assert plans[0].build_key == plans[1].build_key
    assert [unit.key for unit in plans[0].units] == [unit.key for unit in plans[1].units]
    assert plans[0].units[0].argv != plans[1].units[0].argv


def test_rendered_sources_are_found_first_and_belong_to_kernels_and_those_who_include_them(
    sources, tmp_path
):
    paths = sources("a.cu", "b.cpp", "through_a_header.cpp", "sees_none.cpp")
    paths[1].write_text('#include "config.inc"\n')
    paths[2].write_text('#include "header.h"\n')
    (paths[2].parent / "header.h").write_text("#include <config.inc>\n")
    (tmp_path / "config.jinja").write_text("{{ d }}")
    spec = gen_jit_spec("m", paths)
    keys = []
    for d in (64, 128):
        template = Template(tmp_path / "config.jinja", "config.inc", {"d": d})
        units = plan_build(replace(spec, template=template)).units
        assert all(_includes(unit)[0] == "-Isrc" for unit in units)
        keys.append([unit.key for unit in units])
    assert [one == two for one, two in zip(*keys, strict=True)] == [False, False, False, True]


def _includes(unit):
    return [word for word in unit.argv if word.startswith("-I")]


def test_launchers_stand_before_the_compilers_and_change_no_key(sources, monkeypatch):
    spec = gen_jit_spec("m", sources("a.cu", "b.cpp"))
    plain = plan_build(spec)
    monkeypatch.setenv("FICTL_NVCC_LAUNCHER", "ccache --x")
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", "distcc")
    plan = plan_build(spec)
    assert plan.units[0].argv == ("ccache", "--x", *plain.units[0].argv)
    assert plan.units[1].argv == ("distcc", *plain.units[1].argv)
    assert [unit.key for unit in plan.units] == [unit.key for unit in plain.units]


def test_flags_and_launchers_of_the_host_compiler_are_not_taken_for_it(sources, monkeypatch):
    monkeypatch.setenv("CXX", "g++ -m64")
    plan = plan_build(gen_jit_spec("m", sources("a.cu", "b.cpp")))
    assert any(word.startswith("-ccbin=") and word.endswith("g++") for word in plan.units[0].argv)
    assert "-m64" in plan.units[1].argv


def test_cutlass_brings_its_headers_and_its_version(sources, monkeypatch, tmp_path):
    monkeypatch.setattr("fictl.jit.plan.library_includes", lambda _: (tmp_path / "cutlass",))
    paths = sources("a.cu")
    paths[0].write_text("#include <cutlass/cutlass.h>\n")
    plan = plan_build(gen_jit_spec("m", paths))
    assert "cutlass" in plan.identity
    assert str(tmp_path / "cutlass") in plan.units[0].argv


def test_kernels_are_linked_before_bindings(sources):
    link = plan_build(gen_jit_spec("m", sources("b.cpp", "k.cu"))).link
    assert link.index("k.o") < link.index("b.o")


def test_a_module_links_tvm_ffi_and_the_shared_runtime(sources):
    link = plan_build(gen_jit_spec("m", sources("a.cpp"))).link
    assert "-ltvm_ffi" in link
    assert f"-L{ffi_paths().library.parent}" in link
    assert str(require_nvcc().cudart) in link
    assert "-Wl,--exclude-libs,ALL" in link
