"""ReplayProcess: the process that replays one dump."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fictl import settings
from fictl.child.environment import unwatched
from fictl.child.program import Program
from fictl.errors import SetupError, UsageError
from fictl.op.watch.dump.record import Refused
from fictl.replay.dump import Dump
from fictl.replay.messages import ReplayRequest
from fictl.sanitize import compute_sanitizer
from fictl.setting_values import DUMPS
from fictl.toolchain import require_gpu

PROFILE, BENCH = "profile", "bench"
# Tools that may observe the call: the sanitizer's (emulated: check mode), CUPTI, a timer.
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
class ReplayProcess:
    """Process of a dump. device: cuda or emu; under: one of UNDER, or ''."""

    dump: Dump
    device: str
    under: str = ""

    @classmethod
    def of(cls, dump: Dump, device: str, under: str = "") -> ReplayProcess:
        """Make the process; `device` '' means the device of the recording."""
        chosen = device or dump.record.settings.get(settings.DEVICE.name, "")
        if chosen not in _TENSORS_ON:
            raise Refused(f"it was recorded on the unknown device {chosen!r:.40}")
        return cls(dump, chosen, under)

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

    @property
    def program(self) -> Program:
        """The program that answers with a ReplayAnswer."""
        request = ReplayRequest(self.dump.path.absolute(), _TENSORS_ON[self.device], self.under)
        return Program(
            "fictl.replay.replay_worker", request, self._variables(), (*self._launcher(),)
        )

    def _variables(self) -> dict[str, str]:
        """Settings for the process: only the op's own come from the dump, as compiler flags could
        run anything.
        """
        recorded = self.dump.record.settings
        own = {name for op in self.dump.folder().declarations() for name in op.settings}
        level = min(settings.LOGLEVEL.get(), DUMPS // 2)
        return {
            **{name: text for name, text in recorded.items() if name in own},
            **unwatched(self.device),
            # The log is for people, and a replay must not write a dump.
            settings.LOGLEVEL.name: str(level),
            settings.VALIDATE_INPUTS.name: str(int(settings.VALIDATE_INPUTS.get())),
            **self._sanitizing(),
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
