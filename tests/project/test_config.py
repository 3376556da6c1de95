from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project.config import Config, read_config


def written(folder: Path, text: str, name: str = "fictl.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_name_is_enough(tmp_path: Path) -> None:
    assert read_config(written(tmp_path, 'name = "mine"')) == Config("mine")


def test_pyproject_has_the_same_keys_in_its_table(tmp_path: Path) -> None:
    text = '[project]\nname = "other"\n[tool.fictl]\nname = "mine"\nkernels = "src/k"\n'
    assert read_config(written(tmp_path, text, "pyproject.toml")) == Config("mine", kernels="src/k")


@pytest.mark.parametrize(
    ("name", "table"), [("fictl.toml", "templates"), ("pyproject.toml", "tool.fictl.templates")]
)
def test_the_folder_of_own_templates_has_a_table(tmp_path: Path, name: str, table: str) -> None:
    head = "" if name == "fictl.toml" else "[tool.fictl]\n"
    text = f'{head}name = "mine"\n[{table}]\nop = "my/templates"\n'
    assert read_config(written(tmp_path, text, name)) == Config("mine", templates="my/templates")


@pytest.mark.parametrize(
    "text", ['[project]\nname = "x"\n', "[broken", '[project]\ndependencies = ["fictl"]\n']
)
def test_a_pyproject_that_says_nothing_about_fictl_is_none(tmp_path: Path, text: str) -> None:
    assert read_config(written(tmp_path, text, "pyproject.toml")) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "mine"\nkernels = [\n', r"fictl\.toml:\d+: not valid TOML"),
        ('name = "mine"\nkernels = x\n', r"fictl\.toml:2: not valid TOML"),
        ('name = "mine"\nkernel = "k"\n', r"fictl\.toml:2: unknown key 'kernel'"),
        ('name = "mine"\n\ntests = 3\n', r"fictl\.toml:3: tests = 3"),
        ('name = "mine"\nkernels = " "\n', r"fictl\.toml:2: kernels = ' '"),
        ('kernels = "k"\n', r"fictl\.toml: no name"),
        ('name = "my-kernels"\n', r"fictl\.toml:1: name 'my-kernels' cannot be imported"),
        ('name = "class"\n', r"fictl\.toml:1: name 'class' cannot be imported"),
        ('name = "mine"\ntemplates = "t"\n', r"fictl\.toml:2: templates = 't'"),
        ('name = "mine"\n[templates]\nops = "t"\n', r"fictl\.toml:3: unknown key 'ops'"),
        ('name = "mine"\n[templates]\nop = ""\n', r"fictl\.toml:3: op = ''"),
        ('name = "mine"\narchs = "9x"\n', r"fictl\.toml:2: unknown architecture '9x'"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_config(written(tmp_path, text))


def test_a_misspelt_key_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'kernels'"):
        read_config(written(tmp_path, 'name = "mine"\nkernel = "k"\n'))


def test_a_table_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tool.fictl is 'mine'"):
        read_config(written(tmp_path, 'tool.fictl = "mine"', "pyproject.toml"))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fictl.toml"
    path.write_bytes(b'# fine\nname = "\xff"')
    with pytest.raises(UsageError, match=r"fictl\.toml:2: byte 0xff is not UTF-8"):
        read_config(path)
