"""The reference of one definition: what is right, and how long it takes. Judges may share it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, UsageError
from fictl.judge.config import EvalConfig
from fictl.judge.fault import FAULT, JudgeFault, own_faults
from fictl.judge.judged.inside import REFERENCE
from fictl.judge.process import cell as cells
from fictl.judge.process.cell import Cell
from fictl.judge.process.parcel import Damaged
from fictl.judge.process.room import new_room
from fictl.judge.process.spawn import start
from fictl.removal import remove
from fictl.trace import Definition, Workload

_SEED_BITS = 62


class InvalidReference(FictlError):
    """The reference fails, or gives what cannot be right: no solution can be held against it."""


@dataclass(frozen=True)
class Opened:
    """Of one workload: `bytes` are those of one turn, `given` those that each turn is sent.

    `fresh` is whether the inputs of two calls differ.
    """

    bytes: int
    seconds: float
    rounds: int
    evaluator: str
    each: bool
    given: int
    fresh: bool


class Reference:
    """A process that lives as long as this; `shared` is the folder that solutions may read."""

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
        self._times: dict[str, float] = {}
        self._seconds = 0.0

    def open(self, workload: Workload, config: EvalConfig) -> Opened:
        """Run it once with numbers that no solution is given."""
        self._seconds = config.timeout_seconds
        said = self._ask({
            "op": "open", "workload": workload.model_dump(mode="json"),
            "config": asdict(config), "seed": secrets.randbits(_SEED_BITS),
        })  # fmt: skip
        return Opened(**said)

    def ship(self, seeds: Sequence[int]) -> dict[str, Any]:
        path = self.shared / f"{secrets.token_hex(8)}.safetensors"
        return self._ask({"op": "ship", "seeds": [*seeds], "path": str(path)})

    def check(self, path: Path, seeds: Mapping[int, int], most: int) -> tuple[bool, float]:
        """Whether all so far is right, and the seconds that each took; Damaged where it is no parcel."""
        said = self._ask({"op": "check", "path": str(path), "seeds": {**seeds}, "most": most})
        if "damaged" in said:
            raise Damaged(str(said["damaged"]))
        return bool(said["passed"]), float(said["seconds"])

    def finish(self) -> dict[str, Any]:
        return self._ask({"op": "finish"})

    def seconds(self, workload: Workload, trials: Sequence[Sequence[int]], lead: int = 0) -> float:
        """Of one call: the median of the trials, measured once for each workload."""
        key = workload.model_dump_json()
        if key not in self._times:
            said = self._ask({
                "op": "time", "seeds": [[*seeds] for seeds in trials], "lead": lead,
            })  # fmt: skip
            self.clocks = said["clocks"]
            self._times[key] = sorted(said["trials"])[len(said["trials"]) // 2]
        return self._times[key]

    @property
    def folder(self) -> Path:
        """Its own: no solution may read it."""
        if self._folder is None:
            self._folder = new_room("reference")
        return self._folder

    @property
    def shared(self) -> Path:
        folder = self.folder / "shared"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def own(self) -> Path:
        return self.folder / "own"

    def close(self) -> None:
        self._end()
        if self._folder is not None:
            remove(self._folder)
            self._folder = None

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            with own_faults("asking the reference"):
                return self._answered(self._started(), request)
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

    def _answered(self, cell: Cell, request: dict[str, Any]) -> dict[str, Any]:
        said = cell.ask(request, self._seconds or 600.0)
        if said.pop("ok"):
            return said
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
            self._cell = start(
                REFERENCE, self.own, also=(self.shared,), device=self.device, gpu=self.gpu
            )
        if not self._is_built:
            said = self._answered(self._cell, {
                "op": "build", "definition": self.definition.model_dump(mode="json"),
                "device": self.device, "root": str(self.root.absolute()) if self.root else "",
            })  # fmt: skip
            self.environment, self._is_built = said["environment"], True
        return self._cell
