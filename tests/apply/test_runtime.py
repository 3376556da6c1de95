"""Calls that a solution serves, calls that fall back, and what happens when a solution fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.apply import ApplyConfig, ApplyRuntime
from fictl.errors import FictlError

from .samples import FAST, SLOW, contest, dataset, definition, returning, solution, trace, writing


def ones(m: int) -> torch.Tensor:
    return torch.ones(m, 4)


def never(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("the fallback was called")


@pytest.fixture(params=[returning, writing], ids=["returning", "writing"])
def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> ApplyRuntime:
    return ApplyRuntime(contest(tmp_path / "ds", request.param))


def one(root: Path, code: str, config: ApplyConfig | None = None, **options: Any) -> ApplyRuntime:
    """A runtime of a single solution, evaluated at M=2."""
    own = solution("own", code, **options)
    made = dataset(root / "ds", [own], [trace(own, 2, 2.0)])
    return ApplyRuntime(made, config)


def mark(result: Any) -> float:
    """The number that the solution added to 1 + 1."""
    return float(result.flatten()[0]) - 2


def test_the_winner_at_these_sizes_runs(runtime: ApplyRuntime) -> None:
    assert mark(runtime.dispatch("add", (ones(2), ones(2)), {}, never)) == FAST
    assert mark(runtime.dispatch("add", (ones(3), ones(3)), {}, never)) == SLOW


@pytest.mark.parametrize("args", [1, 0])
def test_arguments_may_be_named(runtime: ApplyRuntime, args: int) -> None:
    tensors = {"X": ones(2), "Y": ones(2)}
    given, named = (*tensors.values(),)[:args], dict([*tensors.items()][args:])
    assert mark(runtime.dispatch("add", given, named, never)) == FAST


@pytest.mark.parametrize("args", [3, 2])
def test_outputs_that_are_given_are_written(runtime: ApplyRuntime, args: int) -> None:
    tensors = {"X": ones(2), "Y": ones(2), "Z": torch.empty(2, 4)}
    given, named = (*tensors.values(),)[:args], dict([*tensors.items()][args:])
    assert runtime.dispatch("add", given, named, never) is None
    assert mark(tensors["Z"]) == FAST


def test_an_output_that_shares_memory_with_an_input_is_written_at_the_end(tmp_path: Path) -> None:
    code = "def run(X, Y, Z):\n    Z.zero_()\n    Z.copy_(X + Y)\n"
    runtime, x = one(tmp_path, code, writes=True), ones(2)
    assert runtime.dispatch("add", (x, ones(2), x), {}, never) is None
    assert x.tolist() == (2 * ones(2)).tolist()


def test_other_sizes_fall_back_or_raise(runtime: ApplyRuntime) -> None:
    args = (ones(99), ones(99))
    assert runtime.dispatch("add", args, {}, lambda *_: "fallback") == "fallback"
    assert runtime.dispatch("add", (*args, ones(99)), {}, lambda *_: "fallback") == "fallback"
    with pytest.raises(RuntimeError, match="no solution passed at these sizes"):
        runtime.dispatch("add", args, {}, None)


def test_other_sizes_may_have_the_best_of_all(tmp_path: Path) -> None:
    config = ApplyConfig(on_miss_policy="use_def_best", aot_ratio=0.0)
    runtime = ApplyRuntime(contest(tmp_path / "ds"), config)
    assert mark(runtime.dispatch("add", (ones(99), ones(99)), {}, None)) == FAST
    out = torch.empty(99, 4)
    assert runtime.dispatch("add", (ones(99), ones(99), out), {}, None) is None
    assert mark(out) == FAST


def test_an_unknown_definition_falls_back_or_raises(runtime: ApplyRuntime) -> None:
    assert runtime.dispatch("none", (1,), {"b": 2}, lambda a, b: a + b) == 3
    with pytest.raises(RuntimeError, match="no definition 'none'"):
        runtime.dispatch("none", (1,), {}, None)


def test_a_wrong_number_of_arguments_is_the_fallbacks_to_judge(runtime: ApplyRuntime) -> None:
    with pytest.raises(ValueError, match="1 argument"):
        runtime.dispatch("add", (ones(2),), {}, None)
    assert runtime.dispatch("add", (ones(2),), {}, lambda x: "one") == "one"
    with pytest.raises(ValueError, match="no more; it has X, Y, Z"):
        runtime.dispatch("add", (ones(2), ones(2)), {"more": 1}, None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x.half(), r"torch\.float16"),
        (lambda x: torch.ones(2, 8)[:, ::2], "not contiguous"),
        (lambda x: torch.ones(9)[1:].view(2, 4), "not aligned"),
        (lambda x: x.requires_grad_(), "requires a gradient"),
        (lambda x: x.tolist(), "list"),
        (lambda x: torch.ones(2, 5), "size 5"),
        (lambda x: x.to("meta"), "on cpu"),
    ],
    ids=["dtype", "stride", "alignment", "gradient", "list", "constant axis", "device"],
)
def test_what_no_judge_has_tried_falls_back(
    runtime: ApplyRuntime, change: Callable[[torch.Tensor], Any], words: str
) -> None:
    import re

    args = (change(ones(2)), ones(2))
    assert runtime.dispatch("add", args, {}, lambda *_: "fallback") == "fallback"
    explanation = runtime.explain("add", args)
    assert not explanation.applies
    assert re.search(words, explanation.why)


def test_a_solution_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fictl.runnable import BuilderRegistry

    builds: list[Any] = []
    build = BuilderRegistry.build
    monkeypatch.setattr(BuilderRegistry, "build", lambda *args: builds.append(args) or build(*args))
    runtime = ApplyRuntime(contest(tmp_path / "ds"), ApplyConfig(aot_ratio=0.0)).start()
    assert builds == []
    for _ in range(3):
        runtime.dispatch("add", (ones(2), ones(2)), {}, never)
    assert len(builds) == 1


@pytest.mark.parametrize(("ratio", "count"), [(0.0, 0), (0.5, 1), (1.0, 2)])
def test_a_share_is_built_when_apply_is_enabled(tmp_path: Path, ratio: float, count: int) -> None:
    runtime = ApplyRuntime(contest(tmp_path / "ds"), ApplyConfig(aot_ratio=ratio)).start()
    winners = runtime.table.winners()
    assert sum(runtime.solutions.is_built(*pair) for pair in winners) == count


def test_one_that_does_not_build_falls_back_with_a_warning(tmp_path: Path, caplog: Any) -> None:
    runtime = one(tmp_path, "import no_such_module\ndef run(X, Y): ...\n")
    for _ in range(2):
        assert runtime.dispatch("add", (ones(2), ones(2)), {}, lambda *_: "fallback") == "fallback"
    assert caplog.text.count("is not applied any more") == 1
    assert "does not build" in runtime.explain("add", (ones(2), ones(2))).why


RAISES = "def run(X, Y):\n    raise KeyError('its own')\n"


def test_one_that_raises_is_struck_and_the_fallback_runs(tmp_path: Path, caplog: Any) -> None:
    runtime = one(tmp_path, RAISES)
    for _ in range(2):
        assert runtime.dispatch("add", (ones(2), ones(2)), {}, lambda *_: "fallback") == "fallback"
    assert caplog.text.count("raised KeyError") == 1


def test_one_that_raises_where_nothing_can_repair_it_raises(tmp_path: Path) -> None:
    runtime = one(tmp_path / "a", RAISES)
    with pytest.raises(FictlError, match="own of add raised KeyError"):
        runtime.dispatch("add", (ones(2), ones(2)), {}, None)
    own = solution("own", RAISES, of="into")
    in_place = dataset(
        tmp_path / "b", [own], [trace(own, 2, 2.0)], definition("into", outputs=("X",))
    )
    with pytest.raises(FictlError, match="own of into raised KeyError"):
        ApplyRuntime(in_place).dispatch("into", (ones(2), ones(2)), {}, never)


def test_a_solution_that_calls_what_it_replaces_gets_the_fallback(tmp_path: Path) -> None:
    code = (
        "from fictl.apply import apply\n"
        "def run(X, Y):\n"
        "    return apply('add', (X, Y), fallback=lambda X, Y: X + Y + 5)\n"
    )
    with one(tmp_path, code) as runtime:
        assert mark(runtime.dispatch("add", (ones(2), ones(2)), {}, never)) == 5


def test_runtimes_are_nested(tmp_path: Path) -> None:
    first = ApplyRuntime(contest(tmp_path / "a"))
    second = one(tmp_path / "b", "def run(X, Y):\n    return X\n")
    with first:
        with second:
            assert ApplyRuntime.current() is second
            with pytest.raises(FictlError, match="stop that one first"):
                first.stop()
        assert ApplyRuntime.current() is first
        assert first.start() is first
    assert ApplyRuntime.current() is None


def test_under_vmap_and_inside_a_compile_the_fallback_runs(runtime: ApplyRuntime) -> None:
    result = torch.vmap(lambda x: runtime.dispatch("add", (x, x), {}, lambda a, b: a - b))
    assert float(result(torch.ones(3, 2, 4)).sum()) == 0


def test_threads_get_their_own_results(runtime: ApplyRuntime) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def call(n: int) -> float:
        m = 2 + n % 2
        return mark(runtime.dispatch("add", (ones(m), ones(m)), {}, never))

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(call, range(64))] == [FAST, SLOW] * 32


def test_a_dataset_that_others_can_write_is_refused(tmp_path: Path) -> None:
    made = contest(tmp_path / "ds")
    next((tmp_path / "ds" / "solutions").rglob("*.json")).chmod(0o666)
    with pytest.raises(FictlError, match="can be written by others"):
        ApplyRuntime(made)


def test_sources_that_change_under_a_running_program_do_not_run(tmp_path: Path) -> None:
    made = contest(tmp_path / "ds")
    runtime = ApplyRuntime(made, ApplyConfig(aot_ratio=0.0))
    made.__dict__.pop("_solutions", None)
    path = next((tmp_path / "ds" / "solutions").rglob("add_fast.json"))
    path.write_text(path.read_text().replace("100.0", "666.0"))
    result = runtime.dispatch("add", (ones(2), ones(2)), {}, lambda *_: "fallback")
    assert result == "fallback"


def test_explain_names_the_winner_and_the_refused(tmp_path: Path) -> None:
    fast, slow = returning("add_fast", FAST), returning("add_slow", SLOW)
    wrong = trace(slow, 2, 1.0, status="TIMEOUT")
    runtime = ApplyRuntime(dataset(tmp_path / "ds", [fast, slow], [trace(fast, 2, 3.0), wrong]))
    explanation = runtime.explain("add", (ones(2),), {"Y": ones(2)})
    assert (explanation.applies, explanation.solution) == (True, "add_fast")
    assert str(explanation).splitlines() == [
        "add runs add_fast by me at M=2: 3.00x the reference",
        "  ✗ add_slow: it was TIMEOUT on workload m2",
    ]
    missed = runtime.explain("add", (ones(5), ones(5)))
    assert "there are M=2" in str(missed)
    assert missed.to_dict()["applies"] is False
