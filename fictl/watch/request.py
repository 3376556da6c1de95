"""WatchRequest: the options of `fictl watch`, as commands to run at every save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fictl.watch.step_process import Step


@dataclass(frozen=True)
class WatchRequest:
    """`ops` are words of the command line; `bench` only where there is a GPU to time.

    keyword: of tests. case: of bench cases. timeout: seconds of one test. bench_time: seconds of
    one bench case, at most.
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
        """Steps in the order in which they run; one that fails is the last."""
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
