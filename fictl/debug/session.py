"""Session: one case of an op under its debugger, on a terminal or in a batch."""

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

# gdb loads it, in another Python than this one.
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
# Timeout for kernels: none is too slow for a user at the debugger.
_PATIENCE_SECONDS = "604800"


@dataclass(frozen=True)
class DebugProgram:
    """One call of an op in its own process; `what` describes it for people."""

    what: str
    folder: OpFolder
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_case(
        cls, folder: OpFolder, functions: Iterable[str], options: CaseOptions
    ) -> DebugProgram:
        """Call a small case among those that `options` select."""
        request = CaseRequest(folder.op, tuple(sorted(functions)), options.of_cases)
        return cls(str(folder), folder, tuple(Program("fictl.debug.program", request).argv()))


@dataclass(frozen=True)
class DebugSession:
    """A session. places: kernels or FILE:LINE to stop at; if empty, it runs until a fault.

    folders: additional source folders; moved: folders of the build, mapped to folders here. more:
    further commands for the debugger.
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
        """The debugger's command line; `batch` are commands to run after the program has
        stopped.
        """
        # A Python command does not print the program's arguments, which include JSON.
        quietly = self.debugger.has_python and batch is None
        run = 'python gdb.execute("run")' if quietly else "run"
        # Emulated threads run one at a time: `next` stays in the stopped one.
        stay = ["set scheduler-locking step"] if self.device == "emu" else []
        commands = [*self._commands(), run, *stay, *(batch or ())]
        return [
            str(self.debugger.path),
            *(["-nx", "-batch"] if batch is not None else ["-q"]),
            # Scripts for the Python that runs the op are not meant for this gdb.
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
        """Replace this process by the debugger, which takes over the terminal."""
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
        # The pipe hides warnings: the code of these places is not loaded yet.
        stops = [f"pipe break {place}{condition} | cat > /dev/null" for place in self.places]
        where = f"set directories {folders}:$cdir:$cwd"
        return [*setup, where, *stops]

    def _environment(self) -> dict[str, str]:
        """Variables for the program only, as the debugger's Python may be another one."""
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
