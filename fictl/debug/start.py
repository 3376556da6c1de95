"""Start of a session: the debug build, its kernels, and the places to stop at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fictl import settings
from fictl.debug.debugger import find_debugger
from fictl.debug.focus import Focus
from fictl.debug.kernels import chosen, compiled, kernel_names, sources_of
from fictl.debug.moved import moved
from fictl.debug.session import DebugProgram, DebugSession
from fictl.errors import UsageError
from fictl.jit.progress import BuildObserver
from fictl.jit.spec import JitSpec
from fictl.op.folder_specs import folder_specs
from fictl.project.cpp_source import CppSource
from fictl.toolchain import require_gpu

_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)")


@dataclass(frozen=True)
class DebugRequest:
    """Request of a session.

    places: FILE:LINE or functions to stop at. It stops at kernels only without places and to_fault.
    """

    program: DebugProgram
    kernel: str = ""
    places: tuple[str, ...] = ()
    focus: Focus = field(default_factory=Focus)
    to_fault: bool = False
    more: tuple[str, ...] = ()


def session(asked: DebugRequest, observer: BuildObserver) -> DebugSession:
    """Make a session on this process's device, with the debug variant of the modules."""
    device = settings.DEVICE.get()
    if device == "cuda":
        require_gpu("there is no GPU here", "--device emu debugs with gdb on the emulated device")
    debugger = find_debugger(device).checked()
    settings.JIT_DEBUG.set_by_flag("fictl debug", "1")
    specs = folder_specs(asked.program.folder)
    sources = sources_of(specs)
    modules = _built(specs, observer)
    places = _lines(asked.places, sources)
    if not places and not asked.to_fault:
        names = kernel_names(sources)
        places = tuple(chosen(compiled(names, modules) if modules else names, asked.kernel))
    headers = tuple(dict.fromkeys(source.path.parent for source in sources))
    rendered = tuple(module.parent for module in modules)
    return DebugSession(
        debugger,
        asked.program,
        places,
        asked.focus,
        (*rendered, *headers),
        moved(modules, headers),
        asked.more,
    )


def _built(specs: Sequence[JitSpec], observer: BuildObserver) -> list[Path]:
    """Build the module; if there are several, the call builds the one it needs, under the
    debugger.
    """
    if len(specs) > 1:
        return []
    return [spec.build(observer=observer).module for spec in specs]


def _lines(places: Iterable[str], sources: Collection[CppSource]) -> tuple[str, ...]:
    """Spell FILE:LINE so that a debugger finds it in any build folder; functions stay as
    they are.
    """
    matched = ((place, _LINE.fullmatch(place)) for place in places)
    return tuple(_line(place, match, sources) if match else place for place, match in matched)


def _line(place: str, match: re.Match[str], sources: Collection[CppSource]) -> str:
    wanted, line = Path(match["file"]), int(match["line"])
    named = [one for one in sources if one.path.parts[-len(wanted.parts) :] == wanted.parts]
    if not named:
        ours = sorted({source.path.name for source in sources if source.path.suffix != ".h"})
        raise UsageError(
            f"--break {place}: no file of the op is {wanted}", f"it has {', '.join(ours)}"
        )
    source = named[0]
    if not 1 <= line <= source.code.count("\n") + 1:
        raise UsageError(f"--break {place}: {source.path} has no line {line}")
    return f"{'/'.join(source.path.parts[-2:])}:{line}"
