"""Session: one case of an op under its debugger, on a terminal or by commands given before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from fictl import settings
from fictl.case.messages import CaseRequest
from fictl.case.options import CaseOptions
from fictl.child.environment import unwatched
from fictl.child.program import Program
from fictl.debug.debugger import Debugger
from fictl.debug.focus import Focus
from fictl.debug.transcript import Transcript
from fictl.errors import SetupError
from fictl.process import run
from fictl.project import OpFolder

# Loaded by gdb, whose Python is not this one.
_INSIDE = Path(__file__).with_name("inside_gdb.py")
_SETTINGS = (
    "set pagination off",
    "set confirm off",
    "set breakpoint pending on",
    "set print thread-events off",
    "set filename-display absolute",
    "set print inferior-events off",
)
_MOST_FOLDERS = 50
# No kernel is too slow while somebody looks at it.
_PATIENCE_SECONDS = "604800"


@dataclass(frozen=True)
class DebugProgram:
    """One call of an op, in a process of its own: `what` is for people."""

    what: str
    folder: OpFolder
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_case(
        cls, folder: OpFolder, functions: Iterable[str], options: CaseOptions
    ) -> DebugProgram:
        """Call a small case of those that `options` choose."""
        request = CaseRequest(folder.op, tuple(sorted(functions)), options.of_cases)
        return cls(str(folder), folder, tuple(Program("fictl.debug.program", request).argv()))


@dataclass(frozen=True)
class DebugSession:
    """`places` are where it stops: kernels, or FILE:LINE; none: it runs until a fault.

    folders: where sources are looked for beside the places that the build names; moved: those
    places that mean others here.
    more: the debugger's own words.
    """

    debugger: Debugger
    program: DebugProgram
    places: tuple[str, ...]
    focus: Focus = field(default_factory=Focus)
    folders: tuple[Path, ...] = ()
    moved: Mapping[Path, Path] = field(default_factory=dict)
    more: tuple[str, ...] = ()

    @property
    def device(self) -> str:
        return "cuda" if self.debugger.name == "cuda-gdb" else "emu"

    def argv(self, batch: Sequence[str] | None = None) -> list[str]:
        """The debugger's command line; `batch` are its commands once the program has stopped."""
        # As a command of Python's it does not print the program's words, in which JSON is.
        quietly = self.debugger.has_python and batch is None
        run = 'python gdb.execute("run")' if quietly else "run"
        # Emulated threads run one at a time: `next` is of the one that has stopped.
        stay = ["set scheduler-locking step"] if self.device == "emu" else []
        commands = [*self._commands(), run, *stay, *(batch or ())]
        return [
            str(self.debugger.path),
            *(["-nx", "-batch"] if batch is not None else ["-q"]),
            # Scripts of the Python that runs the op are not for this gdb.
            "-iex",
            "set auto-load python-scripts off",
            "-iex",
            "set debuginfod enabled off",
            "-iex",
            "set print symbol-loading off",
            *(["-x", str(_INSIDE)] if self.device == "emu" else []),
            *(word for command in commands for word in ("-ex", command)),
            *self.more,
            "--args",
            *self.program.argv,
        ]

    def hand_over(self) -> NoReturn:
        """The terminal is the debugger's from here; this process is gone."""
        argv = self.argv()
        try:
            os.execvpe(argv[0], argv, {**os.environ})
        except OSError as error:
            raise SetupError(
                f"cannot run {argv[0]}: {error.strerror}", "check that it is executable"
            ) from error

    def run(self, batch: Sequence[str], timeout: float) -> Transcript:
        return Transcript.of(run(self.argv(batch), timeout=timeout))

    def _commands(self) -> list[str]:
        setup = [*_SETTINGS, *(f"set environment {n} {v}" for n, v in self._environment().items())]
        setup += [f"set substitute-path {old} {new}" for old, new in self.moved.items()]
        folders = ":".join(map(str, self.folders[:_MOST_FOLDERS]))
        if self.device == "emu":
            return [*setup, f"python install({folders!r}, {self.focus.words!r}, {[*self.places]})"]
        condition = f" if {self.focus.condition}" if self.focus.condition else ""
        # Their code is not there yet, of which it would warn.
        stops = [f"pipe break {place}{condition} | cat > /dev/null" for place in self.places]
        where = f"set directories {folders}:$cdir:$cwd"
        return [*setup, where, *stops]

    def _environment(self) -> dict[str, str]:
        """Variables of the program, not of the debugger, whose Python may be another."""
        own = {
            **self.program.environment,
            **unwatched(self.device),
            settings.JIT_DEBUG.name: "1",
        }
        if self.device == "cuda":
            return own
        return {
            **own,
            settings.EMU_THREADS.name: "1",
            settings.EMU_SCHEDULE.name: "forward",
            settings.EMU_TIMEOUT.name: _PATIENCE_SECONDS,
            "OMP_NUM_THREADS": "1",
        }
