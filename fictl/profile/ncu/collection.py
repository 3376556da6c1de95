"""Collection: the counters that ncu collects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Clocks are left alone: locking them needs a permission that few have, and times of other
# commands are taken at these clocks. `--ncu-arg=--clock-control=base` locks them.
_CLOCKS = "--clock-control"


@dataclass(frozen=True)
class Collection:
    """The defaults are all that the digest reads.

    sections: instead of a set. kernel: a regular expression, of kernels' names.
    extra: handed to ncu as they are, the last word on everything.
    """

    set: str = "full"
    sections: tuple[str, ...] = ()
    kernel: str = ""
    extra: tuple[str, ...] = ()

    @property
    def leaves_clocks_alone(self) -> bool:
        return not any(argument.startswith(_CLOCKS) for argument in self.extra)

    @property
    def words(self) -> str:
        return f"sections {', '.join(self.sections)}" if self.sections else f"set {self.set}"

    def argv(self, report: Path) -> list[str]:
        """Only what lies between cudaProfilerStart and -Stop is collected; sources are kept."""
        return [
            "--profile-from-start=off",
            "--target-processes=all",
            "--import-source=yes",
            "--force-overwrite",
            f"--export={report}",
            *self._chosen(),
        ]

    def _chosen(self) -> Iterator[str]:
        if self.sections:
            yield from (f"--section={name}" for name in self.sections)
        else:
            yield f"--set={self.set}"
        if self.kernel:
            yield f"--kernel-name=regex:{self.kernel}"
        if self.leaves_clocks_alone:
            yield f"{_CLOCKS}=none"
        yield from self.extra
