from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.scaffold.new.guess import Guess
from fictl.scaffold.new.reference import ReadReference, Reference
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.record import FILE, LARGEST, ScaffoldRecord, is_sound, place, read_record
from fictl.sealed import seal

WHERE = "kernels/norm/rms/op.py"
RECORD = ScaffoldRecord(
    "0.1.0",
    NewOpRequest("rms", family="norm", inputs=("x:n", "y:n"), expression="x * y"),
    {WHERE: "a\r\nb", "tests/kernels/norm/test_rms.py": ""},
)


@pytest.fixture
def folder(project) -> OpFolder:
    folder = OpFolder(project, "norm", "rms")
    folder.path.mkdir(parents=True)
    return folder


def write(folder: OpFolder, text: str) -> None:
    place(folder).write_text(text, encoding="utf-8")


def refusal(folder: OpFolder) -> str:
    with pytest.raises(UsageError) as caught:
        read_record(folder)
    assert FILE in caught.value.message
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize("expression", [None, "x + y"])
def test_it_is_read_as_it_was_written(folder, expression: str | None) -> None:
    """Guesses were for who typed the command."""
    read = ReadReference(
        Reference("def _reference(): ...", ("import math",)),
        ("x:n",),
        (),
        ("out:n",),
        expression,
        guesses=(Guess(("x",), "x is one row", "--input x:n,d"),),
    )
    request = replace(RECORD.request, reference="ref.py:f", kernel="gate.cu:Gate<T, 2>")
    record = replace(RECORD, read=read, request=request, source="// é\n")
    write(folder, record.text())
    assert read_record(folder) == record
    assert is_sound(record)


def test_an_op_may_have_none(folder) -> None:
    assert read_record(folder) is None


def test_a_name_that_could_not_be_read_again_is_not_sound() -> None:
    assert not is_sound(replace(RECORD, files={"kernels/a b/op.py": ""}))


def _said(**changes: Any) -> str:
    data = {**json.loads(RECORD.text()), **changes}
    data.pop("sha256")
    return seal(data)


def _request(**changes: Any) -> str:
    return _said(request={**json.loads(RECORD.text())["request"], **changes})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not as the scaffold wrote it"),
        (RECORD.text()[:200], "not as the scaffold wrote it"),
        (RECORD.text().replace("x * y", "x + y"), "other content than was written"),
        ("<<<<<<< yours\n" + RECORD.text(), "not as the scaffold wrote it"),
        ("[" * 100_000, "not as the scaffold wrote it"),
        (_said(schema=2), "a newer fictl reads it"),
        (_said(files={"../../etc/passwd": []}), "'../../etc/passwd'"),
        (_said(files={"/etc/passwd": []}), "'/etc/passwd'"),
        (_said(files={"kernels/../../x": []}), "as a file of the op"),
        (_said(files={"kernels//x": []}), "as a file of the op"),
        (_said(files={"kernels\\..\\x": []}), "as a file of the op"),
        (_said(files={".git/hooks/pre-commit": []}), "as a file of the op"),
        (_said(files={"fictl.toml\n": []}), "as a file of the op"),
        (_said(files={WHERE: "text"}), "str in place of a list"),
        (_said(files={WHERE: [1]}), "int in place of a text"),
        (_said(files={WHERE: [""] * 10_001}), "more than 10000 lines"),
        (_said(files=[]), "not as the scaffold wrote it"),
        (_said(request=None), "not as the scaffold wrote it"),
        (_said(source=None), "NoneType in place of a list"),
        (_request(cluster="1"), "'cluster', which a newer fictl knows"),
        (_request(inputs="x:n"), "str in place of a list"),
        (_request(name=7), "int in place of a text"),
        (_request(kernel="../gate.cu:Gate"), "'../gate.cu' as the file of its kernel"),
        (_request(kernel="/etc/passwd:x"), "'/etc/passwd' as the file of its kernel"),
        (_request(definition="/proc/self/mem"), "as the file of its definition"),
        (_request(reference="/tmp/evil.py:f"), "not both the name of a reference"),
    ],
)
def test_what_no_scaffold_wrote_is_refused_in_words(folder, text: str, reason: str) -> None:
    write(folder, text)
    assert reason in refusal(folder)


def test_what_is_missing_is_named(folder) -> None:
    data = json.loads(RECORD.text())
    del data["files"], data["sha256"]
    write(folder, seal(data))
    assert "lacks 'files'" in refusal(folder)


def test_a_huge_one_is_not_read(folder) -> None:
    with open(place(folder), "wb") as file:
        file.truncate(1 << 40)
    assert f"more than {LARGEST} bytes" in refusal(folder)


@pytest.mark.parametrize("kind", ["link", "folder link", "pipe", "folder"])
def test_only_a_file_of_the_op_is_read(folder, tmp_path: Path, kind: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / FILE).write_text(RECORD.text(), encoding="utf-8")
    if kind == "link":
        place(folder).symlink_to(elsewhere / FILE)
    elif kind == "folder link":
        folder.path.rmdir()
        folder.path.symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(place(folder))
    else:
        place(folder).mkdir()
    assert "cannot be read" in refusal(folder)


@pytest.mark.parametrize("other", [{"name": "layer"}, {"family": "gemm"}])
def test_that_of_another_op_is_refused(folder, other: dict[str, str]) -> None:
    write(folder, _request(**other))
    assert "is the record of " in refusal(folder)
