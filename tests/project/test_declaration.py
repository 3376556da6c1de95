from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project.declaration import Parameter, read_declarations

GOOD = '@op(archs=">=8.0", dtypes="f16", mutates="out")\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "op.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_function_is_read_without_being_run(tmp_path: Path) -> None:
    text = (
        "raise SystemExit\n"
        '@op(archs="8.0 9.0a", dtypes="f16 bf16", devices="cuda emu", mutates="out",\n'
        '    uses="other", settings={"FICTL_X": "what it does"})\n'
        "def twice(input, /, factor: float = 2.0, *, out=None):\n"
        '    """Doubles.\n\n    Shapes."""\n'
    )
    (found,) = read_declarations(written(tmp_path, text))
    assert (found.name, found.line, found.doc) == ("twice", 4, "Doubles.")
    assert str(found.archs) == "8.0 9.0a"
    assert [dtype.short for dtype in found.dtypes] == ["f16", "bf16"]
    assert (found.devices, found.mutates, found.uses) == (("cuda", "emu"), ("out",), ("other",))
    assert found.settings == {"FICTL_X": "what it does"}
    assert found.parameters == (
        Parameter("input", None),
        Parameter("factor", "2.0", "float"),
        Parameter("out", "None"),
    )
    assert found.outputs == ("out",)


def test_what_is_written_in_place_is_no_output(tmp_path: Path) -> None:
    text = '@op(archs="8.0", dtypes="f16", mutates="x")\ndef add_(x, y): ...\n'
    (found,) = read_declarations(written(tmp_path, text))
    assert (found.mutates, found.outputs) == (("x",), ())


def test_a_class_is_called_flat(tmp_path: Path) -> None:
    text = (
        "class Prefill:\n"
        '    """Attention."""\n'
        "    def __init__(self, workspace): ...\n"
        "    def plan(self, indptr, page_size): ...\n"
        f"    {GOOD}"
        "    def run(self, q, out=None): ...\n"
    )
    (found,) = read_declarations(written(tmp_path, text))
    assert (found.name, found.line, found.doc) == ("Prefill", 1, "Attention.")
    assert [each.name for each in found.parameters] == ["indptr", "page_size", "q", "out"]


def test_other_functions_and_decorators_are_passed_by(tmp_path: Path) -> None:
    text = f"import fictl.op\n@cache\ndef a(): ...\ndef b(): ...\n@fictl.op.{GOOD[1:]}def c(out): ...\n"
    assert [found.name for found in read_declarations(written(tmp_path, text))] == ["c"]


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, f"{GOOD}def a(out): ...\n")
    assert [found.name for found in read_declarations(path)] == ["a"]
    written(tmp_path, f"{GOOD}def longer(out): ...\n")
    assert [found.name for found in read_declarations(path)] == ["longer"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def a(:\n", r"op\.py:1: not valid Python"),
        (
            "A = 1\n@op(archs=A, dtypes='f16', mutates='')\ndef a(): ...\n",
            r":2: a: @op\(archs=A\) is",
        ),
        ("@op(**known)\ndef a(): ...\n", r":1: a: @op\(\*\*known\) is not a literal"),
        ("@op\ndef a(): ...\n", r":1: a: @op takes keyword arguments"),
        ("@op('8.0')\ndef a(): ...\n", r":1: a: @op takes keyword arguments"),
        ("@op(archs='8.0', dtypes='f16')\ndef a(): ...\n", r":2: a: @op lacks mutates"),
        ("@op(arch='8.0')\ndef a(): ...\n", r":1: a: @op has no 'arch'"),
        ("@op(archs=8.0)\ndef a(): ...\n", r":1: a: archs=8.0"),
        ("@op(settings='X')\ndef a(): ...\n", r":1: a: settings='X'"),
        (f"{GOOD}def a(x): ...\n", r":2: a: mutates names 'out'"),
        (f"{GOOD.replace('f16', 'f17')}def a(out): ...\n", r":2: a: unknown dtype 'f17'"),
        (f"{GOOD.replace('8.0', '8')}def a(out): ...\n", r":2: a: unknown architecture '8'"),
        (
            f"{GOOD.replace('mutates', 'devices=' + repr('tpu') + ', mutates')}def a(out): ...\n",
            r":2: a: devices names 'tpu'",
        ),
        (f"{GOOD}class A: ...\n", r":2: @op on A"),
        (f"class A:\n    {GOOD}    def go(self, out): ...\n", r":3: @op on go"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_declarations(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"op\.py:1: cannot be read"):
        read_declarations(tmp_path / "op.py")


BACKENDS = '@op(backends={"sm90": "9.0a", "sm80": ">=8.0"}, check=_check, checks={"sm90": _c}, '


def test_an_op_runs_on_what_one_of_its_backends_runs_on(tmp_path: Path) -> None:
    text = (
        f"{BACKENDS}heuristic=_prefer, dtypes='f16', mutates='')\ndef a(x, backend='auto'): ...\n"
    )
    (found,) = read_declarations(written(tmp_path, text))
    assert {name: str(rule) for name, rule in found.backends.items()} == {
        "sm90": "9.0a",
        "sm80": ">=8.0",
    }
    assert str(found.archs) == "9.0a >=8.0"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{BACKENDS}dtypes='f16', mutates='')\ndef a(x): ...\n", "no parameter 'backend'"),
        ("@op(backends='sm90')\ndef a(backend): ...\n", r"backends='sm90'"),
        ("@op(backends=KNOWN)\ndef a(backend): ...\n", "is not a literal"),
        ("@op(backends={}, dtypes='f16', mutates='')\ndef a(): ...\n", "lacks archs"),
    ],
)
def test_backends_are_literals_of_a_function_that_takes_one(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        read_declarations(written(tmp_path, text))
