"""Processes that wait for a solution: each is used once, and none survives its owner."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fictl.child.family import descendants
from fictl.judge import Judge
from fictl.judge.inside.roles import REFERENCE, SOLUTION
from fictl.judge.process import spares as module
from fictl.judge.process.scratch import scratch_root
from fictl.judge.process.spares import For, Spares
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


@pytest.fixture
def spares() -> Iterator[Spares]:
    made = Spares(For("cpu"))
    yield made
    made.close()


def folders() -> set[str]:
    return {
        path.name for path in scratch_root().iterdir() if path.name.startswith(f"{os.getpid()}-")
    }


def test_each_is_used_once_and_nothing_stays(spares: Spares) -> None:
    before = folders()
    spares.refill()
    spares.settle()
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
    spares.settle()
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


def test_they_end_with_their_owner(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            made = Spares(For("cpu"))
            made.refill()
            made.settle()
            below = [process.pid for process in descendants(os.getpid())]
            (tmp_path / "pids").write_text(" ".join(map(str, below)))
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
    spares.settle()
    first = spares.take(SOLUTION)
    assert first is not None
    spares.retire(first.sandboxed, first.scratch)
    spares.refill()
    spares.settle()
    assert not first.scratch.exists()
    assert first.sandboxed.survey() is None
    assert len(spares._spares) == 3


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
def test_on_a_large_gpu_those_of_some_evaluations_start_together(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[str, ...] | None, evaluations: int
) -> None:
    smi = None if sizes is None else Smi(tuple({"memory.total": size} for size in sizes))
    monkeypatch.setattr(module, "read_smi", lambda: smi)
    assert Spares(For("cuda"))._ahead == evaluations


@pytest.mark.parametrize(
    ("stays", "started", "enough"),
    [
        (True, [SOLUTION] * 3, [SOLUTION]),
        (False, [REFERENCE, SOLUTION, SOLUTION] * 2, [REFERENCE, SOLUTION, SOLUTION]),
    ],
)
def test_they_start_together_when_the_next_evaluation_lacks_one(
    monkeypatch: pytest.MonkeyPatch, stays: bool, started: list[str], enough: list[str]
) -> None:
    made = Spares(For("cpu"), ahead=3)
    made.reference_stays = stays
    monkeypatch.setattr(made, "_started", lambda role: SimpleNamespace(role=role, token=""))

    def roles() -> list[str]:
        return sorted(spare.role for spare in made._spares)

    made.refill()
    assert roles() == sorted(started)
    made._spares = [SimpleNamespace(role=role) for role in enough]  # type: ignore[misc]
    made.refill()
    assert roles() == sorted(enough)
    made._spares.pop()
    made.refill()
    assert roles() == sorted(started)


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
