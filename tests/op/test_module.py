"""The spec of an op folder: everything that its place and its declaration already say."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.op import module_spec
from fictl.op.module import default_module
from fictl.paths import data_root


@pytest.fixture
def folder(tiny: Path) -> Path:
    return tiny / "kernels" / "elementwise" / "twice"


def test_sources_are_the_launcher_and_the_binding(folder: Path) -> None:
    spec = module_spec(str(folder / "jit.py"))
    assert spec.sources == (folder / "launcher.cu", folder / "binding.cpp")
    assert (spec.project, spec.name, spec.base) == ("tiny", "elementwise.twice", folder)


def test_the_users_headers_come_before_the_shipped_ones(tiny: Path, folder: Path) -> None:
    shipped = data_root("kernels")
    assert module_spec(str(folder / "jit.py")).include_dirs == (
        tiny / "kernels/include",
        tiny / "kernels",
        shipped / "include",
        shipped,
    )


def test_architectures_are_those_of_the_declaration(folder: Path) -> None:
    spec = module_spec(str(folder / "jit.py"))
    assert (str(spec.archs), spec.fallback_archs) == (">=8.0", "8.0")


def test_a_backend_that_plans_choose_has_architectures_of_its_own(folder: Path) -> None:
    spec = module_spec(str(folder / "jit.py"), backend="sm90", archs="9.0a")
    assert str(spec.archs) == "9.0a"


def test_two_functions_of_a_folder_add_up(folder: Path) -> None:
    with (folder / "op.py").open("a", encoding="utf-8") as file:
        file.write('\n\n@op(archs="7.5", dtypes="i32", mutates="")\ndef thrice(input): ...\n')
    assert str(module_spec(str(folder / "jit.py")).archs) == ">=8.0 7.5"


def test_without_parameters_there_is_no_template(folder: Path) -> None:
    assert module_spec(str(folder / "jit.py")).template is None


@pytest.mark.parametrize("parameters", [{"head_dim": 128}, {}])
def test_parameters_render_config_jinja(folder: Path, parameters: dict[str, int]) -> None:
    template = module_spec(str(folder / "jit.py"), parameters).template
    assert template is not None
    assert (template.path, template.output) == (folder / "config.jinja", "config.inc")
    assert template.parameters == parameters


def test_a_backend_has_its_own_launcher_and_the_same_binding(folder: Path) -> None:
    spec = module_spec(str(folder / "jit.py"), backend="sm90")
    assert spec.sources == (folder / "launcher_sm90.cu", folder / "binding.cpp")


def test_flags_go_to_the_compiler_they_are_for(folder: Path) -> None:
    spec = module_spec(
        str(folder / "jit.py"),
        extra_cuda_cflags=["-use_fast_math"],
        extra_cflags=["-Wall"],
        extra_ldflags=["-lm"],
    )
    assert spec.extra_cuda_cflags == ("-use_fast_math",)
    assert spec.extra_cflags == ("-Wall",)
    assert spec.extra_ldflags == ("-lm",)


def test_a_file_outside_of_an_op_folder_is_refused(tiny: Path) -> None:
    with pytest.raises(UsageError, match="is not in an op folder of tiny"):
        module_spec(str(tiny / "kernels" / "jit.py"))


def test_a_kernel_py_beside_it_is_compiled_by_triton(folder: Path) -> None:
    assert module_spec(str(folder / "jit.py")).triton is None
    (folder / "kernel.py").touch()
    assert module_spec(str(folder / "jit.py")).triton == folder / "kernel.py"


def test_the_default_module_is_the_one_of_the_folders_files(folder: Path) -> None:
    assert default_module(str(folder / "op.py"))() == module_spec(str(folder / "op.py"))


def test_the_default_module_has_no_parameters(folder: Path) -> None:
    with pytest.raises(UsageError, match="tiny/elementwise/twice has one module, without param"):
        default_module(str(folder / "op.py"))("float16")
