"""fictl sanitize: look for what tests do not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli._sanitize import options as flags
from fictl.cli._sanitize.files import Files
from fictl.cli.gpu_use import Wait, together
from fictl.cli.options import Device, Json, Keyword, Ops, use_device
from fictl.errors import UsageError

if TYPE_CHECKING:
    from fictl.project import OpFolder
    from fictl.report.checked import CheckedOp


EXAMPLES = {
    "fictl sanitize swish": "all tools; without a GPU, the emulated device's checks",
    "fictl sanitize swish --tool racecheck --sarif races.sarif": "races alone, for code scanning",
}


def command(
    ops: Ops = None,
    keyword: Keyword = "",
    case: flags.Case = "",
    tool: flags.Tools = None,
    device: Device = "",
    out: flags.Out = None,
    sarif: flags.Sarif = None,
    junit: flags.JUnit = None,
    suppressions: flags.Suppressions = None,
    timeout: flags.Timeout = 900.0,
    print_limit: flags.PrintLimit = 1000,
    strict: flags.Strict = False,
    wait: Wait = None,
    json: Json = False,
) -> None:
    """Run the tests of ops with every access checked: bounds, races, barriers, unwritten memory.

    On a GPU this is compute-sanitizer; without one, the emulated device checks.
    """
    from fictl import settings
    from fictl.cli._sanitize.view import View
    from fictl.project import Project, select
    from fictl.testing.device import is_asked_for, require_device

    look, where = _device(device, tool or [], suppressions, timeout, print_limit, strict)
    wanted = select(ops or [], [] if ops else [Project.at()])
    if is_asked_for() and ops:
        require_device(settings.DEVICE.get(), wanted)
    arguments = [
        *(["-k", keyword] if keyword else ()),
        *([f"--fictl-case={case}"] if case else ()),
    ]
    files = Files(out, sarif, junit)
    say = (lambda line: None) if json else console.note
    with together(wait, "emu" if where == _EMULATED else "cuda"):
        checked = list(look(wanted, say, arguments))
    files.write(checked)
    codes = [checked_op.exit_code for checked_op in checked]
    code = 1 if 1 in codes else max(codes, default=0)
    data = [checked_op.to_dict() for checked_op in checked]
    console.show(console.Result(data, View(where, checked), code))


_EMULATED = "emulated: no GPU was used"
Look = Callable[
    ["Sequence[OpFolder]", Callable[[str], object], "Sequence[str]"], "Iterator[CheckedOp]"
]


def _device(
    device: str,
    tools: Sequence[str],
    suppressions: Path | None,
    timeout: float,
    limit: int,
    strict: bool,
) -> tuple[Look, str]:
    """Return the function that checks ops, and a description of where it runs."""
    from fictl import settings
    from fictl.toolchain import visible_gpus

    use_device(device)
    is_given = settings.DEVICE.origin().kind != "default"
    chosen = settings.DEVICE.get() if is_given or visible_gpus() else "emu"
    if chosen == "cuda" and strict:
        raise UsageError(
            "--strict is of the emulated device, and this runs on a GPU",
            "leave --strict out; --device emu checks without a GPU",
        )
    if chosen == "cuda":
        return _on_gpu(tools, suppressions, timeout, limit)
    if tools:
        raise UsageError(
            f"--tool {tools[0]} is compute-sanitizer's, and this runs on the emulated device, which "
            "checks all at once",
            "leave --tool out; --device cuda on a machine with a GPU",
        )
    return _emulated(suppressions, timeout, strict)


def _emulated(suppressions: Path | None, timeout: float, strict: bool) -> tuple[Look, str]:
    from fictl.emu.toolchain import require_toolchain
    from fictl.sanitize import emulated

    require_toolchain()

    def look(
        folders: Sequence[OpFolder], say: Callable[[str], object], words: Sequence[str]
    ) -> Iterator[CheckedOp]:
        return emulated.check_ops(folders, say, words, suppressions, timeout, strict)

    return look, _EMULATED


def _on_gpu(
    tools: Sequence[str], suppressions: Path | None, timeout: float, limit: int
) -> tuple[Look, str]:
    from fictl.sanitize import compute_sanitizer, gpu
    from fictl.toolchain import require_gpu, visible_gpus

    wanted = compute_sanitizer.choose(tools)
    require_gpu("there is no GPU here for compute-sanitizer", "--device emu checks without one")
    where = f"{visible_gpus()[0].name} · compute-sanitizer {compute_sanitizer.version()}"

    def look(
        folders: Sequence[OpFolder], say: Callable[[str], object], words: Sequence[str]
    ) -> Iterator[CheckedOp]:
        request = gpu.SanitizeRequest(wanted, words, suppressions, timeout, limit)
        return gpu.check_ops(folders, say, request)

    return look, where
