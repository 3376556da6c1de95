"""The tools of `fictl profile`: how each looks at a case, and how its findings are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.errors import FictlError, SetupError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.profile.outcome import ProfileOutcome
    from fictl.profile.request import ProfileRequest

Flags = Mapping[str, Any]
Say = Callable[[str], object]


@dataclass(frozen=True)
class ProfileTool:
    """`look` gives the outcome of each request, in their order; `show` prints a result of it.

    flags: parameters of the command that this tool alone takes.
    """

    look: Callable[[Sequence[ProfileRequest], Flags, Say], Iterator[ProfileOutcome]]
    show: Callable[[Console, Any], None]
    calls: int
    flags: tuple[str, ...] = ()
    on_emu: bool = False


def tool(name: str, flags: Flags) -> ProfileTool:
    """Return the tool of this name; a flag of another tool is an error."""
    if name not in _TOOLS:
        raise UsageError(f"{name!r} is not a tool of profile", f"one of {', '.join(_TOOLS)}")
    for other, other_tool in _TOOLS.items():
        alien = [
            flag for flag in other_tool.flags if flags[flag] and flag not in _TOOLS[name].flags
        ]
        if alien:
            raise UsageError(
                f"--{alien[0].replace('_', '-')} is for --tool {other}", "leave it out"
            )
    return _TOOLS[name]


def tool_of_ranks(name: str, flags: Flags) -> ProfileTool:
    """Return what records several ranks; a tool that looks at one process is refused."""
    tool(name, flags)
    if name in _OF_ONE_PROCESS:
        raise UsageError(f"--tool {name} looks at one process, not at ranks", _OF_ONE_PROCESS[name])
    return _RANKS


def _ranks(requests: Sequence[ProfileRequest], flags: Flags, say: Say) -> Iterator[ProfileOutcome]:
    from fictl.profile.ranks.run_ranks import profile

    return _each(requests, lambda request: profile(request, flags["trace"], say))


def _cupti(requests: Sequence[ProfileRequest], flags: Flags, say: Say) -> Iterator[ProfileOutcome]:
    from fictl.profile.cupti.run_cupti import profile

    return profile(requests, flags["trace"], say)


def _ncu(requests: Sequence[ProfileRequest], flags: Flags, say: Say) -> Iterator[ProfileOutcome]:
    from fictl.profile.ncu.collection import Collection
    from fictl.profile.ncu.run_ncu import profile

    collection = Collection(
        flags["set"] or Collection.set,
        tuple(flags["section"] or ()),
        flags["kernel"],
        tuple(flags["ncu_arg"] or ()),
    )
    return _each(requests, lambda request: profile(request, collection, say))


def _nsys(requests: Sequence[ProfileRequest], flags: Flags, say: Say) -> Iterator[ProfileOutcome]:
    from fictl.profile.nsys.run_nsys import profile

    return _each(requests, lambda request: profile(request, say))


def _events(requests: Sequence[ProfileRequest], flags: Flags, say: Say) -> Iterator[ProfileOutcome]:
    from fictl.profile.events.run_events import profile

    blocks, events = flags["blocks"], flags["events"]
    trace = Path(flags["trace"]) if flags["trace"] else None
    return _each(requests, lambda request: profile(request, blocks, events, trace, say))


def _each(
    requests: Sequence[ProfileRequest], look: Callable[[ProfileRequest], Any]
) -> Iterator[ProfileOutcome]:
    """Run the tool for every request; an error about this machine ends all, other errors their own."""
    from fictl.profile.outcome import ProfileOutcome

    for request in requests:
        try:
            yield ProfileOutcome(str(request.folder), request.case, look(request))
        except SetupError:
            raise
        except FictlError as error:
            yield ProfileOutcome(str(request.folder), request.case, error=error)


def _show_cupti(out: Console, result: Any) -> None:
    from fictl.cli._profile.cupti_view import show

    show(out, result)


def _show_ranks(out: Console, result: Any) -> None:
    from fictl.cli._profile.ranks_view import show

    show(out, result)


def _show_ncu(out: Console, result: Any) -> None:
    from fictl.cli._profile.ncu_view import show

    show(out, result)


def _show_nsys(out: Console, result: Any) -> None:
    from fictl.cli._profile.nsys_view import show

    show(out, result)


def _show_events(out: Console, result: Any) -> None:
    from fictl.cli._profile.events_view import show

    show(out, result)


_TOOLS: Mapping[str, ProfileTool] = {
    "cupti": ProfileTool(_cupti, _show_cupti, 20, ("trace",)),
    "ncu": ProfileTool(_ncu, _show_ncu, 1, ("set", "section", "kernel", "ncu_arg")),
    "nsys": ProfileTool(_nsys, _show_nsys, 20),
    "events": ProfileTool(_events, _show_events, 1, ("trace", "blocks", "events"), on_emu=True),
}
_RANKS = ProfileTool(_ranks, _show_ranks, 20, ("trace",), on_emu=True)
_OF_ONE_PROCESS = {
    "ncu": "ncu replays each kernel, and one that waits for its peers would not end: leave out "
    "--tool, or --gpus to look at the kernel of one rank",
    "nsys": "leave out --tool, or run nsys around all ranks: nsys profile fictl bench OP --gpus N",
    "events": "leave out --tool, or --gpus to look into the kernel of one rank",
}
