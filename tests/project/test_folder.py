from __future__ import annotations

import re

import pytest

from fictl.errors import UsageError
from fictl.op.folder_specs import folder_specs
from fictl.project import OpFolder
from fictl.project.python_source import SourceError


def test_a_file_knows_its_folder(tree) -> None:
    folder = OpFolder.of(tree.root / "kernels/elementwise/halve/jit.py")
    assert folder == OpFolder(tree.project, "elementwise", "halve")
    assert str(folder) == "my_kernels/elementwise/halve"
    assert folder.key == "elementwise.halve"


@pytest.mark.parametrize("path", ["kernels/elementwise/jit.py", "setup.py", "kernels/a/b/c/jit.py"])
def test_a_file_elsewhere_has_none(tree, path: str) -> None:
    with pytest.raises(UsageError, match="is not in an op folder of my_kernels"):
        OpFolder.of(tree.root / path)


def test_its_files_are_those_of_the_layout(tree) -> None:
    found = {
        role: path.relative_to(tree.root).as_posix()
        for role, path in tree.op("elementwise", "halve").files()
    }
    assert found == {
        "kernel": "kernels/include/my_kernels/elementwise/halve.cuh",
        "launcher": "kernels/elementwise/halve/launcher.cu",
        "binding": "kernels/elementwise/halve/binding.cpp",
        "jit": "kernels/elementwise/halve/jit.py",
        "op": "kernels/elementwise/halve/op.py",
        "trace": "kernels/elementwise/halve/trace.py",
        "bench": "kernels/elementwise/halve/bench.py",
        "test": "tests/kernels/elementwise/test_halve.py",
    }


def test_test_files_with_more_words_belong_to_the_op_whose_name_is_longest(tree) -> None:
    own = tree.op("elementwise", "halve")
    longer = tree.root / "kernels" / "elementwise" / "halve_twice"
    longer.mkdir()
    (longer / "op.py").touch()
    for name in ("halve_ranks", "halve_twice", "halve_twice_ranks", "halves"):
        own.test.with_name(f"test_{name}.py").touch()
    other = OpFolder(tree.project, "elementwise", "halve_twice")
    assert [path.stem for path in own.tests] == ["test_halve", "test_halve_ranks"]
    assert [path.stem for path in other.tests] == ["test_halve_twice", "test_halve_twice_ranks"]
    assert ("test", own.tests[1]) in [*own.files()]


def test_one_launcher_is_no_backend(tree) -> None:
    assert tree.op("elementwise", "halve").backends() == ()


def test_backends_are_the_launchers_names_and_have_headers_of_their_own(tree) -> None:
    folder = tree.op("gemm", "dense")
    tree.write("kernels/gemm/dense/launcher_sm80.cu", "")
    tree.write("kernels/gemm/dense/launcher_sm90.cu", "")
    variant = tree.write("kernels/include/my_kernels/gemm/dense_sm90.cuh", "")
    tree.write("kernels/include/my_kernels/gemm/dense_mixed.cuh", "")
    assert folder.backends() == ("sm80", "sm90")
    assert folder.headers == (folder.header, variant)


def test_its_architectures_are_the_union_of_its_functions(tree) -> None:
    folder = tree.op("norm", "rms")
    tree.write(
        "kernels/norm/rms/op.py",
        '@op(archs=">=8.0", dtypes="f16", mutates="")\ndef a(): ...\n'
        '@op(archs="9.0a", dtypes="f16", mutates="")\ndef b(): ...\n',
    )
    assert str(folder.archs) == ">=8.0 9.0a"


def test_a_part_is_imported_uninstalled(tree) -> None:
    assert callable(tree.op("elementwise", "halve").load("bench").cases)


def test_the_shipped_ops_are_loaded_the_same_way() -> None:
    from fictl.project import Project, folders

    folder = folders(Project.shipped())[0]
    assert folder.load("op").__name__ == f"fictl.kernels.{folder.key}.op"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import not_installed\n", r"jit\.py:1: ModuleNotFoundError: No module named 'not_in"),
        ("x = 1\nx.y\n", r"jit\.py:2: AttributeError: "),
        ("x = (\n", r"jit\.py:1: not valid Python: "),
    ],
)
def test_a_part_that_cannot_be_imported_is_an_error_with_its_line(tree, text, said) -> None:
    folder = tree.op("norm", "rms")
    folder.jit.write_text(text)
    with pytest.raises(SourceError, match=said):
        folder.load("jit")


