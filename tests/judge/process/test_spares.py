"""Processes that wait for a solution: each is used once, and none survives its owner."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fictl.child.family import Member, descendants
from fictl.judge import Judge
from fictl.judge.inside.roles import REFERENCE, SOLUTION
from fictl.judge.process import spares as module
from fictl.judge.process.sandboxed_process import SandboxedProcess
from fictl.judge.process.scratch import scratch_root
from fictl.judge.process.spares import For, Spare, Spares
from fictl.judge.process.spawn import zygote
from fictl.judge.reference import Reference
from fictl.toolchain.smi import Smi

from ..judge_runs import CONFIG, WORKLOAD, definition, said, solution

TELLS = """
import os
print("process", os.getpid(), os.getcwd())
def run(x, s):
    return x * s
"""
QUICK = replace(CONFIG, profile_baseline=False)
WARM = {"op": "warm", "device": "cpu", "records": False}


@pytest.fixture
def spares() -> Iterator[Spares]:
    made = Spares(For("cpu"))
    yield made
    made.close()


def settle(spares: Spares) -> None:
    """Wait until all are ready."""
    for spare in spares._spares:
        assert spare.is_ready()


def begin_again(spares: Spares) -> None:
    """Have them look as if they were starting, until `ask` and their answer."""
    settle(spares)
    for spare in spares._spares:
        spare.token = "again"


def ask(spare: Spare) -> None:
    spare.token = spare.sandboxed.tell(WARM, time.monotonic() + 30)


def below_supervisors() -> list[Member]:
    """Return the processes of this one's sandboxed processes, but for their supervisors."""
    root = zygote()._popen.pid
    return [process for process in descendants(root) if process.parent != root]


def folders() -> set[str]:
    return {
        path.name for path in scratch_root().iterdir() if path.name.startswith(f"{os.getpid()}-")
    }


def test_each_is_used_once_and_nothing_stays(spares: Spares) -> None:
    before = folders()
    spares.refill()
    settle(spares)
    with Reference(definition(), "cpu", spares=spares) as reference:
        seen = []
        for name in ("first", "second"):
            tried = solution(TELLS + f"# {name}")
            with Judge(definition(), tried, QUICK, reference=reference, spares=spares) as judge:
                found = judge.evaluate(WORKLOAD)
            assert found.status.value == "PASSED", said(found)
            assert "/home" in found.log
            seen.append(found.log)
        assert seen[0] != seen[1]
    assert [spare.role for spare in spares._spares].count(SOLUTION) == 2
    spares.close()
    assert folders() == before


def test_a_solution_cannot_write_to_the_folder_of_a_spare(spares: Spares) -> None:
    spares.refill()
    first, second = spares.take(SOLUTION), spares.take(SOLUTION)
    assert first is not None
    assert second is not None
    assert first.folder != second.folder
    assert first.sandboxed.policy == second.sandboxed.policy
    writes = f"""
from pathlib import Path
def tried(path):
    try:
        Path(path).write_text("x")
        return "wrote"
    except OSError:
        return "refused"
print(tried({str(second.folder / "home" / "x")!r}))
def run(x, s):
    return x * s
"""
    with Judge(definition(), solution(writes), QUICK) as judge:
        found = judge.evaluate(WORKLOAD)
    assert "refused" in found.log or found.fictl["sandbox"] == "none"  # type: ignore[index]
    for spare in (first, second):
        spare.close()


def test_one_that_ended_is_nobodys_fault(spares: Spares) -> None:
    spares.refill()
    settle(spares)
    for spare in spares._spares:
        spare.sandboxed.end_soon()
        spare.token = "again"
    assert spares.take(SOLUTION) is None
    with Judge(definition(), solution(TELLS), QUICK, spares=spares) as judge:
        assert judge.evaluate(WORKLOAD).status.value == "PASSED"


def test_there_are_as_many_as_a_definition_needs(spares: Spares) -> None:
    spares.refill()
    spares.refill()
    assert sorted(spare.role for spare in spares._spares) == [REFERENCE, SOLUTION, SOLUTION]
    taken = spares.take(REFERENCE)
    assert taken is not None
    assert spares.take(REFERENCE) is None
    taken.close()


