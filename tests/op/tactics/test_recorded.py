"""FICTL_AUTOTUNER_LOAD_FROM_FILE: a file that fits is used, any other is ignored and said."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl import log
from fictl.op.tactics import recorded
from fictl.op.tactics.machine import Machine, machine

KEY = "q=float32 d=64 n<=8"
ROWS = torch.zeros(5, 64)


@pytest.fixture(autouse=True)
def _said_anew() -> None:
    log.warn_once.cache_clear()


@pytest.fixture
def function(declared: Callable[..., Any]) -> Any:
    return declared()


@pytest.fixture
def written(function: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A file of this machine in which the third tactic has won, but for `changes`."""

    def write(**changes: Any) -> Path:
        entry = {"winner": {"parts": 4}, "candidates": [], **changes.pop("entry", {})}
        kernel = changes.pop("kernel", recorded.kernel_digest(function.op))
        of_op = {"kernel": kernel, "keys": {KEY: entry}}
        document = {
            "schema": "fictl.tactics/1",
            "gpu": machine().gpu,
            "driver": "",
            "ops": {function.op.api: of_op},
            **changes,
        }
        path = tmp_path / "tuned.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        monkeypatch.setenv("FICTL_AUTOTUNER_LOAD_FROM_FILE", str(path))
        return path

    return write


def test_what_was_tuned_before_is_used(written: Any, function: Any, split: Any) -> None:
    written()
    assert function(ROWS) == split(4)


def test_a_file_that_is_made_later_is_used(
    written: Any, function: Any, split: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_AUTOTUNER_LOAD_FROM_FILE", str(tmp_path / "tuned.json"))
    assert recorded.entry(function.op, KEY, 0) is None
    (tmp_path / "tuned.json").write_text("{", encoding="utf-8")
    assert recorded.entry(function.op, KEY, 0) is None
    written()
    assert recorded.entry(function.op, KEY, 0) is not None


def test_other_keys_get_the_default(written: Any, function: Any, split: Any) -> None:
    written()
    assert function(torch.zeros(9, 64)) == split(1)


@pytest.mark.parametrize("value", ["0", "", "off"])
def test_unless_asked_for_nothing_is_loaded(
    value: str, written: Any, function: Any, split: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    written()
    monkeypatch.setenv("FICTL_AUTOTUNER_LOAD_FROM_FILE", value)
    assert function(ROWS) == split(1)


def test_1_is_the_file_that_the_tuner_writes(
    written: Any, function: Any, split: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded.default_path(machine())
    path.parent.mkdir(parents=True)
    written().rename(path)
    monkeypatch.setenv("FICTL_AUTOTUNER_LOAD_FROM_FILE", "1")
    assert function(ROWS) == split(4)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"gpu": "NVIDIA B200"}, "tuned on NVIDIA B200, this is the emulated device"),
        ({"driver": "535"}, "tuned with driver 535"),
        ({"schema": "fictl.tactics/9"}, r"it is fictl\.tactics/9"),
        ({"kernel": "another"}, "its kernel was changed since"),
        ({"kernel": ""}, "its kernel was changed since"),
        ({"ops": []}, "not a file of tuned tactics: ops"),
        ({"gpu": None}, "not a file of tuned tactics: gpu"),
    ],
)
def test_a_file_that_does_not_fit_is_ignored_and_said(
    change: dict[str, Any],
    why: str,
    written: Any,
    function: Any,
    split: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    written(**change)
    with caplog.at_level(logging.WARNING, "fictl"):
        assert [function(ROWS), function(ROWS)] == [split(1)] * 2
    assert len(caplog.records) == 1
    assert re.search(why, caplog.text)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]"])
def test_a_corrupt_file_is_ignored_and_said(
    content: bytes, written: Any, function: Any, split: Any, caplog: pytest.LogCaptureFixture
) -> None:
    written().write_bytes(content)
    assert function(ROWS) == split(1)
    assert "tuned tactics are ignored" in caplog.text


def test_a_file_that_is_not_there_is_said(
    written: Any, function: Any, split: Any, caplog: pytest.LogCaptureFixture
) -> None:
    written().unlink()
    assert function(ROWS) == split(1)
    assert "there is no such file" in caplog.text


def test_a_tactic_that_the_op_no_longer_has_is_none(
    written: Any, function: Any, split: Any
) -> None:
    written(entry={"winner": {"parts": 16}})
    assert function(ROWS) == split(1)


def test_what_is_compiled_uses_the_file_too(written: Any, function: Any) -> None:
    written()
    torch.compiler.reset()
    compiled = torch.compile(lambda q: (q * 2, function(q).parts), fullgraph=True, backend="eager")
    assert compiled(ROWS)[1] == 4


def test_a_gpu_and_its_driver_have_a_file_of_their_own() -> None:
    paths = {
        recorded.default_path(Machine(gpu, driver))
        for gpu in ("NVIDIA H200", "NVIDIA H200 NVL")
        for driver in ("580.65.06", "570.1")
    }
    assert {path.name for path in paths} == {
        "NVIDIA-H200-580.json",
        "NVIDIA-H200-570.json",
        "NVIDIA-H200-NVL-580.json",
        "NVIDIA-H200-NVL-570.json",
    }