def test_a_part_that_is_not_there_is_named(tree) -> None:
    folder = tree.op("norm", "rms")
    folder.jit.unlink()
    with pytest.raises(UsageError, match=r"my_kernels/norm/rms has no .*rms/jit\.py"):
        folder.load("jit")


def test_what_aot_yields_are_its_specs(tree) -> None:
    folder = tree.op("norm", "rms")
    folder.jit.write_text("class JitSpec:\n    pass\ndef aot():\n    yield JitSpec()\n")
    assert [type(spec).__name__ for spec in folder_specs(folder)] == ["JitSpec"]


def test_a_folder_without_a_jit_file_has_one_module_of_its_files(tree) -> None:
    folder = tree.op("norm", "rms")
    folder.jit.unlink()
    with pytest.raises(UsageError, match=r"rms/jit\.py: op\.py imports it"):
        folder_specs(folder)
    tree.edit("kernels/norm/rms/op.py", "from .jit import module\n", "")
    (spec,) = folder_specs(folder)
    assert spec.name == "norm.rms"
    assert spec.sources == (*folder.launchers, folder.binding)


_WRONG = [
    ("return None", "gives None"),
    ("return 'text'", "gives 'text'"),
    ("return {1: 2}", "gives {1: 2}"),
    ("yield 1", "yields 1"),
    ("while True: yield JitSpec()", "more than 10000 of them, or no end"),
    ("raise SystemExit(0)", "SystemExit: 0"),
    ("raise BaseException('no')", "BaseException: no"),
    ("yield from aot()", "RecursionError"),
]


@pytest.mark.parametrize(("body", "said"), _WRONG, ids=[body for body, _ in _WRONG])
def test_an_aot_that_gives_something_else_is_an_error_of_its_file(tree, body, said) -> None:
    folder = tree.op("norm", "rms")
    folder.jit.write_text(f"class JitSpec:\n    pass\ndef aot():\n    {body}\n")
    with pytest.raises(SourceError, match=rf"jit\.py:\d+: .*{re.escape(said)}"):
        folder_specs(folder)


def test_cases_without_an_end_are_an_error_of_their_file(tree) -> None:
    folder = tree.op("norm", "rms")
    text = "class Case:\n    pass\ndef cases():\n    while True:\n        yield Case()\n"
    folder.bench.write_text(text)
    with pytest.raises(SourceError, match=r"bench\.py:3: cases\(\) has more than"):
        folder.cases()


def test_ctrl_c_in_somebody_s_code_is_theirs_who_pressed_it(tree) -> None:
    folder = tree.op("norm", "rms")
    folder.jit.write_text("def aot():\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        folder_specs(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"jit\.py:1: AttributeError: module .* has no attribute 'aot'"),
        ("def aot():\n    yield 1\n    yield 1 / 0\n", r"jit\.py:3: ZeroDivisionError: "),
        ("def aot():\n    return 1\n", r"jit\.py:1: aot\(\) gives 1"),
    ],
)
def test_an_aot_that_fails_is_an_error_with_its_line(tree, text, said) -> None:
    folder = tree.op("norm", "rms")
    folder.jit.write_text(text)
    with pytest.raises(SourceError, match=said):
        folder_specs(folder)


def test_a_backend_is_built_for_what_it_declares(tree) -> None:
    declared = 'backends={"sm90": "9.0a", "sm80": ">=8.0"}'
    tree.edit("kernels/elementwise/halve/op.py", 'archs=">=8.0"', declared)
    tree.edit("kernels/elementwise/halve/op.py", "out=None)", 'out=None, backend="auto")')
    folder = OpFolder(tree.project, "elementwise", "halve")
    assert [str(folder.archs_of(name)) for name in ("sm90", "")] == ["9.0a", "9.0a >=8.0"]
