"""The reference of one definition: what is right, and how long it takes. Judges may share it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import SetupError, UsageError
from fictl.judge.config import EvalConfig
from fictl.judge.contact import Contact
from fictl.judge.fault import FAULT, JudgeFault, own_faults
from fictl.judge.judged.inside import REFERENCE
from fictl.judge.outcome import InvalidReference
from fictl.judge.process import cell as cells
from fictl.judge.process.cell import Cell
from fictl.judge.process.room import new_room
from fictl.judge.process.spawn import start
from fictl.judge.yardstick import Yardstick
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
        self._cell: Cell | None = None
        self._is_built = False
        self.workload: Workload
        self.opened: Opened
        self._yardstick: Yardstick | None = None
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

    def meet(self, contact: Contact) -> None:
        """It can have turns with that process from now on."""
        cell = self._started()
        cell.introduce(contact.cell)
        self._ask({"op": "meet", "who": contact.name})
        contact.partner = cell

    def has_met(self, contact: Contact) -> bool:
        """A process that was replaced has met nobody."""
        return contact.partner is not None and contact.partner is self._cell

    def turns(
        self,
        contact: Contact,
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
            "who": contact.name,
            "seeds": [*seeds],
            "seconds": seconds,
            "picks": picks,
            "lead": lead,
            "idle": idle,
            "is_judged": is_judged,
        }
        return self._ask(request, seconds + max(self._seconds, _OWN_SECONDS), contact.cell)

    @property
    def yardstick(self) -> Yardstick:
        """Of the workload that is open."""
        if self._yardstick is None or not self.has_met(self._yardstick.contact):
            self._close_yardstick()
            self._yardstick = Yardstick(self)
        return self._yardstick

    def finish(self) -> dict[str, Any]:
        return self._ask({"op": "finish"})

    @property
    def folder(self) -> Path:
        """Its own: no solution may read it."""
        if self._folder is None:
            self._folder = new_room("reference")
        return self._folder

    @property
    def own(self) -> Path:
        return self.folder / "own"

    def close(self) -> None:
        self._close_yardstick()
        self._end()
        if self._folder is not None:
            remove(self._folder)
            self._folder = None

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _close_yardstick(self) -> None:
        if self._yardstick is not None:
            self._yardstick.close()
            self._yardstick = None

    def _ask(
        self, request: dict[str, Any], seconds: float = 0.0, beside: Cell | None = None
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
        except (cells.Ended, cells.Hung, cells.Forged) as error:
            log = self._end()
            raise InvalidReference(
                f"the reference of {self.definition.name}: {error.message}", log[-2000:]
            ) from None

    def _answered(
        self, cell: Cell, request: dict[str, Any], seconds: float = 0.0, beside: Cell | None = None
    ) -> dict[str, Any]:
        said = cell.ask(request, seconds or self._seconds or 600.0, beside)
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
        cell, self._cell = self._cell, None
        self._is_built = False
        if cell is None:
            return ""
        cell.close()
        return cell.log.take().strip()

    def _started(self) -> Cell:
        if self._cell is None:
            self._cell = start(REFERENCE, self.own, device=self.device, gpu=self.gpu)
        if not self._is_built:
            said = self._answered(
                self._cell,
                {
                    "op": "build",
                    "definition": self.definition.model_dump(mode="json"),
                    "device": self.device,
                    "root": str(self.root.absolute()) if self.root else "",
                },
            )
            self.environment, self._is_built = said["environment"], True
        return self._cell
