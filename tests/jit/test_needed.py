"""Lines of FICTL_WARMUP_RECORD: each module once, appended whole, never in the way of a call."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from fictl.builds.building import specs_of
from fictl.jit import needed
from fictl.jit.load import used
from fictl.jit.store.entry import Entry
from fictl.sealed import unseal


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FICTL_WARMUP_RECORD", str(tmp_path / "warmup.jsonl"))
    return tmp_path / "warmup.jsonl"


def _lines(file: Path) -> list[dict[str, Any]]:
    return [unseal(line) for line in file.read_text().splitlines() if line]


def test_a_module_that_is_loaded_is_one_line(twice_build: Path, file: Path) -> None:
    (spec,), entry = specs_of(["twice"]), Entry.read(twice_build)
    for _ in range(3):
        used(spec, entry)
    (line,) = _lines(file)
    assert (line["project"], line["module"], line["device"]) == (
        "tiny",
        "elementwise.twice",
        "cuda",
    )
    assert (line["archs"], line["recipe"]) == (["8.0"], entry.manifest.recipe)


def test_without_the_setting_nothing_is_written(twice_build: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    used(specs_of(["twice"])[0], Entry.read(twice_build))
    assert sorted(tmp_path.iterdir()) == before


def test_threads_append_whole_lines_after_one_that_was_cut_off(file: Path) -> None:
    file.write_text('{"cut')
    texts = [json.dumps({"n": n, "pad": "x" * 5000}) for n in range(8)]
    threads = [threading.Thread(target=needed._append, args=(file, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cut, *whole = [line for line in file.read_text().splitlines() if line]
    assert cut == '{"cut'
    assert sorted(whole) == sorted(texts)


@pytest.mark.parametrize("place", ["missing/warmup.jsonl", "folder", "fifo"])
def test_a_place_that_cannot_be_written_is_a_warning(
    place: str, twice_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    import os

    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.setenv("FICTL_WARMUP_RECORD", str(tmp_path / place))
    used(specs_of(["twice"])[0], Entry.read(twice_build))
    assert "needed modules are not recorded" in caplog.text
