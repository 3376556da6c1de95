"""Doing what a page shows, in the order of the page and in a home of its own.

| block | is |
|---|---|
| `$ command` and what it prints | run; the lines shown are printed in this order, others may stand between them |
| the first line is a comment with a path | that file: written, or, where it is there, its lines are in it |
| diff | a patch, applied |
| python, bash | a script that succeeds; `bash gpu ncu` only where there are a GPU and that program |

`…` stands for anything, and so do times, measured numbers, counts of tests, and
whether something was built before. `<!-- run: … -->` is run and not shown;
`<!-- needs gpu -->`, or a program or a package, and `<!-- not run: why -->` are about the block below.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from fictl.toolchain import find_nvcc

ROOT = Path(__file__).resolve().parents[1]

_PART = re.compile(
    r"^<!-- (?P<mark>[^\n]*?) -->$|^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_PATH = re.compile(r"(?:#|//|\{#) (?P<path>[\w.][\w./{}-]*\.\w+)(?: #\})?\n")
_ANY = re.compile(
    r"…|compiled in [\d.]+ s(?: \([^)\n]*\))?|was built already|-?\d+\.\d{5,}|\b\d\d:\d\d\b|: \d+ \("
    r"|\d+(?:\.\d+)? (?:s|ms|us|KiB|MiB|passed|failed|tests)\b|(?<=edit: )\S+"
)

# Hardware counters are for root alone.
_ADMINS_COUNT = "RmProfilingAdminOnly: 1"


@dataclass(frozen=True)
class Block:
    """One fenced block; `mark` is the comment above it, `line` where it begins."""

    info: str
    text: str
    mark: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    mark = ""
    for part in _PART.finditer(page):
        line = page.count("\n", 0, part.start()) + 1
        if part["mark"] is None:
            yield Block(part["info"], part["text"], mark, line)
            mark = ""
        elif part["mark"].startswith("run: "):
            yield Block("", f"$ {part['mark'].removeprefix('run: ')}\n", "", line)
        else:
            mark = part["mark"]


@dataclass
class Reader:
    """Somebody who types what they read. `here` is the folder that they are in."""

    home: Path
    has_gpu: bool
    here: Path = field(init=False)

    def __post_init__(self) -> None:
        self.here = self.home
        (self.home / "bin").mkdir()
        programs = {"python": [sys.executable], "fictl": [sys.executable, "-m", "fictl"]}
        nvcc = find_nvcc()
        if nvcc:
            programs["nvcc"] = [str(nvcc.path)]
        for name, words in programs.items():
            script = self.home / "bin" / name
            script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
            script.chmod(0o755)

    def read(self, page: Path) -> None:
        for block in blocks(page.read_text(encoding="utf-8")):
            try:
                self.follow(block)
            except AssertionError as error:
                raise AssertionError(f"{page.relative_to(ROOT)}:{block.line}: {error}") from None

    def follow(self, block: Block) -> None:
        language, *needs = block.info.split() or [""]
        if block.mark.startswith("needs "):
            needs += block.mark.split()[1:]
        if block.mark.startswith("not run: ") or not all(map(self.has, needs)):
            return
        path = _PATH.match(block.text)
        if path:
            self.write(self.here / path["path"], block.text)
        elif language == "" and block.text.startswith("$ "):
            self.session(block.text, compare="gpu" not in needs)
        elif language == "diff":
            self.run("patch --strip 1 --no-backup-if-mismatch", block.text)
        elif language == "bash":
            self.run(f"set -eu\n{block.text}")
        elif language == "python":
            self.run("python -", block.text)

    def has(self, need: str) -> bool:
        if need == "gpu":
            return self.has_gpu
        if need == "ncu" and _ADMINS_COUNT in _text(Path("/proc/driver/nvidia/params")):
            return False
        return shutil.which(need) is not None or find_spec(need) is not None

    def write(self, path: Path, text: str) -> None:
        if path.is_file():
            assert_said(text.partition("\n")[2], path.read_text(encoding="utf-8"))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def session(self, text: str, compare: bool) -> None:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, shown = re.fullmatch(
                r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", part, re.DOTALL
            ).groups()
            if shown.strip() and compare:
                assert_said(shown, self.type(command)[1])
            else:
                self.run(command)

    def run(self, command: str, input: str = "") -> None:
        code, printed = self.type(command, input)
        assert code == 0, f"`{command}` ended with {code}:\n{printed}"

    def type(self, command: str, input: str = "") -> tuple[int, str]:
        """Its exit code and all that it prints; `cd` lasts."""
        place = self.home / "bin" / "here"
        script = f"trap 'pwd > {shlex.quote(str(place))}' EXIT; {command}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.here,
            env=self.environment(),
            input=input,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.here = Path(place.read_text(encoding="utf-8").strip())
        return done.returncode, done.stdout

    def environment(self) -> dict[str, str]:
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
        return {
            **os.environ,
            "HOME": str(self.home),
            "XDG_CACHE_HOME": cache,
            "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def assert_said(shown: str, said: str) -> None:
    """Every line shown is among those said, in this order."""
    lines = iter(said.splitlines())
    for line in shown.splitlines():
        wanted = _pattern(line)
        found = line.strip() in {"", "…"} or any(wanted.fullmatch(_plain(each)) for each in lines)
        assert found, f"it does not say, or not in this place:\n{line}\nbut:\n{said}"


def _plain(line: str) -> str:
    return re.sub(r" +", " ", line.strip())


def _pattern(line: str) -> re.Pattern[str]:
    parts = _ANY.split(_plain(line))
    return re.compile(".*".join(map(re.escape, parts)))
