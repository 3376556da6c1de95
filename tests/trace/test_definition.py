from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.trace import Definition

GOOD: dict[str, Any] = {
    "name": "gemm_n4096", "op_type": "gemm", "tags": ["fi_api:my_kernels.ops.gemm"],
    "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 4096}},
    "constraints": ["M % 8 == 0"],
    "inputs": {"A": {"shape": ["M", "N"], "dtype": "float16"},
               "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"C": {"shape": ["M"], "dtype": "float16"}},
    "reference": "def run(A, eps):\n    return A.sum(1) + eps\n",
}  # fmt: skip


def write(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "def.json"
    path.write_text(json.dumps({**GOOD, **changes}), encoding="utf-8")
    return path


def test_a_definition_is_read_and_written_as_it_was(tmp_path: Path) -> None:
    made = Definition.read(write(tmp_path))
    assert made.to_dict() == GOOD
    assert (made.api, made.constants()) == ("my_kernels.ops.gemm", {"N": 4096})


def test_extensions_of_others_are_kept(tmp_path: Path) -> None:
    made = Definition.read(write(tmp_path, check="def check(): ..."))
    assert made.to_dict()["check"] == "def check(): ..."


def test_without_a_tag_it_names_no_function(tmp_path: Path) -> None:
    assert Definition.read(write(tmp_path, tags=["status:verified"])).api == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "../../etc/passwd"}, "name: letters, digits"),
        ({"name": ""}, "name: "),
        ({"op_type": "a/b"}, "op_type: letters, digits"),
        ({"axes": {"M": {"type": "var"}, "N": {"type": "const", "value": -1}}}, "axes.N.const.val"),
        ({"axes": {"M": {"type": "expr"}}}, "axes.M: "),
        ({"axes": {"M": {"type": "var"}}}, r"A has the unknown axes \['N'\]"),
        ({"inputs": {"A": {"shape": None, "dtype": "uint8"}}}, "inputs.A.dtype: "),
        ({"constraints": ["M %"]}, "constraints: not valid Python"),
        ({"reference": "def run(:"}, "reference: not valid Python"),
        ({"reference": "def walk(A):\n    return A\n"}, "no top-level function run"),
        ({"reference": "\0"}, "reference: not valid Python"),
    ],
)
def test_what_is_no_definition_is_refused(tmp_path: Path, changes: Any, said: str) -> None:
    with pytest.raises(UsageError, match=rf"def.json is no definition: .*{said}"):
        Definition.read(write(tmp_path, **changes))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "def.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is no definition"):
        Definition.read(path)


def test_a_file_of_megabytes_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "def.json"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(UsageError, match="has 1073741824 bytes"):
        Definition.read(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.json cannot be read: No such file"):
        Definition.read(tmp_path / "none.json")