@pytest.mark.parametrize("is_quiet", [False, True])
def test_they_end_with_their_owner(tmp_path: Path, is_quiet: bool) -> None:
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            made = Spares(For("cpu"))
            made.refill()
            begin_again(made)
            with made.quiet() if is_quiet else nullcontext():
                below = [process.pid for process in descendants(os.getpid())]
                (tmp_path / "pids").write_text(" ".join(map(str, below)))
                os.kill(os.getpid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) > 3
    deadline = time.monotonic() + 20
    while left := [pid for pid in pids if os.path.exists(f"/proc/{pid}/exe")]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def gone(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}/exe")


def test_what_was_retired_has_gone_with_its_folder_before_anything_is_timed(spares: Spares) -> None:
    spares.refill()
    settle(spares)
    first = spares.take(SOLUTION)
    assert first is not None
    spares.retire(first.sandboxed, first.scratch)
    with spares.quiet():
        assert not first.scratch.exists()
        assert first.sandboxed.survey() is None


def test_what_comes_to_closed_spares_ends_at_once(spares: Spares) -> None:
    spares.refill()
    late = spares.take(SOLUTION)
    assert late is not None
    spares.close()
    assert late.scratch.exists()
    spares.retire(late.sandboxed, late.scratch)
    assert not late.scratch.exists()


def test_a_judge_and_its_reference_leave_by_the_spares(spares: Spares) -> None:
    before = folders()
    spares.refill()
    with Reference(definition(), "cpu", spares=spares) as reference:
        config = replace(CONFIG, device="cpu")
        with Judge(
            definition(), solution(TELLS), config, reference=reference, spares=spares
        ) as judge:
            found = judge.evaluate(WORKLOAD)
    assert found.status.value == "PASSED", said(found)
    assert len(spares._leaving) == 3  # The solution's, the reference's, and what times that.
    left = int(found.log.split()[1])
    spares.depart()
    assert not spares._leaving
    assert gone(left) or "pidns" in found.fictl["sandbox"]  # type: ignore[index]
    spares.close()
    assert folders() == before


@pytest.mark.parametrize(
    ("sizes", "evaluations"),
    [(("143771",), 4), (("143771", "24564"), 1), (("24564",), 1), (("",), 1), ((), 1), (None, 1)],
)
def test_on_a_large_gpu_there_are_those_of_some_evaluations(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[str, ...] | None, evaluations: int
) -> None:
    smi = None if sizes is None else Smi(tuple({"memory.total": size} for size in sizes))
    monkeypatch.setattr(module, "read_smi", lambda: smi)
    assert Spares(For("cuda"))._ahead == evaluations


@pytest.mark.parametrize(
    ("stays", "started"),
    [(True, [SOLUTION] * 3), (False, [REFERENCE, SOLUTION, SOLUTION] * 2)],
)
def test_one_starts_for_each_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, stays: bool, started: list[str]
) -> None:
    made = Spares(For("cpu"), ahead=3)
    made.reference_stays = stays
    sandboxed: Any = object()
    monkeypatch.setattr(made, "_started", lambda role: Spare(role, sandboxed, Path()))
    made.refill()
    assert sorted(spare.role for spare in made._spares) == sorted(started)
    first = made._spares.pop()
    rest = [*made._spares]
    made.refill()
    assert made._spares[:-1] == rest
    assert made._spares[-1].role == first.role


