"""Pictures of what commands really print, and of what was really measured.

A picture that would differ in times alone stays as it is: `make docs` changes nothing that nobody changed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from html import unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "docs/results/2026-11-22-h200-kernels.json"
# Of the result, what the front page shows: a case of each function.
SHOWN = {
    "rmsnorm": "16384x4096",
    "fused_add_rmsnorm": "16384x4096",
    "layernorm": "16384x8192",
    "silu_and_mul": "2048x57344",
}
# The emulated device is compiled once on a machine: not in the time that the picture shows.
_WARM = ["new-op warm --expr 'x * 2'", "test warm", "remove-op warm"]
# By the name of the picture: the folder that it begins in, what is done before, and what is shown.
SESSIONS: dict[str, tuple[str, list[str], list[str]]] = {
    "build": ("", [], ["build scale"]),
    "test": (
        "",
        ["init my_kernels", "cd my_kernels", *_WARM],
        ["new-op swish --expr 'x * sigmoid(beta * x)'", "test swish"],
    ),
    "sanitize": ("tests/planted_project", [], ["sanitize shared_race -k shared_race"]),
}
_LONGEST = 22
_TIMES = re.compile(r"\d+(?:\.\d+)?\s*(?:us|ms|s)\b|\b\d\d:\d\d\b|\b[0-9a-f]{12,}\b")


def session(name: str, home: str) -> str:
    """Run a session in a folder of its own, and draw the terminal."""
    from rich.console import Console
    from rich.text import Text

    folder, before, commands = SESSIONS[name]
    here = Path(home) / name
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        shutil.copytree(ROOT / folder, here) if folder else here.mkdir()
        for words in before:
            here = here / words[3:] if words.startswith("cd ") else _ran(words, here, home, [0])[0]
        console = Console(record=True, width=110, file=nowhere)
        for words in commands:
            lines = _ran(words, here, home, [0, 1])[1].splitlines()
            printed = "\n".join([*lines[:_LONGEST], *(["…"] if len(lines) > _LONGEST else [])])
            console.print(Text.from_ansi(f"$ fictl {words}\n{printed}\n"))
    return console.export_svg(title="fictl", unique_id=name)


def _ran(words: str, here: Path, home: str, codes: list[int]) -> tuple[Path, str]:
    """Run a command that ends with one of these codes: a sanitizer that finds something ends with 1."""
    env = {**os.environ, "FORCE_COLOR": "1", "TTY_INTERACTIVE": "0", "COLUMNS": "110", "HOME": home}
    env = {name: value for name, value in env.items() if not name.startswith(("FICTL_", "XDG_"))}
    env["PYTHONPATH"] = str(ROOT)
    command = f"{sys.executable} -m fictl {words}"
    error = subprocess.STDOUT if words.startswith("build") else subprocess.DEVNULL
    done = subprocess.run(
        ["sh", "-c", command], cwd=here, env=env, stdout=subprocess.PIPE, stderr=error, text=True
    )
    if done.returncode not in codes:
        raise SystemExit(f"fictl {words} ended with {done.returncode}:\n{done.stdout}")
    return here, done.stdout


def measured() -> str:
    """Draw measured kernels beside their peers, from the stored result."""
    from fictl.bench.plot.bars import bars
    from fictl.bench.result import load
    from fictl.plot.svg import svg

    report = load(RESULT)
    rows = [
        replace(row, case=f"{row.function} {SHOWN[row.function]}")
        for row in report.rows
        if f"-{SHOWN.get(row.function, '?')}-" in row.case
    ]
    return svg(
        bars(f"{report.environment.gpu}, bf16, cold L2: time of a call, shorter is faster", rows)
    )


def page() -> str:
    """Write the interactive page of the same result."""
    from fictl.bench.plot.draw import draw
    from fictl.bench.result import load

    report = load(RESULT)
    rows = tuple(row for row in report.rows if row.function in SHOWN)
    with tempfile.TemporaryDirectory() as folder:
        path = draw(replace(report, rows=rows), Path(folder) / "page.html")
        return path.read_text(encoding="utf-8")


def same_but_for_times(one: str, other: str) -> bool:
    return _words(one) == _words(other)


def _words(svg: str) -> str:
    """The words of a picture, with `#` for each time and each key of a build."""
    lines = re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)
    return " ".join(_TIMES.sub("#", unescape("\n".join(lines)).replace("\xa0", " ")).split())
