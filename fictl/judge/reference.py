"""The reference of one definition: what is right, and how long it takes. Judges may share it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import SetupError, UsageError
from fictl.judge.baseline import Baseline
from fictl.judge.config import EvalConfig
from fictl.judge.fault import FAULT, JudgeFault, own_faults
from fictl.judge.inside.roles import REFERENCE
from fictl.judge.judge_outcome import InvalidReference
from fictl.judge.process.sandboxed_process import Ended, Forged, Hung, SandboxedProcess
from fictl.judge.process.scratch import new_scratch
from fictl.judge.process.spawn import start
from fictl.judge.solution_process import SolutionProcess
from fictl.removal import remove
from fictl.trace import Definition, Workload

_SEED_BITS = 62
# For its own part of turns: to make inputs, and to check outputs.
_OWN_SECONDS = 120.0


@dataclass(frozen=True)
class Opened:
    """Of one workload: `bytes` are those that a call writes; `fresh` is whether inputs differ."""

    bytes: int
    seconds: float
    rounds: int
    evaluator: str
    fresh: bool


class Reference:
    """A process that lives as long as this: it has turns with solutions' processes, one at a time."""

    def __init__(
        self,
        definition: Definition,
        device: str = "cuda",
        *,
        root: Path | None = None,
        gpu: int | None = None,
    ) -> None:
        self.definition, self.device, self.root, self.gpu = definition, device, root, gpu
        self.environment: dict[str, Any] = {}
        self.clocks: dict[str, Any] = {}
        self._folder: Path | None = None
        self._sandboxed: SandboxedProcess | None = None
        self._is_built = False
        self.workload: Workload
        self.opened: Opened
        self._baseline: Baseline | None = None
        self._seconds = 0.0

    def open(self, workload: Workload, config: EvalConfig) -> Opened:
        """Run it once with numbers that no solution is given."""
        self._seconds = config.timeout_seconds
        self.workload = workload
        said = self._ask(
            {
                "op": "open",
                "workload": workload.model_dump(mode="json"),
                "config": asdict(config),
                "seed": secrets.randbits(_SEED_BITS),
            }
        )
        self.opened = Opened(**said)
        return self.opened

    def meet(self, process: SolutionProcess) -> None:
        """It can have turns with that process from now on."""
        sandboxed = self._started()
        sandboxed.introduce(process.sandboxed)
        self._ask({"op": "meet", "who": process.name})
        process.partner = sandboxed

    def has_met(self, process: SolutionProcess) -> bool:
        """A process that was replaced has met nobody."""
        return process.partner is not None and process.partner is self._sandboxed

    def turns(
        self,
        process: SolutionProcess,
        seeds: Sequence[int],
        seconds: float,
        *,
        picks: int,
        lead: int = 0,
        idle: str = "",
        is_judged: bool = True,
    ) -> dict[str, Any]:
        """One for each seed; `picks` of those after `lead` are checked, or more if that is quick."""
        request = {
            "op": "turns",
            "who": process.name,
            "seeds": [*seeds],
            "seconds": seconds,
            "picks": picks,
            "lead": lead,
            "idle": idle,
            "is_judged": is_judged,
        }
        return self._ask(request, seconds + max(self._seconds, _OWN_SECONDS), process.sandboxed)

    @property
    def baseline(self) -> Baseline:
        """Of the workload that is open."""
        if self._baseline is None or not self.has_met(self._baseline.process):
            self._close_baseline()
            self._baseline = Baseline(self)
        return self._baseline

    def finish(self) -> dict[str, Any]:
        return self._ask({"op": "finish"})

    @property
    def folder(self) -> Path:
        """Its own: no solution may read it."""
        if self._folder is None:
            self._folder = new_scratch("reference")
        return self._folder

    @property
    def own(self) -> Path:
        return self.folder / "own"

    def close(self) -> None:
        self._close_baseline()
        self._end()
        if self._folder is not None:
            remove(self._folder)
            self._folder = None

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _close_baseline(self) -> None:
        if self._baseline is not None:
            self._baseline.close()
            self._baseline = None

    def _ask(
        self, request: dict[str, Any], seconds: float = 0.0, beside: SandboxedProcess | None = None
    ) -> dict[str, Any]:
        try:
            with own_faults("asking the reference"):
                return self._answered(self._started(), request, seconds, beside)
        except InvalidReference:
            if self.device == "cuda":  # What failed there may have taken the GPU's context with it.
                self._end()
            raise
        except JudgeFault:
            self._end()
            raise
        except (Ended, Forged, Hung) as error:
            log = self._end()
            raise InvalidReference(
                f"the reference of {self.definition.name}: {error.message}", log[-2000:]
            ) from None

    def _answered(
        self,
        sandboxed: SandboxedProcess,
        request: dict[str, Any],
        seconds: float = 0.0,
        beside: SandboxedProcess | None = None,
    ) -> dict[str, Any]:
        said = sandboxed.ask(request, seconds or self._seconds or 600.0, beside)
        if said.pop("ok"):
            return said
        if said["kind"] == "setup":
            raise SetupError(str(said["trace"]), str(said["hint"]))
        if said["kind"] == "usage":
            raise UsageError(str(said["trace"]), str(said["hint"]))
        if said["kind"] == FAULT:
            raise JudgeFault(
                f"the reference of {self.definition.name} cannot be run", said["trace"]
            )
        raise InvalidReference(f"the reference of {self.definition.name} fails", str(said["trace"]))

    def _end(self) -> str:
        """Of its process; what that has printed."""
        sandboxed, self._sandboxed = self._sandboxed, None
        self._is_built = False
        if sandboxed is None:
            return ""
        sandboxed.close()
        return sandboxed.log.take().strip()

    def _started(self) -> SandboxedProcess:
        if self._sandboxed is None:
            self._sandboxed = start(REFERENCE, self.own, device=self.device, gpu=self.gpu)
        if not self._is_built:
            said = self._answered(
                self._sandboxed,
                {
                    "op": "build",
                    "definition": self.definition.model_dump(mode="json"),
                    "device": self.device,
                    "root": str(self.root.absolute()) if self.root else "",
                },
            )
            self.environment, self._is_built = said["environment"], True
        return self._sandboxed