def test_those_that_start_are_stopped_while_it_is_quiet(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    with spares.quiet():
        assert len(below_supervisors()) >= 3 * len(spares._spares)
        assert all(process.is_stopped() for process in below_supervisors())
        for spare in spares._spares:
            ask(spare)
            assert spare.is_starting()
    settle(spares)


def test_those_that_were_just_forked_are_stopped_too(
    spares: Spares, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SandboxedProcess, "has_answered", lambda self: False)
    spares.refill()
    with spares.quiet():
        assert below_supervisors()
        assert all(process.is_stopped() for process in below_supervisors())
    settle(spares)


def test_ready_ones_are_left_alone(spares: Spares) -> None:
    spares.refill()
    settle(spares)
    with spares.quiet():
        assert not any(process.is_stopped() for process in below_supervisors())


def test_none_starts_while_it_is_quiet(spares: Spares) -> None:
    with spares.quiet():
        spares.refill()
        assert not spares._spares


def test_they_go_on_after_an_exception(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    with pytest.raises(KeyError), spares.quiet():
        raise KeyError
    for spare in spares._spares:
        ask(spare)
    settle(spares)


def test_they_are_stopped_again_and_again(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    for _ in range(3):
        with spares.quiet():
            assert all(process.is_stopped() for process in below_supervisors())
    for spare in spares._spares:
        ask(spare)
    settle(spares)


def test_one_that_is_needed_in_quiet_goes_on(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    with spares.quiet():
        (wanted,) = (spare for spare in spares._spares if spare.role == REFERENCE)
        ask(wanted)
        assert spares.take(REFERENCE) is wanted
        assert len(spares._stopped) == len(spares._spares) == 2
    wanted.close()


def test_one_that_was_killed_while_it_was_stopped_is_nobodys_fault(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    with spares.quiet():
        for process in below_supervisors():
            process.signal(signal.SIGKILL)
    assert spares.take(SOLUTION) is None
    assert [spare.role for spare in spares._spares] == [REFERENCE]


def test_one_that_does_not_stop_is_ended(spares: Spares, monkeypatch: pytest.MonkeyPatch) -> None:
    spares.refill()
    begin_again(spares)
    stubborn = spares._spares[0]
    monkeypatch.setattr(stubborn.sandboxed, "has_stopped", lambda: False)
    with spares.quiet():
        assert stubborn not in spares._spares
        assert stubborn.sandboxed.survey() is None


def test_closing_ends_those_that_are_stopped(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    with spares.quiet():
        spares.close()
        assert not below_supervisors()


def test_the_time_of_a_stop_is_not_that_of_a_start(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    before = [spare.deadline for spare in spares._spares]
    start = time.monotonic()
    with spares.quiet():
        began = time.monotonic()
        assert all(process.is_stopped() for process in below_supervisors())
        least = time.monotonic() - began
    most = time.monotonic() - start
    for spare, deadline in zip(spares._spares, before, strict=True):
        assert least <= spare.deadline - deadline <= most


def test_one_that_never_gets_ready_is_replaced(spares: Spares) -> None:
    spares.refill()
    begin_again(spares)
    late = spares._spares[0]
    late.deadline = time.monotonic()
    spares.refill()
    assert late not in spares._spares
    assert late.sandboxed.survey() is None
    assert len(spares._spares) == 3


def test_a_ready_one_is_taken_before_one_that_starts(spares: Spares) -> None:
    spares.refill()
    settle(spares)
    first, second = (spare for spare in spares._spares if spare.role == SOLUTION)
    first.token = "again"
    assert spares.take(SOLUTION) is second
    second.close()


COMPILES = """
import os
from pathlib import Path
kept = Path(os.environ["TRITON_CACHE_DIR"])
home = Path(os.environ["HOME"]) / "kept"
print("found", kept.exists(), home.exists(), os.getcwd())
kept.mkdir(parents=True, exist_ok=True)
home.write_text("x")
def run(x, s):
    return x * s
"""


def test_the_next_process_of_a_solution_is_a_ready_one_and_has_what_it_compiled(
    spares: Spares,
) -> None:
    before = folders()
    spares.refill()
    with Judge(definition(), solution(COMPILES), QUICK, isolated=True, spares=spares) as judge:
        logs = [judge.evaluate(WORKLOAD).log.split() for _ in range(2)]
    assert [log[:3] for log in logs] == [["found", "False", "False"], ["found", "True", "False"]]
    assert logs[0][3] != logs[1][3]
    spares.close()
    assert folders() == before
