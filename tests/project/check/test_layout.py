from __future__ import annotations

import dataclasses

import pytest

from fictl.op.folder_specs import folder_specs
from fictl.project import OpFolder, Project
from fictl.project.check import check_project, layout

_OP = "kernels/elementwise/halve"


@pytest.mark.parametrize(
    "path",
    [
        "kernels/include/my_kernels/elementwise/halve.cuh",
        f"{_OP}/launcher.cu",
        f"{_OP}/binding.cpp",
        f"{_OP}/trace.py",
        f"{_OP}/bench.py",
        "tests/kernels/elementwise/test_halve.py",
    ],
)
def test_a_missing_file_is_named(tree, problems, path: str) -> None:
    (tree.root / path).unlink()
    name = path.rpartition("/")[2]
    assert problems() == [f"files {path}:1 my_kernels/elementwise/halve lacks {name}"]


def test_an_op_of_one_module_needs_no_jit_file(tree, problems) -> None:
    (tree.root / f"{_OP}/jit.py").unlink()
    tree.edit(f"{_OP}/op.py", "from .jit import module\n", "")
    tree.edit(f"{_OP}/op.py", "KernelModule(module)", "KernelModule(__file__)")
    assert problems() == []


def test_a_jit_file_that_op_py_imports_is_there(tree, problems) -> None:
    (tree.root / f"{_OP}/jit.py").unlink()
    missing = "my_kernels/elementwise/halve lacks jit.py: op.py imports it"
    assert problems() == [f"files {_OP}/jit.py:1 {missing}"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("bench.py", "config.jinja", "config.jinja has parameters"),
        ("launcher.cu", "launcher_sm90.cu", "each backend has a launcher"),
    ],
)
def test_what_the_default_module_cannot_say_needs_a_jit_file(
    tree, problems, old: str, new: str, reason: str
) -> None:
    (tree.root / f"{_OP}/jit.py").unlink()
    tree.edit(f"{_OP}/op.py", "from .jit import module\n", "")
    tree.edit(f"{_OP}/op.py", "KernelModule(module)", "KernelModule(__file__)")
    tree.write(f"{_OP}/{new}", (tree.root / _OP / old).read_text())
    if old == "launcher.cu":
        (tree.root / _OP / old).unlink()
    assert problems() == [
        f"files {_OP}/jit.py:1 my_kernels/elementwise/halve lacks jit.py: {reason}"
    ]


