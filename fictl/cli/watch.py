"""fictl watch: build, test and bench ops whenever a file of theirs is saved."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.numbers import DAY, number, seconds
from fictl.cli.options import Device, Json, Keyword, Ops, use_device
from fictl.errors import SetupError, UsageError

if TYPE_CHECKING:
    from fictl.watch.session import WatchSession

Case = Annotated[
    str,
    typer.Option(
        "--case",
        metavar="A,B",
        help="Time only cases whose name contains one of these.",
        show_default=False,
    ),
]
Test = Annotated[bool, typer.Option("--test/--no-test", help="Run the tests.")]
Bench = Annotated[
    bool, typer.Option("--bench/--no-bench", help="Time the cases, if there is a GPU.")
]
BenchTime = Annotated[
    float, number("--bench-time", low=0, high=DAY, help="Time limit of one case, in seconds.")
]
Timeout = Annotated[float, seconds("--timeout", help="Time limit of one test, in seconds.")]
Once = Annotated[
    bool,
    typer.Option("--once", help="Run once and exit with the result.", show_default=False),
]


EXAMPLES = {
    "fictl watch swish": "build, test and time it at each save",
    "fictl watch swish -k bf16 --no-bench": "only some tests, no times",
}


def command(
    ops: Ops = None,
    keyword: Keyword = "",
    case: Case = "",
    test: Test = True,
    bench: Bench = True,
    bench_time: BenchTime = 0.5,
    timeout: Timeout = 300.0,
    once: Once = False,
    device: Device = "",
    json: Json = False,
) -> None:
    """Build, test and benchmark ops now and at every save, until Ctrl-C.

    Without a GPU, tests run on the emulated device and nothing is timed.
    """
    _require_watchdog()
    from fictl import settings
    from fictl.cli._watch.screen import Screen, view_summary
    from fictl.project import select
    from fictl.testing.device import choose_device
    from fictl.watch.made_of import MadeOf
    from fictl.watch.request import WatchRequest
    from fictl.watch.session import WatchSession
    from fictl.watch.steps import Steps

    if not ops:
        raise UsageError("no op is named", "fictl watch OP; fictl list shows them")
    use_device(device)
    chosen = choose_device(settings.DEVICE.get() if device else "")
    timed = bench and _can_time(chosen)
    request = WatchRequest(ops, chosen, keyword, case, test, timed, timeout, bench_time)
    folders = select(ops)
    screen = Screen(ops, _remark(chosen, bench, timed), to_stderr=json)
    with screen, Steps(Path.cwd()) as steps:
        session = WatchSession(request, MadeOf(folders), steps, screen)
        code = _go(session, once)
    history = session.history
    view = "" if once else lambda out: view_summary(out, history)
    console.show(console.Result({"ops": ops, "device": chosen, **history.to_dict()}, view, code))


def _require_watchdog() -> None:
    if find_spec("watchdog") is None:
        raise SetupError("watchdog is not installed, which hears of saves", "pip install watchdog")


def _go(session: WatchSession, once: bool) -> int:
    if once:
        return session.once()
    session.watch()
    return 0


def _remark(device: str, wants_times: bool, timed: bool) -> str:
    untimed = "nothing is timed" if wants_times and not timed else ""
    if device == "emu":
        return ", and ".join(filter(None, ("emulated: no GPU was used", untimed)))
    return untimed and f"there is no GPU here: {untimed}"


def _can_time(device: str) -> bool:
    from fictl.toolchain import visible_gpus

    return device == "cuda" and bool(visible_gpus())
