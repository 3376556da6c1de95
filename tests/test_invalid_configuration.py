"""What is no configuration raises what Python's users catch: ValueError, TypeError, FileNotFoundError.

Over everything of the public API that takes a value that can be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl import settings
from fictl.arch import Arch, ArchRule, parse_archs
from fictl.dtype import parse_dtype
from fictl.errors import FictlError
from fictl.jit import gen_jit_spec
from fictl.judge.config import EvalConfig
from fictl.op import backend_requirement, supported_compute_capability
from fictl.project import Project, find
from fictl.quantity import parse_size
from fictl.trace import Definition, Solution, TraceSet, Workload

WRONG_VALUES: dict[str, Callable[[], Any]] = {
    "an architecture": lambda: Arch.parse("x86_64"),
    "architectures": lambda: parse_archs("9.0a x86_64"),
    "a rule": lambda: ArchRule.parse(">=x"),
    "a dtype": lambda: parse_dtype("float17"),
    "a size": lambda: parse_size("many"),
    "a capability": lambda: supported_compute_capability("9.x"),
    "no capability": lambda: supported_compute_capability([]),
    "a backend": lambda: backend_requirement({"auto": lambda backend: True})(
        lambda q, backend="auto": q
    ),
    "warm-up": lambda: EvalConfig(warmup_runs=-1),
    "iterations": lambda: EvalConfig(iterations=0),
    "trials": lambda: EvalConfig(num_trials=0),
    "a tolerance": lambda: EvalConfig(rtol=-1.0),
    "not a number": lambda: EvalConfig(atol=float("nan")),
    "a share": lambda: EvalConfig(required_matched_ratio=2.0),
    "a timeout": lambda: EvalConfig(timeout_seconds=0),
    "a device": lambda: EvalConfig(device="tpu"),
    "a formula": lambda: EvalConfig(formula="none"),
    "a flag": lambda: EvalConfig(untrusted="yes"),
    "an op": lambda: find("no_such_op"),
    "a module's name": lambda: gen_jit_spec("not a name", ["x.cu"]),
    "no sources": lambda: gen_jit_spec("name", []),
    "a definition": lambda: Definition.model_validate({"name": "x"}),
    "a solution": lambda: Solution.model_validate({}),
    "a workload": lambda: Workload.model_validate({"axes": {"n": -1}}),
}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_a_wrong_value_is_a_value_error(name: str) -> None:
    with pytest.raises(ValueError):
        WRONG_VALUES[name]()


SETTINGS = {each.name: each for each in settings.SETTINGS}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_cannot_be_read_is_a_value_error(name: str, monkeypatch) -> None:
    text = "\N{SNOWMAN} 'no value"
    try:
        SETTINGS[name].parse(text)
    except ValueError:
        monkeypatch.setenv(name, text)
        with pytest.raises(ValueError, match=rf"{name}=.* cannot be read") as caught:
            SETTINGS[name].get()
        assert isinstance(caught.value, FictlError)


@pytest.mark.parametrize("value", [9.0, 90, None, b"9.0a", ["9.0a"]])
def test_a_value_of_another_type_is_a_type_error(value: Any) -> None:
    for read in (Arch.parse, ArchRule.parse, parse_archs, parse_dtype):
        with pytest.raises(TypeError) as caught:
            read(value)
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, FictlError)


def test_a_capability_of_another_type_is_a_type_error() -> None:
    for value in (9.0, True):
        with pytest.raises(TypeError):
            supported_compute_capability(value)


def test_a_file_that_is_not_there_is_a_file_not_found_error(tmp_path: Path) -> None:
    from fictl.bench.result import load
    from fictl.judge.config_file import config_file
    from fictl.op.watch.dump.record import Record
    from fictl.trace.dataset.safetensors_header import read_header
    from fictl.trace.documents.reading import read_document

    missing = tmp_path / "nowhere"
    readers: list[Callable[[], Any]] = [
        lambda: load(missing),
        lambda: config_file(tmp_path, missing),
        lambda: Record.read(missing),
        lambda: read_header(missing),
        lambda: read_document(Definition, missing, 1 << 20),
        lambda: TraceSet.from_path(missing),
        lambda: gen_jit_spec("name", [missing]),
    ]
    for read in readers:
        with pytest.raises(FileNotFoundError) as caught:
            read()
        assert isinstance(caught.value, FictlError)
        assert str(missing) in caught.value.message


def test_a_project_that_cannot_be_read_is_a_value_error(tmp_path: Path) -> None:
    (tmp_path / "fictl.toml").write_text("name = 3", encoding="utf-8")
    with pytest.raises(ValueError, match=r"fictl\.toml:1: name = 3"):
        Project.of(tmp_path)
