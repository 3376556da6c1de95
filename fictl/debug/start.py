"""Start of a session: the debug build, the kernels in it, the places to stop at."""

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
from fictl.project.cpp_source import CppSource
from fictl.toolchain import require_gpu

_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)")


@dataclass(frozen=True)
class DebugRequest:
    """`places` are FILE:LINE or functions; with them, or to_fault, kernels are not stopped at."""

    program: DebugProgram
    kernel: str = ""
    places: tuple[str, ...] = ()
    focus: Focus = field(default_factory=Focus)
    to_fault: bool = False
    more: tuple[str, ...] = ()


def session(asked: DebugRequest, observer: BuildObserver) -> DebugSession:
    """Prepare a session on the device of this process, with the debug variant of its modules."""
    device = settings.DEVICE.get()
    if device == "cuda":
        require_gpu("there is no GPU here", "--device emu debugs with gdb on the emulated device")
    debugger = find_debugger(device).checked()
    settings.JIT_DEBUG.set_by_flag("fictl debug", "1")
    specs = asked.program.folder.specs()
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
    """The modules. Of many, the call itself builds the one that it needs, under the debugger."""
    if len(specs) > 1:
        return []
    return [spec.build(observer=observer).module for spec in specs]


def _lines(places: Iterable[str], sources: Collection[CppSource]) -> tuple[str, ...]:
    """Places as debuggers find them, whatever the build calls its folders; a function is one, too."""
    matches = ((place, _LINE.fullmatch(place)) for place in places)
    return tuple(_line(place, match, sources) if match else place for place, match in matches)


def _line(place: str, match: re.Match[str], sources: Collection[CppSource]) -> str:
    wanted, line = Path(match["file"]), int(match["line"])
    named = [
        source for source in sources if source.path.parts[-len(wanted.parts) :] == wanted.parts
    ]
    if not named:
        ours = sorted({source.path.name for source in sources if source.path.suffix != ".h"})
        raise UsageError(
            f"--break {place}: no file of the op is {wanted}", f"it has {', '.join(ours)}"
        )
    source = named[0]
    if not 1 <= line <= source.code.count("\n") + 1:
        raise UsageError(f"--break {place}: {source.path} has no line {line}")
    return f"{'/'.join(source.path.parts[-2:])}:{line}"
