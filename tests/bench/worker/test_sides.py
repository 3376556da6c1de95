from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from fictl.bench.options import BenchOptions
from fictl.bench.worker.sides import contenders, declared_baselines, missing_baselines
from fictl.case.subject import of_function
from fictl.errors import UsageError
from fictl.project import OpFolder


def module(**names: Any) -> ModuleType:
    return cast("ModuleType", SimpleNamespace(**names))


def test_a_bench_may_have_no_baselines() -> None:
    assert declared_baselines(module(), "f") == {}


def test_baselines_may_depend_on_the_function() -> None:
    assert declared_baselines(module(baselines=lambda: {"a": len}), "f") == {"a": len}
    assert list(declared_baselines(module(baselines=lambda name: {name: len}), "f")) == ["f"]


def sides(folder: OpFolder, **options: Any) -> list[str]:
    subject = of_function(folder, "right", "key")
    return [
        c.name for c in contenders(folder, subject, BenchOptions(**options), folder.load("bench"))
    ]


def test_the_op_comes_first_and_baselines_as_they_are_asked_for(hostile: OpFolder) -> None:
    assert sides(hostile) == ["fictl"]
    assert sides(hostile, baselines=("prepared", "torch")) == ["fictl", "prepared", "torch"]


def test_all_is_every_baseline_that_is_declared(hostile: OpFolder) -> None:
    found = sides(hostile, baselines=("all",))
    assert found == ["fictl", "torch", "tripled", "prepared", "absent"]


def test_a_baseline_that_is_not_declared_is_missed(hostile: OpFolder) -> None:
    asked = BenchOptions(baselines=("torch", "cudnn", "all"))
    assert missing_baselines(hostile, {"right"}, asked) == ["cudnn"]


def test_an_unknown_backend_is_an_error(hostile: OpFolder) -> None:
    with pytest.raises(UsageError, match="right has no backend sm90") as caught:
        sides(hostile, backends=("sm90",))
    assert caught.value.hint == "it has none: leave --backend out"


def test_backends_are_sides_under_their_names(hostile: OpFolder) -> None:
    text = hostile.op.read_text(encoding="utf-8")
    declared = text.replace(
        '@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")\ndef right(input: '
        "torch.Tensor, out: torch.Tensor | None = None)",
        '@op(backends={"sm90": "9.0a", "sm80": ">=8.0"}, dtypes="f32", devices="cuda emu", '
        'mutates="out")\ndef right(input: torch.Tensor, out: torch.Tensor | None = None, '
        'backend: str = "auto")',
    )
    assert declared != text
    hostile.op.write_text(declared, encoding="utf-8")
    assert sides(hostile, backends=("all",)) == ["sm90", "sm80"]
    assert sides(hostile, backends=("sm80",)) == ["sm80"]
