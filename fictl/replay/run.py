"""Replaying dumps: a process for each, so that a fault of one leaves the others alone."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import FictlError
from fictl.op.watch.dump.record import Refused
from fictl.paths import same_packages
from fictl.process import run
from fictl.replay.dump import Dump
from fictl.replay.outcome import Outcome
from fictl.toolchain import require_gpu

_TENSORS_ON = {"cuda": "cuda", "emu": "cpu"}


def replay(path: Path, device: str, timeout: float) -> Outcome:
    """`device` is cuda, emu, or '' for the one that the call was recorded on."""
    start = time.monotonic()
    op = ""
    try:
        dump = Dump.open(path)
        op = dump.record.op
        folder = dump.folder()
        device = device or _recorded_device(dump)
        own = {name for each in folder.declarations() for name in each.settings}
        said = _child(dump, device, own, timeout)
    except Refused as error:
        said = {"status": "refused", "detail": error.message, "hint": error.hint}
    except FictlError as error:
        said = {"status": "error", "detail": error.message, "hint": error.hint}
    return Outcome(str(path), op, **said, device=device, seconds=time.monotonic() - start)


def _child(dump: Dump, device: str, own: set[str], timeout: float) -> dict[str, Any]:
    if device == "cuda":
        require_gpu(
            "there is no GPU here, and the call was recorded on one",
            "--device emu replays it on the emulated device",
        )
    with tempfile.TemporaryDirectory(prefix="fictl-replay-") as place:
        report = Path(place) / "outcome.json"
        words = ("-m", "fictl.replay.one", str(dump.path.absolute()), _TENSORS_ON[device])
        argv = [sys.executable, *words, str(report)]
        done = run(argv, _environment(dump, device, own), timeout)
        if report.is_file():
            return dict(json.loads(report.read_text(encoding="utf-8")))
    how = signal.Signals(-done.code).name if done.code < 0 else f"exit code {done.code}"
    last = next(reversed(done.output.strip().splitlines()), "")
    return {"status": "error", "detail": f"it ended its process with {how}", "hint": last}


def _recorded_device(dump: Dump) -> str:
    said = dump.record.settings.get(settings.DEVICE.name, "")
    if said not in _TENSORS_ON:
        raise Refused(f"it was recorded on the unknown device {said!r:.40}")
    return said


def _environment(dump: Dump, device: str, own: set[str]) -> dict[str, str]:
    """Of what a dump says, only the op's own settings: a compiler's flags could run anything."""
    recorded = dump.record.settings
    level = min(settings.LOGLEVEL.get(), settings.DUMPS // 2)
    return {
        **{name: text for name, text in recorded.items() if name in own},
        settings.DEVICE.name: device,
        settings.LOGLEVEL.name: str(level),  # A replay leaves no dump of its own.
        settings.TRACE_DUMP.name: "0",
        **same_packages(),
    }
