"""One `fictl bench` line, from the command line or from a test list, as what is to be measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.bench.options import BenchOptions
from fictl.bench.sweep import parse_axis
from fictl.errors import FictlError, UsageError

if TYPE_CHECKING:
    from fictl.bench.observer import BenchObserver
    from fictl.bench.planned import Planned
    from fictl.bench.result import BenchReport
    from fictl.gpu_lock.chosen import ChosenGpus
    from fictl.project import OpFolder


@dataclass(frozen=True)
class BenchLine:
    """Ops, or one .cu `file` with the `values` of its parameters; `place` is a line of a list."""

    ops: tuple[str, ...]
    options: BenchOptions
    file: Path | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    place: str = ""

    @classmethod
    def of(cls, flags: Mapping[str, Any], place: str = "") -> BenchLine:
        """`flags` are the command's parameters by name."""
        from fictl.bench.worker.source_file import assignments

        ops = tuple(flags["ops"] or ())
        files = [Path(op) for op in ops if op.endswith(".cu")]
        if files and len(ops) > 1:
            raise UsageError(
                f"{files[0]} cannot be timed together with other ops", "bench it alone"
            )
        values = assignments([*(flags["tensor"] or ()), *(flags["scalar"] or ())])
        if values and not files:
            raise UsageError(
                "--tensor and --scalar are for one .cu file", "an op's are in its trace"
            )
        if files and flags["gpus"]:
            raise UsageError("--gpus is for ops of a project", f"bench {files[0]} without it")
        return cls(ops, _options(flags), next(iter(files), None), values, place)

    def run(self, observer: BenchObserver, chosen: ChosenGpus) -> BenchReport:
        """Measure it; `chosen` are the GPUs of the ranks."""
        from fictl.bench.bench_ops import bench, bench_file

        if self.file is not None:
            return bench_file(self.file, self.values, self.options, observer)
        return bench(self.ops, self.options, observer, chosen)

    def folders(self) -> tuple[OpFolder, ...]:
        """Folders of the ops; none for a file."""
        from fictl.project import Project, select

        if self.file is not None:
            return ()
        return select(self.ops, [] if self.ops else [Project.at()])

    def plans(self) -> list[Planned]:
        """Plans of the cases; none for a file. An op without such cases is an error if no other has any."""
        from fictl.bench.planned import planned
        from fictl.case.selection import NoCase

        plans: list[Planned] = []
        missed: NoCase | None = None
        for folder in self.folders():
            try:
                plans += planned(folder, self.ops, self.options)
            except NoCase as error:
                missed = error
        if missed and not plans:
            raise missed
        return plans

    def located(self, error: FictlError) -> FictlError:
        """The error with the line of the list that it is of."""
        if not self.place:
            return error
        return type(error)(f"{self.place}: {error.message}", error.hint)


def _options(flags: Mapping[str, Any]) -> BenchOptions:
    return BenchOptions(
        baselines=_names(flags["baseline"]),
        backends=_names(flags["backend"]),
        dtype=flags["dtype"],
        case=flags["case"],
        axes=dict(map(parse_axis, flags["axis"] or ())),
        timer=flags["timer"],
        cold=not flags["warm"],
        rounds=flags["rounds"],
        stdrel=flags["stdrel"],
        max_seconds=flags["max_time"],
        refcheck=flags["refcheck"],
        seed=flags["seed"],
        timeout=flags["timeout"],
        host=flags["verbose"],
        power=flags["power"],
        gpus=flags["gpus"] or 0,
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
