"""Policies: which calls of a definition are kept. Each definition has one of its own.

`wants` is asked before any value is copied, `submit` afterwards. Entries with equal `key` are alike:
other processes that collect into the same dataset do not add them again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from random import Random

from fictl.errors import InvalidValue
from fictl.tracing.entry import Lengths, WorkloadEntry

# Sizes of a program that changes them all the time; later ones are not kept.
_MOST_KEYS = 100_000

Axes = Mapping[str, int]


class KeepAll:
    """Keep every call. `needs_lengths`: it decides by lengths, so that values are read first.

    `is_at_end`: what is kept is only known at the end, so that nothing is written before.
    """

    needs_lengths = False
    is_at_end = False

    def __init__(self) -> None:
        self.entries: list[WorkloadEntry] = []

    def key(self, axes: Axes, lengths: Lengths) -> Hashable | None:
        """Return what makes entries alike; None if each is its own."""
        return None

    @property
    def per_key(self) -> int:
        """Number that is kept of one key; 0 is all."""
        return 0

    def wants(self, axes: Axes, lengths: Lengths) -> bool:
        """Tell whether a call like this would be kept."""
        return True

    def submit(self, entry: WorkloadEntry) -> bool:
        """Keep the entry, or not."""
        self.entries.append(entry)
        return True

    def drain(self) -> list[WorkloadEntry]:
        """Return what is kept, which is then forgotten; counts go on."""
        drained, self.entries = self.entries, []
        return drained

    def reset(self) -> None:
        """Forget entries and counts."""
        self.entries = []


class KeepNone(KeepAll):
    """Keep no call."""

    def wants(self, axes: Axes, lengths: Lengths) -> bool:
        return False

    def submit(self, entry: WorkloadEntry) -> bool:
        return False


class KeepFirstK(KeepAll):
    """Keep the first calls."""

    def __init__(self, k: int = 1) -> None:
        super().__init__()
        self.k, self.count = _positive(k), 0

    def wants(self, axes: Axes, lengths: Lengths) -> bool:
        return self.count < self.k

    def submit(self, entry: WorkloadEntry) -> bool:
        if self.count >= self.k:
            return False
        self.count += 1
        return super().submit(entry)

    def reset(self) -> None:
        super().reset()
        self.count = 0


class KeepFirstByAxes(KeepAll):
    """Keep the first calls at each sizes."""

    def __init__(self, k: int = 1) -> None:
        super().__init__()
        self.k = _positive(k)
        self.counts: dict[Hashable, int] = {}

    def key(self, axes: Axes, lengths: Lengths) -> Hashable:
        return tuple(axes.items())

    @property
    def per_key(self) -> int:
        return self.k

    def wants(self, axes: Axes, lengths: Lengths) -> bool:
        count = self.counts.get(self.key(axes, lengths))
        return len(self.counts) < _MOST_KEYS if count is None else count < self.k

    def submit(self, entry: WorkloadEntry) -> bool:
        if not self.wants(entry.axes, entry.lengths):
            return False
        key = self.key(entry.axes, entry.lengths)
        self.counts[key] = self.counts.get(key, 0) + 1
        return super().submit(entry)

    def reset(self) -> None:
        super().reset()
        self.counts = {}


class KeepFirstByLengths(KeepFirstByAxes):
    """Keep the first calls of each batch size and mean length, in place of each total of tokens.

    Axes that lengths add up to differ at every step of an engine; means of lengths do not.
    """

    needs_lengths = True

    def key(self, axes: Axes, lengths: Lengths) -> Hashable:
        totals = {sum(numbers) for numbers in lengths.values()}
        means = [
            (name, len(numbers), round(sum(numbers) / max(1, len(numbers))))
            for name, numbers in sorted(lengths.items())
        ]
        kept = [(axis, size) for axis, size in axes.items() if not means or size not in totals]
        return (*kept, *means)


class Sample(KeepAll):
    """Keep a uniform sample of `k` calls, the same for the same calls and `seed`."""

    is_at_end = True

    def __init__(self, k: int = 100, seed: int = 0) -> None:
        super().__init__()
        self.k, self.seed = _positive(k), seed
        self.reset()

    def wants(self, axes: Axes, lengths: Lengths) -> bool:
        """Draw the place of the next call, which `submit` takes."""
        self.seen += 1
        self._place = self.seen - 1 if self.seen <= self.k else self._random.randrange(self.seen)
        return self._place < self.k

    def submit(self, entry: WorkloadEntry) -> bool:
        if self._place < len(self.entries):
            self.entries[self._place] = entry
        else:
            self.entries.append(entry)
        return True

    def reset(self) -> None:
        super().reset()
        self._random = Random(self.seed)  # noqa: S311  (of a sample, and no secret)
        self.seen, self._place = 0, 0


POLICIES: Mapping[str, type[KeepAll]] = {
    "keep_all": KeepAll,
    "keep_none": KeepNone,
    "keep_first_k": KeepFirstK,
    "keep_first_by_axes": KeepFirstByAxes,
    "keep_first_by_lengths": KeepFirstByLengths,
    "sample": Sample,
}


def _positive(k: int) -> int:
    if k <= 0:
        raise InvalidValue(f"k is {k}", "a policy keeps one at least")
    return k
