"""Every kind from nothing to green, untouched: init, new-op, check, lint, build, test, and on a GPU bench.

A table comes last. `--kind` narrows it; what cannot run here says why.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scaffold")]

from golden import KINDS, arguments

from fictl.scaffold.kinds.kind import find_kind

# A memory-bound kind, as generated, of what a copy of as many bytes reaches.
OF_COPY = 0.85
# The gemm kind, as generated, of cuBLAS's speed at 8192^3 on Hopper.
OF_CUBLAS = 0.9
MEMORY_BOUND = (
    "elementwise",
    "rowwise",
    "reduction",
    "plan-run",
    "hopper",
    "jinja",
    "triton",
    "cute-dsl",
)


class Failed(Exception):
    """A step that did not end well; its output is the message."""


@dataclass
class Run:
    """Kinds in a project of their own; `done` says what every step took, `failed` what went wrong.

    Why several: the processes that start take longer than the tests of an op. `schedule` and
    `archs`, where they are said, are all that they are tested under and built for.
    """

    kinds: tuple[str, ...]
    folder: Path
    gpu: bool
    emulated: bool = True
    save: Path | None = None
    schedule: str = ""
    archs: str = ""
    done: dict[str, str] = field(default_factory=dict)
    failed: str = ""

    def prepare(self) -> Run:
        """All but what has to have the GPU to itself."""
        self.step("init", "init", ".", "--name", "my_kernels")
        if self.archs:
            (self.folder / "fictl.toml").write_text(
                f'name = "my_kernels"\narchs = "{self.archs}"\n'
            )
        for kind in self.kinds:
            self.step("new-op", "new-op", op_of(kind), *arguments(kind)[1:])
        self.step("check", "check")
        self.guarded("lint", lambda: lint(self.folder))
        run_here = [k for k in self.kinds if self.emulated and "emu" in find_kind(k).devices]
        if run_here:  # They build for the project's GPUs, too.
            order = ("--schedule", self.schedule) if self.schedule else ()
            self.step("emulated", "test", *map(op_of, run_here), "--device", "emu", *order)
        for kind in (kind for kind in self.kinds if kind not in run_here):
            self.step("build", "build", op_of(kind), "--arch", _targets(find_kind(kind).archs))
        if self.gpu:
            self.step("test", "test", *map(op_of, self.kinds), "--device", "cuda")
        return self

    def bench(self) -> Run:
        for kind in self.kinds if self.gpu else ():
            out = ("--out", str((self.save or self.folder) / f"{kind}.json"))
            beside = ("--baseline", "torch") if kind == "gemm" else ()
            words = ("bench", op_of(kind), "--max-time", "0.5", "--json", *beside, *out)
            self.guarded("bench", partial(self.reached, kind, words))
        return self

    def reached(self, kind: str, words: tuple[str, ...]) -> str:
        return reached(kind, self.fictl(*words), is_hopper())

    def step(self, name: str, *words: str) -> None:
        self.guarded(name, lambda: self.fictl(*words) and "")

    def guarded(self, name: str, action: Callable[[], str | None]) -> None:
        if self.failed:
            return
        start = time.monotonic()
        try:
            said = action()
            self.done[name] = said or f"{time.monotonic() - start:.1f} s"
        except Failed as error:
            self.failed = f"{name}: {error}"

    def fictl(self, *words: str) -> str:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
        return run([sys.executable, "-m", "fictl", *words], self.folder, env)

    def __str__(self) -> str:
        said = "  ".join(f"{name} {took}" for name, took in self.done.items())
        return f"{'✗' if self.failed else '✓'} {' '.join(self.kinds):12} {said}"


def op_of(kind: str) -> str:
    """An op's name in a project of several kinds, which are not to share one."""
    return f"{arguments(kind)[0]}_{kind.replace('-', '_')}"


def _targets(archs: str) -> str:
    """Of 8.0 and 9.0a, those that the kind is for."""
    return "9.0a" if archs == "9.0a" else "8.0 9.0a"


def run(argv: list[str], folder: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise Failed(
            f"{' '.join(argv[2:] or argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def lint(folder: Path) -> None:
    """What a reviewer would run over generated code, as far as it is installed here."""
    config = ["--config", str(ROOT / "pyproject.toml")]
    cpp = [*map(str, folder.rglob("*.cu*")), *map(str, folder.rglob("*.cpp"))]
    tools = [
        ["ruff", "check", *config, "."],
        ["ruff", "format", "--check", *config, "."],
        ["clang-format", f"--style=file:{ROOT / '.clang-format'}", "--dry-run", "--Werror", *cpp],
    ]
    for argv in tools:
        if shutil.which(argv[0]):
            run(argv, folder)


def reached(kind: str, document: str, hopper: bool = False) -> str:
    """The best share of a ceiling among the cases; too little is a failure."""
    rows: list[dict[str, Any]] = json.loads(document)["data"]["rows"]
    ours = [row for row in rows if row["side"] == "fictl" and row["step"] == "run"]
    wrong = [row for row in ours if row["status"] != "timed"]
    if wrong or not ours:
        raise Failed("; ".join(f"{row['case']}: {row['note']}" for row in wrong) or "no rows")
    best = max(ours, key=lambda row: row["of_ceiling"] or 0)
    if kind in MEMORY_BOUND and (best["of_ceiling"] or 0) < OF_COPY:
        raise Failed(f"{best['of_ceiling']:.0%} of {best['ceiling']} at best, wanted {OF_COPY:.0%}")
    share = of_cublas(rows) if hopper and kind == "gemm" else OF_CUBLAS
    if share < OF_CUBLAS:
        raise Failed(f"{share:.0%} of cuBLAS at 8192^3, wanted {OF_CUBLAS:.0%}")
    return f"{best['of_ceiling'] or 0:.0%} of {best['ceiling'] or 'nothing'}"


def of_cublas(rows: list[dict[str, Any]]) -> float:
    """cuBLAS's time over ours at 8192^3."""
    square = [row for row in rows if {*row["sizes"].values()} == {8192}]
    times = {row["side"]: row["median"] for row in square}
    return float(times["torch"] / times["fictl"])


def is_hopper() -> bool:
    from fictl.toolchain import visible_gpus

    return any((gpu.arch.major, gpu.arch.minor) == (9, 0) for gpu in visible_gpus())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--jobs", type=int, default=1, help="kinds prepared at a time")
    parser.add_argument("--save", type=Path, help="a folder for what was measured")
    parser.add_argument("--no-emu", action="store_true", help="leave the emulated tests out")
    said = parser.parse_args()
    from fictl.toolchain import visible_gpus

    with tempfile.TemporaryDirectory() as base, ThreadPoolExecutor(said.jobs) as pool:
        runs = []
        for kind in said.kind or KINDS:
            folder = Path(base) / kind
            folder.mkdir()
            runs.append(Run((kind,), folder, bool(visible_gpus()), not said.no_emu, said.save))
        for each in [*pool.map(Run.prepare, runs)]:
            print(each.bench(), flush=True)
    for each in runs:
        if each.failed:
            print(f"\n{' '.join(each.kinds)}: {each.failed}")
    return int(any(each.failed for each in runs))


if __name__ == "__main__":
    sys.exit(main())
