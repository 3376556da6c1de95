"""WatchRequest: the options of `fictl watch`, as commands to run after every save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fictl.watch.step_process import Step


@dataclass(frozen=True)
class WatchRequest:
    """Options of a watch. ops: words of the command line. bench: only with a GPU for timing.

    keyword: selects tests. case: selects bench cases. timeout: seconds for one test. bench_time:
    maximum seconds for one bench case.
    """

    ops: Sequence[str]
    device: str
    keyword: str = ""
    case: str = ""
    test: bool = True
    bench: bool = True
    timeout: float = 300.0
    bench_time: float = 0.5

    def steps(self) -> tuple[Step, ...]:
        """Steps in order; a failed one ends the run."""
        common = (*self.ops, "--json", "--device", self.device)
        named = {"build": (), "test": (*self._test_words(),), "bench": (*self._bench_words(),)}
        wanted = {"build": True, "test": self.test, "bench": self.bench}
        return tuple(
            Step(name, (name, *common, *words)) for name, words in named.items() if wanted[name]
        )

    def _test_words(self) -> Iterator[str]:
        yield f"--timeout={self.timeout:g}"
        if self.keyword:
            yield from ("-k", self.keyword)

    def _bench_words(self) -> Iterator[str]:
        yield f"--max-time={self.bench_time:g}"
        if self.case:
            yield f"--case={self.case}"
