"""Warm-up files: what is damaged, strange or of another version is refused in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.warmup import read

Change = Callable[..., Path]


def test_a_module_that_several_processes_recorded_is_one(warmup_file: Path) -> None:
    warmup_file.write_text(warmup_file.read_text() * 3)
    (module,) = read(warmup_file).modules
    assert module.title == "tiny/elementwise.twice"
    assert [str(arch) for arch in module.targets] == ["8.0"]


def test_a_last_line_that_is_cut_off_is_left_out(warmup_file: Path) -> None:
    warmup_file.write_text(warmup_file.read_text() + '\n{"schema": "fictl.wa')
    needs = read(warmup_file)
    assert (len(needs.modules), needs.cut_off) == (1, True)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"schema": "fictl.warmup/2"}, "a newer fictl wrote it"),
        ({"schema": "fictl.build/1"}, "is not fictl.warmup/1"),
        ({"project": "../tiny"}, "project"),
        ({"module": "a/b"}, "module"),
        ({"sources": ["../../etc/passwd"]}, "sources"),
        ({"sources": []}, "sources"),
        ({"device": "rocm"}, "device"),
        ({"archs": ["99z"]}, "99z"),
        ({"recipe": "../x"}, "recipe"),
        ({"parameters": {"a b": 1}}, "parameters"),
        ({"parameters": {"a": [1]}}, "parameters"),
        ({"cuda_flags": ["a\0b"]}, "cuda_flags"),
        ({"max_spill_bytes": -1}, "max_spill_bytes"),
        ({"more": 1}, "more"),
    ],
)
def test_a_strange_value_is_refused_with_its_line(
    changed: Change, values: dict[str, object], words: str
) -> None:
    with pytest.raises(FictlError) as caught:
        read(changed(**values))
    assert words in caught.value.message
    assert "warmup.jsonl:1" in caught.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no module"),
        ("nonsense\n", "is not a line of a warm-up file"),
        ("[1]\n", "changed or damaged"),
        ('{"schema": "fictl.warmup/1"}\n', "it has no hash"),
        ("[" * 100_000 + "\n", "is not a line of a warm-up file"),
        ("\n".join(["{}"] * 20_002), "20000 is the most"),
    ],
    ids=["empty", "text", "list", "unsealed", "deep", "many"],
)
def test_another_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "w").write_text(text)
    with pytest.raises(FictlError, match=words):
        read(tmp_path / "w")


def test_a_line_that_was_edited_is_refused(warmup_file: Path) -> None:
    warmup_file.write_text(warmup_file.read_text().replace("twice", "thrice"))
    with pytest.raises(FictlError, match="changed or damaged"):
        read(warmup_file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FictlError, match=r"none\.jsonl"):
        read(tmp_path / "none.jsonl")
