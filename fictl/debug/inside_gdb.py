"""Extension of gdb for the emulated device: its threads, and the thread to stop in.

gdb's own Python runs this file, in any version: it imports nothing of fictl.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gdb  # type: ignore[import-untyped]

# Variables of the emulated device's runtime, whose debug info has no types.
_REGISTERS = {"threadIdx": "uint3", "blockIdx": "uint3", "blockDim": "dim3", "gridDim": "dim3"}
# File of a module. Symbols of Python and torch, which are slow to read, are not loaded.
_MODULES = r"module\.so$"
# Functions by which the runtime ends a kernel: an assertion, a trap, a bad address.
_ENDS = "fictl_emu_stop"
_PLUMBING = ("/emu/include/", "/emu/runtime/", "/include/c++/")
_USAGE = "focus [block X[,Y,Z]] [thread X[,Y,Z]], focus any"


class Focus(gdb.Command):  # type: ignore[misc]
    """Stop in one emulated thread: focus block 3 thread 5; focus any; focus alone prints it.

    `next` and `step` stay in the stopped thread, also over barriers.
    """

    def __init__(self) -> None:
        super().__init__("focus", gdb.COMMAND_RUNNING)
        self.wanted: dict[str, tuple[int, int, int]] = {}
        self.own: dict[int, str] = {}  # of each breakpoint: the condition without the focus
        gdb.events.breakpoint_created.connect(self.narrow)
        gdb.events.breakpoint_modified.connect(self.meet)

    def invoke(self, argument: str, from_tty: bool) -> None:
        words = argument.split()
        if words:
            self.wanted = {} if words == ["any"] else {**self.wanted, **_indices(words)}
            for point in gdb.breakpoints():
                if point.number in self.own:
                    self._apply(point)
        gdb.write(f"focus: {self._text() or 'any thread'}\n")

    @property
    def condition(self) -> str:
        return " && ".join(
            f"{name}Idx.{axis} == {value}"
            for name, index in sorted(self.wanted.items())
            for axis, value in zip("xyz", index)  # noqa: B905  # gdb's Python may be an old one
        )

    def meet(self, point: Any) -> None:
        """Narrow a breakpoint to the focus once its code is loaded, which modifies it."""
        if point.number not in self.own:
            self.narrow(point)

    def narrow(self, point: Any) -> None:
        """Make a breakpoint stop only in the thread of the focus."""
        if point.type != gdb.BP_BREAKPOINT or point.pending or point.location == _ENDS:
            return
        own = point.condition or ""
        self.own[point.number] = "" if own == self.condition else own  # It was made with the focus.
        self._apply(point)

    def _apply(self, point: Any) -> None:
        own = self.own[point.number]
        parts = [f"({own})" if own and self.condition else own, self.condition]
        joined = " && ".join(part for part in parts if part)
        if joined != (point.condition or ""):
            point.condition = joined or None

    def _text(self) -> str:
        return " ".join(
            "{} ({},{},{})".format(name, *index) for name, index in sorted(self.wanted.items())
        )


class _LaunchFrames:
    """Frame filter that hides the runtime's calls between a launch and its kernel."""

    def __init__(self) -> None:
        self.name, self.priority, self.enabled = "fictl", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames: Iterator[Any]) -> Iterator[Any]:
        return (frame for frame in frames if not _is_plumbing(frame))


def _is_plumbing(frame: Any) -> bool:
    ours = any(part in (frame.filename() or "") for part in _PLUMBING)
    return ours or frame.address() == 0  # Where the stack of an emulated thread ends.


def install(folders: str, focus: str, places: list[str]) -> None:
    """Set up gdb: source folders, the focus, and breakpoints. Called once, first of all."""
    for name, kind in _REGISTERS.items():
        gdb.execute(f"macro define {name} (*({kind}*)&fictl_emu_{name})")
    gdb.execute("set auto-solib-add off")
    load = f"silent\nsharedlibrary {_MODULES}\ncontinue"
    gdb.execute(f"catch load {_MODULES}", to_string=True)
    gdb.execute(f"commands\n{load}\nend")
    # The signal that wakes a spinning thread is for the runtime alone.
    gdb.execute("handle SIG59 nostop noprint pass", to_string=True)
    narrowing = Focus()
    if focus:
        narrowing.invoke(focus, from_tty=False)
    _LaunchFrames()
    gdb.events.stop.connect(_say_where)
    gdb.execute(f"directory {folders}", to_string=True)
    condition = f" if {narrowing.condition}" if focus else ""
    gdb.execute(f"break {_ENDS}", to_string=True)
    for place in places:  # Their code is not there yet, of which gdb would warn.
        gdb.execute(f"break {place}{condition}", to_string=True)


def _say_where(event: Any) -> None:
    """Print the thread in which a kernel has stopped, as cuda-gdb does."""
    try:
        index = {name: _value(f"{name}Idx") for name in ("block", "thread")}
        if not _in_kernel():
            return
        gdb.write(f"[emulated: block {index['block']}, thread {index['thread']}]\n")
        if gdb.newest_frame().name() == _ENDS:
            _show_who_ended()
    except gdb.error:
        return


def _show_who_ended() -> None:
    """Select the frame of the kernel, or of a function it called, instead of the runtime's."""
    frame = gdb.newest_frame()
    while frame is not None and _is_ours(frame.find_sal().symtab):
        frame = frame.older()
    if frame is not None:
        frame.select()
        gdb.execute("frame")


def _is_ours(symtab: Any) -> bool:
    return any(part in (symtab.filename if symtab else "") for part in _PLUMBING)


def _value(name: str) -> str:
    value = gdb.parse_and_eval(name)
    return "({},{},{})".format(*(int(value[axis]) for axis in "xyz"))


def _in_kernel() -> bool:
    """True if the runtime's loop over threads is among the callers."""
    frame = gdb.newest_frame()
    while frame is not None:
        if (frame.name() or "").endswith("thread_main"):
            return True
        frame = frame.older()
    return False


def _indices(words: list[str]) -> dict[str, tuple[int, int, int]]:
    indices = {}
    pairs = zip(words[::2], words[1::2])  # noqa: B905  # as above
    for name, text in pairs:
        numbers = text.strip("()").split(",")
        if name not in ("block", "thread") or not all(n.isdigit() for n in numbers):
            raise gdb.GdbError(_USAGE)
        x, y, z = ([int(n) for n in numbers] + [0, 0])[:3]
        indices[name] = (x, y, z)
    if not indices or len(words) % 2:
        raise gdb.GdbError(_USAGE)
    return indices