def test_an_op_calls_the_module_that_its_jit_file_describes(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", "KernelModule(module)", "KernelModule(__file__)")
    message = "op.py calls the default module, and jit.py is built"
    assert problems() == [f"jit {_OP}/op.py:4 {message}"]


def test_launchers_of_backends_are_launchers(tree, problems) -> None:
    launcher = tree.root / _OP / "launcher.cu"
    launcher.rename(launcher.with_name("launcher_sm90.cu"))
    assert problems() == []


def test_an_op_made_of_others_needs_no_kernel_and_has_nothing_to_build(tree, problems) -> None:
    folder = tree.op("elementwise", "halve")
    for path in (folder.header, *folder.launchers, folder.binding, folder.jit):
        path.unlink()
    assert len(problems()) == 4
    tree.write(
        f"{_OP}/op.py",
        "from fictl.op import op\nfrom fictl.kernels.elementwise.scale.op import scale\n"
        '@op(archs=">=8.0", dtypes="f16", mutates="out", uses="scale")\n'
        "def halve(input, factor, out=None): return scale(input, factor, out=out)\n",
    )
    assert problems() == []
    assert folder_specs(folder) == []


def test_a_wheel_carries_our_kernels_without_their_tests(tmp_path, monkeypatch) -> None:
    wheel = dataclasses.replace(Project.shipped(), tests=tmp_path / "nowhere")
    assert [problem for problem in check_project(wheel) if problem.rule == "files"] == []


@pytest.mark.parametrize("name", ["fast-halve", "2x", "lambda"])
def test_a_folder_that_cannot_be_imported_is_refused(tree, problems, name: str) -> None:
    tree.write(f"kernels/elementwise/{name}/op.py", "")
    assert f"names {_OP[:-5]}{name}/op.py:1 folder {name!r} cannot be imported" in problems()


def test_the_facades_name_cannot_be_a_family(tree) -> None:
    folder = tree.op("ops", "halved")
    assert [problem.message for problem in layout.names_are_importable(folder)] == [
        "'ops' cannot be a family: it means something else"
    ]


@pytest.mark.parametrize(
    ("file", "text", "missing"),
    [
        ("jit.py", "def module(): ...\n", "aot"),
        ("jit.py", "def aot(): yield 1\n", "module"),
        ("bench.py", "case = 1\n", "cases"),
    ],
)
def test_each_python_file_defines_its_part(
    tree, problems, file: str, text: str, missing: str
) -> None:
    tree.write(f"{_OP}/{file}", text)
    assert problems() == [f"defines {_OP}/{file}:1 {file} defines no {missing}"]


def test_an_op_file_that_declares_nothing_is_a_problem(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", '@op(archs=">=8.0", dtypes="f16 bf16", mutates="out")\n', "")
    assert problems() == [f"defines {_OP}/op.py:1 op.py declares no op"]


def test_kernels_is_no_package(tree, problems) -> None:
    tree.write("kernels/__init__.py", "")
    assert problems() == ["no-init kernels/__init__.py:1 kernels/ is not a Python package"]


@pytest.mark.parametrize(
    "body", ["pass", "return", "return []", "return iter(())", "yield from ()", "return None"]
)
@pytest.mark.parametrize(("file", "name"), [("jit.py", "aot"), ("bench.py", "cases")])
def test_an_entry_that_yields_nothing_is_a_problem(
    tree, problems, file: str, name: str, body: str
) -> None:
    tree.edit(f"{_OP}/{file}", f"def {name}(): yield", f"def {name}():\n  {body}\nx = lambda:")
    line = 2 if file == "jit.py" else 1
    assert problems() == [f"empty {_OP}/{file}:{line} {name}() yields nothing"]


@pytest.mark.parametrize("body", ["yield 1", "yield from made()", "return [1]", "return made()"])
def test_an_entry_may_give_in_any_way(tree, problems, body: str) -> None:
    tree.write(f"{_OP}/bench.py", f"def cases():\n  if True:\n    {body}\n")
    assert problems() == []


def test_an_entry_that_is_no_function_is_not_judged(tree, problems) -> None:
    tree.write(f"{_OP}/bench.py", "cases = made\n")
    assert problems() == []


def test_a_test_file_without_tests_is_a_problem(tree, problems) -> None:
    path = "tests/kernels/elementwise/test_halve.py"
    tree.write(path, "def helper(): ...\n")
    assert problems() == [f"tests {path}:1 test_halve.py has no test"]


def test_tests_may_be_in_a_class(tree, problems) -> None:
    path = "tests/kernels/elementwise/test_halve.py"
    tree.write(path, "class TestHalve:\n    def test_it(self): ...\n")
    assert problems() == []


def _opening(tree, monkeypatch: pytest.MonkeyPatch, text: str) -> list[str]:
    """What is said of a shipped header that is `text`."""
    path = tree.write("kernels/include/my_kernels/elementwise/halve.cuh", text)
    monkeypatch.setattr("fictl.project.project.data_root", lambda name: tree.root)
    folder = OpFolder(tree.project, "elementwise", "halve")
    found = tuple(layout.headers_open_with_their_story(folder))
    assert all(problem.path == path for problem in found)
    return [problem.message for problem in found]


def test_our_headers_open_with_their_story(tree, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _opening(tree, monkeypatch, "// halve: …\n#pragma once\n") == []


def test_a_header_of_ours_that_starts_at_once_is_a_problem(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ["halve.cuh does not open with a comment"]
    assert _opening(tree, monkeypatch, "#pragma once\n// late\n") == said


def test_how_a_users_header_opens_is_their_own_choice(tree, problems) -> None:
    tree.write("kernels/include/my_kernels/elementwise/halve.cuh", "#pragma once\n")
    assert problems() == []


def test_a_kernel_in_triton_needs_no_header(tree, problems) -> None:
    (tree.root / "kernels/include/my_kernels/elementwise/halve.cuh").unlink()
    tree.write(f"{_OP}/launcher.cu", "#include <binding/launch.h>\n#include <kernel.inc>\n")
    tree.write(f"{_OP}/kernel.py", "import triton\ndef variants(): ...\n")
    assert problems() == []


def test_a_kernel_in_triton_says_what_is_compiled_of_it(tree, problems) -> None:
    tree.write(f"{_OP}/kernel.py", "")
    assert problems() == [f"defines {_OP}/kernel.py:1 kernel.py defines no variants"]


def test_a_family_may_share_python_in_a_private_folder(tree, problems) -> None:
    tree.write("kernels/elementwise/_plan/table.py", "INPUTS = {'input': 1, 'factor': 2}\n")
    tree.write("kernels/elementwise/_plan/lengths.py", "from .table import INPUTS\n")
    tree.edit(f"{_OP}/bench.py", "def cases", "from .._plan.lengths import INPUTS\ndef cases")
    assert problems() == []


def test_an_op_in_a_private_folder_is_a_problem(tree, problems) -> None:
    tree.write("kernels/elementwise/_plan/op.py", "")
    assert problems() == [
        "private kernels/elementwise/_plan/op.py:1 _plan/ is private to its family: no op is found "
        "there"
    ]
