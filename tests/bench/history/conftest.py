"""A project in a git repository, with commits a minute apart, and results measured at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import git
import pytest

from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import Row
from fictl.project import OpFolder, Project, find

_NOISE = [1 + 0.002 * ((7 * i) % 20 - 10) / 10 for i in range(100)]


@pytest.fixture
def commits(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three commits of the project `tiny`, the oldest first."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    repo = git.Repo.init(tiny, initial_branch="main")
    shas = []
    for minute in range(3):
        (tiny / "kernels" / "elementwise" / "note.txt").write_text(f"{minute}\n")
        repo.git.add("--all")
        when = f"2026-11-2{minute}T10:00:00+00:00"
        repo.git.commit("-m", f"step {minute}", env={"GIT_COMMITTER_DATE": when})
        shas.append(repo.head.commit.hexsha)
    return shas


@pytest.fixture
def folders(tiny: Path) -> Sequence[OpFolder]:
    return find("twice")


@pytest.fixture
def project(folders: Sequence[OpFolder]) -> Project:
    return folders[0].project


@pytest.fixture
def make_result() -> Callable[..., BenchReport]:
    """A result of `twice` on an H200, measured at `sha`."""

    def make(micros: float, sha: str = "", sm_mhz: int = 1980, **changes: object) -> BenchReport:
        state = {"name": "NVIDIA H200", "sm_mhz": sm_mhz, "max_sm_mhz": 1980, "driver": "580.1"}
        row = Row(
            "tiny/elementwise/twice",
            "twice",
            "fictl",
            "twice-8-int32",
            {"n": 8},
            "int32",
            timer="cupti",
            cold=True,
            samples=tuple(micros * 1e-6 * noise for noise in _NOISE),
        )
        environment = Environment(
            "cuda",
            "2026-11-21T16:00:00+00:00",
            "0.1.0",
            "3f2a91c",
            "3.11",
            before=state,
            after=state,
            sources={"tiny": sha} if sha else {},
        )
        return BenchReport(environment, (replace(row, **changes),))  # type: ignore[arg-type]

    return make
