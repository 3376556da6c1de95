"""fictl warmup: the file, the list of what is built, and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.builds.building import specs_of
from fictl.jit.load import used
from fictl.jit.store.entry import Entry
from fictl.warmup import recording


def test_build_lists_the_recorded_modules(fictl, twice_build: Path, tmp_path: Path) -> None:
    with recording(tmp_path / "w.jsonl") as file:
        used(specs_of(["twice"])[0], Entry.read(twice_build))
    answer = fictl("warmup", "build", str(file), "--json")
    assert answer.code == 0
    (module,) = answer.document["data"]["modules"]
    assert (module["title"], module["archs"]) == ("tiny/elementwise.twice", ["8.0"])
    text = fictl("warmup", "build", str(file), "--dry-run").out
    assert "tiny/elementwise.twice  8.0  would be built" in text


def test_a_damaged_file_is_a_usage_error(fictl, tmp_path: Path) -> None:
    (tmp_path / "w").write_text("x\n")
    answer = fictl("warmup", "build", str(tmp_path / "w"))
    assert answer.code == 2
    assert "is not a line of a warm-up file" in answer.err


def test_record_says_what_the_program_did(fictl, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = fictl("warmup", "record", "--json", "--", "sh", "-c", "exit 3")
    assert answer.code == 1
    assert answer.document["data"] == {
        "file": str(tmp_path / "warmup.jsonl"),
        "exit_code": 3,
        "modules": 0,
    }
    assert "ended with exit code 3" in answer.document["error"]["message"]
    assert fictl("warmup", "record", "--", "true").code == 2
    assert fictl("warmup", "record", "--dry-run", "--", "no-such-program").code == 3
    assert "would run true" in fictl("warmup", "record", "--dry-run", "--", "true").out


@pytest.mark.parametrize("words", [("record",), ("build",)])
def test_something_has_to_be_named(fictl, words: tuple[str, ...]) -> None:
    assert fictl("warmup", *words).code == 2
