"""Two revisions in one run: what each has, and that a slower one is found out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fictl import settings
from fictl.bench.bench_ops import Measurement
from fictl.bench.compare.revisions import compare_revisions
from fictl.bench.messages import RevisionsRequest
from fictl.bench.options import BenchOptions
from fictl.errors import UsageError
from fictl.timing.verdict import Verdict

_QUICK = BenchOptions(rounds=10, max_seconds=10.0)
_SLOW = """
int twice(int value) {
  for (volatile int i = 0; i < 1000000; ++i) {}
  return 2 * value;
}
"""


@pytest.fixture
def op(tiny: Path) -> Path:
    return tiny / "kernels" / "elementwise" / "twice"


@pytest.fixture
def emulated(users_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.DEVICE.name, "emu")


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, row, report) -> list[RevisionsRequest]:
    """What would be run, which both revisions answer alike; whether its files were there."""
    asked: list[RevisionsRequest] = []

    def measure(jobs: Sequence[Measurement], observer: Any) -> Any:
        them = [job.request for job in jobs]
        assert all(Path(op).is_file() for each in them for op in each.sides.values())
        asked.extend(them)
        return report(*(row(side=label, op=each.op) for each in them for label in each.sides))

    monkeypatch.setattr("fictl.bench.compare.revisions.measure", measure)
    return asked


def slow_down(op: Path) -> None:
    launcher = op / "launcher.cu"
    text = launcher.read_text(encoding="utf-8")
    fast = "int twice(int value) { return 2 * value; }"
    assert fast in text
    launcher.write_text(text.replace(fast, _SLOW), encoding="utf-8")


def test_a_slower_working_tree_is_slower(history, emulated, op) -> None:
    slow_down(op)
    found = compare_revisions([], "HEAD", ".", 0.01, _QUICK)
    (case,) = found.cases
    assert case.comparison.verdict is Verdict.SLOWER, found
    assert (found.b, found.how) == ("working tree", "interleaved in one run")
    assert (case.op, case.case) == ("tiny/elementwise/twice", "twice-1-int32")


def test_a_wrong_revision_is_not_timed(history, emulated, op) -> None:
    slow_down(op)
    history("slow")
    binding = op / "launcher.cu"
    text = binding.read_text(encoding="utf-8").replace("return 2 * value", "return 3 * value")
    binding.write_text(text, encoding="utf-8")
    found = compare_revisions([], "HEAD", ".", 0.01, _QUICK)
    assert not found.cases
    (untimed,) = found.untimed
    assert (untimed.who, untimed.fails) == ("working tree", True)
    assert "9" in untimed.why
    assert found.exit_code == 1


@pytest.mark.parametrize("ops", [[], ["twice"], ["tiny/twice"], ["elementwise"]])
def test_the_newer_one_comes_first(history, requests, ops: list[str]) -> None:
    first = history("second")[:7]
    compare_revisions(ops, "HEAD", ".", 0.01)
    (request,) = requests
    assert request.op == "tiny/elementwise/twice"
    assert list(request.sides) == ["working tree", f"HEAD ({first})"]
    assert request.functions == ("twice",)


def test_two_commits_need_nothing_of_what_lies_here(history, requests, op) -> None:
    history("second")
    (op / "op.py").write_text("this is no Python", encoding="utf-8")
    compare_revisions([], "HEAD~1", "HEAD", 0.01)
    assert len(requests) == 1


def test_functions_that_one_lacks_are_listed(history, requests, op) -> None:
    text = (op / "op.py").read_text(encoding="utf-8")
    (op / "op.py").write_text(_with(text, "thrice"), encoding="utf-8")
    history("thrice")
    (op / "op.py").write_text(_with(text, "fourfold"), encoding="utf-8")
    found = compare_revisions([], "HEAD", ".", 0.01)
    assert (found.only_a, found.only_b) == (("thrice",), ("fourfold",))
    assert requests[0].functions == ("twice",)


def test_a_new_op_is_listed(history, requests, tiny, op) -> None:
    text = (op / "op.py").read_text(encoding="utf-8")
    (op.parent / "thrice").mkdir()
    (op.parent / "thrice" / "op.py").write_text(text.replace("twice", "thrice"), encoding="utf-8")
    assert compare_revisions([], "HEAD", ".", 0.01).only_b == ("thrice",)


def test_an_op_that_is_gone_is_listed(history, requests, op) -> None:
    text = (op / "op.py").read_text(encoding="utf-8")
    (op.parent / "thrice").mkdir()
    gone = op.parent / "thrice" / "op.py"
    gone.write_text(text.replace("twice", "thrice"), encoding="utf-8")
    history("thrice")
    gone.unlink()
    assert compare_revisions([], "HEAD", ".", 0.01).only_a == ("thrice",)
    assert compare_revisions(["twice"], "HEAD", ".", 0.01).only_a == ()


def test_a_function_that_moved_is_compared_with_where_it_was(history, requests, op) -> None:
    op.rename(op.with_name("moved"))
    found = compare_revisions([], "HEAD", ".", 0.01)
    (request,) = requests
    assert request.op == "tiny/elementwise/moved"
    now, before = request.sides.values()
    assert (Path(now).parent.name, Path(before).parent.name) == ("moved", "twice")
    assert (found.only_a, found.only_b) == ((), ())


def test_nothing_in_common_is_refused(history, requests, op) -> None:
    text = (op / "op.py").read_text(encoding="utf-8")
    (op / "op.py").write_text(text.replace("def twice", "def thrice"), encoding="utf-8")
    with pytest.raises(UsageError, match="have none of the functions in common"):
        compare_revisions([], "HEAD", ".", 0.01)


@pytest.mark.parametrize(("a", "b"), [(".", "."), ("HEAD", "HEAD"), ("HEAD", "master")])
def test_a_revision_is_not_compared_with_itself(
    history: Callable[[str], str], requests, a: str, b: str
) -> None:
    with pytest.raises(UsageError, match="are the same"):
        compare_revisions([], a, b, 0.01)


def _with(text: str, function: str) -> str:
    declared = text[text.index("@op") :]
    return f"{text}\n\n{declared.replace('def twice', f'def {function}')}"
