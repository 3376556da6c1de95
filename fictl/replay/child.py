"""The process that one dump is replayed in: its command line, and what it is told."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError, UsageError
from fictl.op.watch.dump.record import Refused
from fictl.paths import same_packages
from fictl.replay.dump import Dump
from fictl.sanitize import compute_sanitizer
from fictl.setting_values import DUMPS
from fictl.toolchain import require_gpu

PROFILE, BENCH = "profile", "bench"
# What may look at the call: the sanitizer's tools (emulated: check mode), CUPTI, a timer.
UNDER = (*compute_sanitizer.TOOLS, PROFILE, BENCH)
_TENSORS_ON = {"cuda": "cuda", "emu": "cpu"}


def checked_under(word: str) -> str:
    if word not in ("", *UNDER):
        debugger = "; fictl debug takes a dump" if word == "debug" else ""
        raise UsageError(
            f"--under {word}: nothing of that name looks at calls", f"{', '.join(UNDER)}{debugger}"
        )
    return word


@dataclass(frozen=True)
class Child:
    """`device` is cuda or emu, `under` one of UNDER or ''."""

    dump: Dump
    device: str
    under: str = ""

    @classmethod
    def of(cls, dump: Dump, device: str, under: str = "") -> Child:
        """`device` may be '', for the one that the call was recorded on."""
        said = device or dump.record.settings.get(settings.DEVICE.name, "")
        if said not in _TENSORS_ON:
            raise Refused(f"it was recorded on the unknown device {said!r:.40}")
        return cls(dump, said, under)

    @property
    def is_sanitized(self) -> bool:
        return self.under in compute_sanitizer.TOOLS

    def require_device(self) -> None:
        if self.under == PROFILE and self.device == "emu":
            raise SetupError(
                "--under profile records what a GPU does, and emulated there is none",
                "--device cuda, on a machine with a GPU",
            )
        if self.device == "cuda":
            require_gpu(
                "there is no GPU here, and the call was recorded on one",
                "--device emu replays it on the emulated device",
            )

    def argv(self, report: Path) -> list[str]:
        """`report` is the file that the outcome is written to."""
        words = (str(self.dump.path.absolute()), _TENSORS_ON[self.device], str(report), self.under)
        return [*self._launcher(), sys.executable, "-m", "fictl.replay.one", *words]

    def environment(self) -> dict[str, str]:
        """Of what a dump says, only the op's own settings: a compiler's flags could run anything."""
        recorded = self.dump.record.settings
        own = {name for each in self.dump.folder().declarations() for name in each.settings}
        level = min(settings.LOGLEVEL.get(), DUMPS // 2)
        return {
            **{name: text for name, text in recorded.items() if name in own},
            settings.DEVICE.name: self.device,
            settings.LOGLEVEL.name: str(level),  # A replay leaves no dump of its own.
            settings.TRACE_DUMP.name: "0",
            **self._sanitizing(),
            **same_packages(),
        }

    def _launcher(self) -> Sequence[str]:
        on_gpu = self.is_sanitized and self.device == "cuda"
        return compute_sanitizer.command(self.under) if on_gpu else ()

    def _sanitizing(self) -> dict[str, str]:
        if not self.is_sanitized:
            return {}
        if self.device == "emu":
            return {settings.EMU_CHECK.name: "1"}
        return compute_sanitizer.environment()
