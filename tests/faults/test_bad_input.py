"""What users write by mistake: the file, the line, the value, and what was expected."""

from __future__ import annotations

import shutil

import pytest

_SPELLINGS = "hint: write it as '9.0a', '90a', 'sm_90a', '10.0f', '8.0+PTX' or 'native'"


@pytest.mark.parametrize("token", ["9x", "sm90", "9.0b", "hopper", "8.0+", "-1"])
def test_an_architecture_that_means_nothing_is_named_with_its_flag_or_variable(
    project, fictl_, token
):
    for answer in (
        fictl_("build", "twice", f"--arch=8.0 {token}"),
        fictl_("build", "twice", FICTL_CUDA_ARCH_LIST=f"8.0;{token}"),
    ):
        assert answer.code == 2
        assert f"unknown architecture '{token}'" in answer.err
        assert _SPELLINGS in answer.err
    assert f"FICTL_CUDA_ARCH_LIST='8.0;{token}'" in answer.err


def test_an_architecture_that_means_nothing_is_found_in_the_project_s_file(project, fictl_):
    (project.root / "fictl.toml").write_text('name = "tiny"\n\narchs = "8.0 9x"\n')
    answer = fictl_("build", "twice")
    assert answer.code == 2
    assert f"{project.root / 'fictl.toml'}:3: unknown architecture '9x'" in answer.err
    assert _SPELLINGS in answer.err


def test_an_architecture_that_means_nothing_is_found_in_an_op(project, fictl_):
    _edit(project.op / "op.py", '">=8.0"', '">=8.x"')
    answer = fictl_("build", "twice")
    assert answer.code == 2
    assert f"{project.op / 'op.py'}:13: twice: unknown architecture '8.x'" in answer.err
    assert _SPELLINGS in answer.err


@pytest.mark.parametrize(
    ("content", "said", "hint"),
    [
        (b'name = "tiny"\narchs = [\n', ":3: not valid TOML", "toml.io"),
        (b'name = "tiny"\nkernel = "src"\n', ":2: unknown key 'kernel'", "did you mean 'kernels'?"),
        (b'name = "tiny"\narchs = 8.0\n', ":2: archs = 8.0", "expected a text"),
        (b'name = "my-ops"\n', ":1: name 'my-ops' cannot be imported", "as in 'my_kernels'"),
        (b"", ": no name", 'write name = "my_kernels"'),
        (b'name = "tiny"\n# \xfc\n', ":2: byte 0xfc is not UTF-8", "save it as UTF-8"),
    ],
    ids=["syntax", "key", "type", "name", "empty", "latin-1"],
)
def test_a_malformed_project_file_is_an_error_with_file_and_line(
    project, fictl_, content, said, hint
):
    path = project.root / "fictl.toml"
    path.write_bytes(content)
    for words in (("list",), ("build", "twice"), ("check",)):
        answer = fictl_(*words)
        assert answer.code == 2
        assert f"{path}{said}" in answer.err
        assert hint in answer.err


def test_a_folder_of_the_project_file_s_name_is_not_passed_over(project, fictl_):
    path = project.root / "fictl.toml"
    path.unlink()
    path.mkdir()
    answer = fictl_("list")
    assert answer.code == 2
    assert f"{path} cannot be read: Is a directory" in answer.err


def test_a_missing_kernels_folder_is_named(project, fictl_):
    shutil.move(project.root / "kernels", project.root / "src")
    answer = fictl_("list")
    assert answer.code == 2
    assert f"project tiny has no folder {project.root / 'kernels'}" in answer.err
    assert "hint: make it, or set kernels" in answer.err


@pytest.mark.parametrize("place", ["elementwise/double", "other/twice"])
@pytest.mark.parametrize(
    "words", [("build", "twice"), ("where", "twice"), ("check",)], ids=" ".join
)
def test_two_ops_of_one_name_are_refused_with_both_paths(project, fictl_, place, words):
    second = shutil.copytree(project.op, project.root / "kernels" / place)
    answer = fictl_(*words)
    assert answer.code == (1 if words == ("check",) else 2)
    for folder in (project.op, second):
        assert str(folder / "op.py") in answer.said
    assert "rename one of them" in answer.said


@pytest.mark.parametrize("part", ["op", "jit"])
def test_a_syntax_error_in_an_op_is_said_with_its_line(project, fictl_, part):
    path = project.op / f"{part}.py"
    line = path.read_text().count("\n") + 1
    path.write_text(path.read_text() + "def (:\n")
    answer = fictl_("build", "twice")
    assert answer.code == 2
    assert f"{path}:{line}: not valid Python: invalid syntax" in answer.err


def test_an_error_that_jit_py_raises_is_said_with_its_line(project, fictl_):
    path = project.op / "jit.py"
    _edit(path, "from fictl.op", "import not_installed\nfrom fictl.op")
    answer = fictl_("build", "twice")
    assert answer.code == 2
    assert f"{path}:8: ModuleNotFoundError: No module named 'not_installed'" in answer.err


@pytest.mark.parametrize("name", ["jit.py", "launcher.cu", "binding.cpp"])
def test_a_file_that_an_op_lacks_is_named(project, fictl_, name):
    (project.op / name).unlink()
    answer = fictl_("build", "twice")
    assert answer.code == 2
    assert str(project.op / name) in answer.err


def test_an_entry_that_jit_py_lacks_is_named(project, fictl_):
    _edit(project.op / "jit.py", "def aot(", "def ahead(")
    answer = fictl_("build", "twice")
    assert answer.code == 2
    assert str(project.op / "jit.py") in answer.err
    assert "aot" in answer.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FICTL_MAX_JOBS", "many"),
        ("MAX_JOBS", "0"),
        ("FICTL_JIT_DEBUG", "maybe"),
        ("FICTL_EXTRA_CFLAGS", "-DX='"),
        ("FICTL_LOCK_TIMEOUT", "-1"),
        ("FICTL_DEVICE", "tpu"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named_with_its_value(project, fictl_, name, value):
    answer = fictl_("build", "twice", **{name: value})
    assert answer.code == 2
    assert f'{name}="{value}"' in answer.err or f"{name}='{value}'" in answer.err


def test_every_error_is_one_document_for_programs(project, fictl_):
    (project.root / "fictl.toml").write_text("name = \n")
    answer = fictl_("build", "--json")
    assert answer.code == 2
    assert '"ok": false' in answer.out
    assert "fictl.toml:1" in answer.out
    assert answer.err == ""


def _edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
