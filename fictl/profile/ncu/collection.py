"""Collection: the counters that ncu collects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Clocks are not locked: that needs a permission that few users have, and other commands measure at
# the same clocks. `--ncu-arg=--clock-control=base` locks them.
_CLOCKS = "--clock-control"


@dataclass(frozen=True)
class Collection:
    """Counters to collect; the defaults are all that the digest reads.

    sections: replaces a set. kernel: a regular expression for kernel names. extra: arguments passed
    to ncu unchanged, after all others.
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
        """Arguments of ncu: collect only between cudaProfilerStart and -Stop, and store the
        sources.
        """
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
