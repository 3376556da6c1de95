"""The reference of one definition: correct outputs, and its own call time as the baseline."""

from __future__ import annotations

from pathlib import Path

from fictl.judge.baseline import Baseline
from fictl.judge.baseline_times import BaselineTimes
from fictl.judge.process.spares import Spares
from fictl.judge.reference_process import Opened, ReferenceProcess
from fictl.trace import Definition

__all__ = ["Opened", "Reference"]


class Reference(ReferenceProcess):
    """A reference with its baseline. Several judges may share it, one after the other; references of
    one place may share `times`.
    """

    def __init__(
        self,
        definition: Definition,
        device: str = "cuda",
        *,
        root: Path | None = None,
        gpu: int | None = None,
        spares: Spares | None = None,
        times: BaselineTimes | None = None,
    ) -> None:
        super().__init__(definition, device, root=root, gpu=gpu, spares=spares)
        self._times = times or BaselineTimes()
        self._baseline: Baseline | None = None

    @property
    def baseline(self) -> Baseline:
        """Baseline of the open workload; its overhead is measured anew after the reference's process was
        replaced.
        """
        if self._baseline is None or not self.has_met(self._baseline.process):
            self._close_baseline()
            self._baseline = Baseline(self, self._times)
        elif self._baseline.definition is not self.definition:
            self._baseline.build()
        return self._baseline

    def turn_to(self, definition: Definition) -> None:
        if self._baseline is not None and not self._baseline.forgets():
            self._close_baseline()
        super().turn_to(definition)

    def close(self) -> None:
        self._close_baseline()
        super().close()

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _close_baseline(self) -> None:
        if self._baseline is not None:
            self._baseline.close()
            self._baseline = None
