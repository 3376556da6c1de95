"""A project whose op `halve` needs no kernel, and dumps of its calls."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.record import METADATA
from fictl.op.watch.dump.writer import DumpWriter
from fictl.op.watch.observed import observed
from fictl.project import Project, mount

OP = '''"""halve: a half, or what goes wrong as it is asked to."""

from __future__ import annotations

import os
import signal
from enum import Enum

import torch

from fictl.op import op


class Round(Enum):
    DOWN = "down"
    NEAREST = "nearest"


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out count")
def halve(
    input: torch.Tensor, by: float = 2.0, round: Round = Round.NEAREST,
    out: torch.Tensor | None = None, count: torch.Tensor | None = None,
) -> torch.Tensor | None:
    """input / 2."""
    if by == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    if by == 0:
        raise ZeroDivisionError("by 0")
    if count is not None:
        count += 1
    result = input / by
    if round is Round.DOWN:
        result = result.floor()
    if os.path.exists("wrong"):
        result = result + 1
    return result if out is None else out.copy_(result)


class Divide:
    """Divides by what it was planned for."""

    def plan(self, by: torch.Tensor, round: Round = Round.NEAREST) -> None:
        self.by = by.clone()

    @op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
    def run(self, input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """input / by."""
        return torch.div(input, self.by, out=out)
'''
TRACE = '''"""What halve computes."""

from fictl.trace import Tensor, TraceTemplate, Var

halve = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"input": Tensor(("n",))},
    outputs={"out": Tensor(("n",))},
    reference=lambda input: input / 2,
)
Divide = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"by": Tensor(("n",)), "input": Tensor(("n",))},
    outputs={"out": Tensor(("n",))},
    reference=lambda by, input: input / by,
)
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The project; the working folder is there. A file named `wrong` makes halve wrong."""
    root = tmp_path / "toy"
    folder = root / "kernels" / "few" / "halve"
    folder.mkdir(parents=True)
    (folder / "op.py").write_text(OP, encoding="utf-8")
    (folder / "trace.py").write_text(TRACE, encoding="utf-8")
    (root / "fictl.toml").write_text('name = "toy"\n', encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    mount(Project.at(root))
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "toy"]:
        del sys.modules[name]


@pytest.fixture
def dump(toy: Path) -> Callable[..., Path]:
    """Call `halve` once and return the dump that it leaves; an error of the call is kept there."""
    import toy as project  # type: ignore[import-not-found]

    halve = project.ops.halve

    def call(*arguments: Any, **named: Any) -> Path:
        writer = DumpWriter(toy / "dumps", Limits(100, 1e9))
        before = {*(toy / "dumps").glob("*")}
        with suppress(ZeroDivisionError):
            observed(halve, halve.op, [writer])(*arguments, **named)
        (made,) = {*(toy / "dumps").glob("*")} - before
        return made

    return call


@pytest.fixture
def edit() -> Callable[..., None]:
    """Change the last line of a dump's metadata."""

    def change(dump: Path, **changes: Any) -> None:
        path = dump / METADATA
        record = json.loads(path.read_text().splitlines()[-1])
        path.write_text(json.dumps({**record, **changes}) + "\n", encoding="utf-8")

    return change
