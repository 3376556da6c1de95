"""The process of a definition's reference: it makes inputs, has turns with solutions, checks
outputs.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError, UsageError
from fictl.judge.config import EvalConfig
from fictl.judge.fault import FAULT, JudgeFault, own_faults
from fictl.judge.inside.roles import REFERENCE
from fictl.judge.judge_outcome import InvalidReference
from fictl.judge.process.sandboxed_process import Ended, Forged, Hung, SandboxedProcess
from fictl.judge.process.scratch import new_scratch
from fictl.judge.process.spares import WORK, Spares
from fictl.judge.process.spawn import start
from fictl.judge.solution_process import SolutionProcess
from fictl.removal import remove
from fictl.trace import Definition, Workload

_SEED_BITS = 62
# The referee's own part of turns: making inputs, checking outputs.
_OWN_SECONDS = 120.0
# A process ends after so many definitions, whatever else it has kept of them.
MOST_DEFINITIONS = 100
_FORGET_SECONDS = 10.0


@dataclass(frozen=True)
class Opened:
    """An opened workload: a call writes `bytes`; `fresh` says whether inputs differ
    between calls.
    """

    bytes: int
    seconds: float
    rounds: int
    evaluator: str
    fresh: bool


class ReferenceProcess:
    """Starts the reference's process when it is first needed, and again after it failed.

    It has turns with the processes of solutions, one at a time. With `spares`, it may serve one
    definition after another.
    """

    def __init__(
        self,
        definition: Definition,
        device: str = "cuda",
        *,
        root: Path | None = None,
        gpu: int | None = None,
        spares: Spares | None = None,
    ) -> None:
        self.definition, self.device, self.root, self.gpu = definition, device, root, gpu
        self.spares = spares
        self.environment: dict[str, Any] = {}
        self.clocks: dict[str, Any] = {}
        self._parts: Counter[str] = Counter()
        self._folder: Path | None = None
        self._sandboxed: SandboxedProcess | None = None
        self._is_built = False
        self._served = 1
        self.workload: Workload
        self.opened: Opened
        self._seconds = 0.0

    def open(self, workload: Workload, config: EvalConfig) -> Opened:
        """Run the reference once, on inputs that no solution is given."""
        self._seconds = config.timeout_seconds
        self.workload = workload
        self._parts.clear()
        answer = self._ask(
            {
                "op": "open",
                "workload": workload.model_dump(mode="json"),
                "config": asdict(config),
                "seed": secrets.randbits(_SEED_BITS),
            }
        )
        self.opened = Opened(**answer)
        return self.opened

    def meet(self, process: SolutionProcess) -> None:
        """Connect the reference's process with a solution's: they can have turns from now on."""
        sandboxed = self._started()
        sandboxed.introduce(process.sandboxed)
        self._ask({"op": "meet", "who": process.name})
        process.partner = sandboxed

    def has_met(self, process: SolutionProcess) -> bool:
        """Tell whether `process` is connected to the reference's current process."""
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
        watched: bool = False,
        clocks: bool = False,
    ) -> dict[str, Any]:
        """Run one turn a seed. `picks` of the turns after `lead` are checked, or more if that is
        quick. `watched`: waits for a CPU are asked for. `clocks`: a GPU's are read at the end.
        """
        request = {
            "op": "turns",
            "who": process.name,
            "seeds": [*seeds],
            "seconds": seconds,
            "picks": picks,
            "lead": lead,
            "idle": idle,
            "is_judged": is_judged,
            "watched": watched,
            "clocks": clocks,
        }
        own = max(self._seconds, _OWN_SECONDS)
        batch = self._ask(request, seconds + own, process.sandboxed)
        self._parts.update(batch["parts"])
        self._parts["count"] += len(batch["turns"])
        return batch

    @property
    def turn_parts(self) -> dict[str, float]:
        """Return the number of turns since `open`, and the seconds of their parts."""
        return {part: round(value, 3) for part, value in self._parts.items()}

    def finish(self) -> dict[str, Any]:
        """Return the evaluator's verdict on all turns checked since `open`."""
        return self._ask({"op": "finish"})

    @property
    def folder(self) -> Path:
        """Scratch folder that no solution may read."""
        if self._folder is None:
            self._folder = new_scratch("reference")
        return self._folder

    def turn_to(self, definition: Definition) -> None:
        """Serve another definition, in the same process if the one before left nothing in it."""
        stays = self._served < MOST_DEFINITIONS and forgets(self._sandboxed)
        if not stays:
            self.close()
        self.definition, self._is_built = definition, False
        self._served = self._served + 1 if stays else 1
        if self.spares is not None:
            self.spares.reference_stays = stays

    def close(self) -> None:
        if self.spares is not None and self._sandboxed is not None:
            self.spares.retire(self._sandboxed, self._folder)
            self._sandboxed = self._folder = None
            self._is_built = False
            return
        self._end()
        if self._folder is not None:
            remove(self._folder)
            self._folder = None

    def _ask(
        self,
        request: dict[str, Any],
        seconds: float = 0.0,
        beside: SandboxedProcess | None = None,
    ) -> dict[str, Any]:
        try:
            with own_faults("asking the reference"):
                return self._answered(self._started(), request, seconds, beside)
        except InvalidReference:
            if self.device == "cuda":  # The failure may have corrupted the GPU's context.
                self._end()
            raise
        except JudgeFault:
            self._end()
            raise
        except (Ended, Hung, Forged) as error:
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
        answer = sandboxed.ask(request, seconds or self._seconds or 600.0, beside)
        if answer.pop("ok"):
            return answer
        if answer["kind"] == "setup":
            raise SetupError(str(answer["trace"]), str(answer["hint"]))
        if answer["kind"] == "usage":
            raise UsageError(str(answer["trace"]), str(answer["hint"]))
        name, trace = self.definition.name, str(answer["trace"])
        if answer["kind"] == FAULT:
            raise JudgeFault(f"the reference of {name} cannot be run", trace)
        raise InvalidReference(f"the reference of {name} fails", trace)

    def _end(self) -> str:
        """End the process and return its output."""
        sandboxed, self._sandboxed = self._sandboxed, None
        self._is_built = False
        if sandboxed is None:
            return ""
        sandboxed.close()
        return sandboxed.log.take().strip()

    def _started(self) -> SandboxedProcess:
        if self._sandboxed is None:
            spare = self.spares.take(REFERENCE) if self.spares and not self._folder else None
            if spare is not None:
                self._folder, self._sandboxed = spare.scratch, spare.sandboxed
            else:
                own = self.folder / WORK
                self._sandboxed = start(REFERENCE, own, device=self.device, gpu=self.gpu)
        if not self._is_built:
            built = self._answered(
                self._sandboxed,
                {
                    "op": "build",
                    "definition": self.definition.model_dump(mode="json"),
                    "device": self.device,
                    "root": str(self.root.absolute()) if self.root else "",
                },
            )
            self.environment, self._is_built = built["environment"], True
        return self._sandboxed


def forgets(sandboxed: SandboxedProcess | None) -> bool:
    """Have a process drop its reference; tell whether another one finds it as that one did."""
    if sandboxed is None:
        return False
    try:
        answer = sandboxed.ask({"op": "forget"}, _FORGET_SECONDS)
    except FictlError:
        return False
    survey = sandboxed.survey()
    return answer.get("left") == [] and survey is not None and not survey.left
