"""Solutions that cheat, and others that are only wrong: each gets the status that it has earned.

The first line of each says what, as Earned reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.judge import Judge
from fictl.judge.process.spawn import zygote
from fictl.judge.reference import Reference

from .earned import Earned
from .judge_runs import CONFIG, WORKLOAD, definition, solution

FOLDER = Path(__file__).parent / "hostile"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with Reference(definition(), "cpu") as made:
        yield made


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_solution_gets_what_it_has_earned(name: str, reference: Reference) -> None:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    earned = Earned.of(source)
    policy = zygote().policy.label
    if "sandboxed" in earned.words and not policy.startswith("landlock+netns+pidns"):
        pytest.skip("this machine has no sandbox")
    hangs = earned.statuses == ("TIMEOUT",)
    short = {"timeout_seconds": 0.5, "compile_timeout_seconds": 0.5} if hangs else {}
    config = replace(CONFIG, **short)
    tried = solution(source, dps=earned.dps)
    with Judge(definition(), tried, config, reference=reference) as judge:
        found = judge.evaluate(WORKLOAD)
    earned.require(found)
    assert len(found.log) < 5 << 20
    assert not Path("/tmp/fictl-was-here").exists()
    assert not _at_work_in(judge._scratch)


def _at_work_in(folder: Path) -> list[str]:
    """Processes that a solution started, and that were not ended with it."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            found += [entry.name] if str(folder) in str((entry / "cwd").readlink()) else []
    return found
