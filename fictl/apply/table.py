"""ApplyTable: the best solution for each definition, hardware and sizes, by a dataset's traces.

It is kept on disk by a digest of all that it is made of, since a dataset may have many traces.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fictl.apply.config import ApplyConfig, ApplyConfigRegistry
from fictl.errors import FictlError
from fictl.log import logger
from fictl.paths import write_atomic
from fictl.runnable.builder import cache_path
from fictl.runnable.package_folder import ensure_private
from fictl.sealed import BrokenSeal, seal, unseal
from fictl.trace import Solution, Trace, TraceSet
from fictl.trace.dataset.ranking import is_within, speedup
from fictl.user_file import read_bytes

FOLDER = "apply_table"
_FORMAT = "fictl.apply_table/1"

# "[["n", 4096]]": the variable axes of a definition, in its order.
Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Best:
    """The chosen solution, its hash and its speedup over the reference."""

    solution: str
    hash: str
    speedup: float


@dataclass(frozen=True)
class ApplyTable:
    """`index`: definition -> hardware -> sizes -> Best. `refused`: definition -> reasons."""

    digest: str
    index: Mapping[str, Mapping[str, Mapping[Sizes, Best]]]
    best: Mapping[str, Mapping[str, Best]]
    refused: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def load_or_build(cls, dataset: TraceSet, configs: ApplyConfigRegistry) -> ApplyTable:
        """Return the table of these files and configurations, from the cache if it is there."""
        digest = _digest(dataset, configs)
        folder = cache_path() / FOLDER
        path = folder / f"{digest}.json"
        with suppress(OSError, BrokenSeal, ValueError, KeyError, TypeError, AttributeError):
            return _decoded(digest, unseal(read_bytes(path)))
        table = _build(dataset, configs, digest)
        try:
            ensure_private(folder)
            write_atomic(path, seal(_encoded(table)))
        except (OSError, FictlError) as error:
            logger().info("the table of %s is not kept: %s", dataset.root, error)
        return table

    def match(self, definition: str, hardware: Iterable[str], sizes: Sizes) -> Best | None:
        """Return the best solution at exactly these sizes, on hardware that fits a pattern."""
        matching = _of_hardware(self.index.get(definition, {}), hardware)
        return _fastest(of_sizes[sizes] for of_sizes in matching if sizes in of_sizes)

    def match_any(self, definition: str, hardware: Iterable[str]) -> Best | None:
        """Return the best solution of the definition, at whatever sizes."""
        return _fastest(_of_hardware(self.best.get(definition, {}), hardware))

    def known_sizes(self, definition: str, hardware: Iterable[str]) -> list[Sizes]:
        matching = _of_hardware(self.index.get(definition, {}), hardware)
        return sorted({sizes for of_sizes in matching for sizes in of_sizes})

    def winners(self) -> list[tuple[str, Best]]:
        """List (definition, solution), those of the most sizes first."""
        counts: dict[tuple[str, Best], int] = {}
        for definition, of_hardware in self.index.items():
            for of_sizes in of_hardware.values():
                for best in of_sizes.values():
                    key = definition, Best(best.solution, best.hash, 0.0)
                    counts[key] = counts.get(key, 0) + 1
        return sorted(counts, key=lambda key: (-counts[key], key[0], key[1].solution))


def _build(dataset: TraceSet, configs: ApplyConfigRegistry, digest: str) -> ApplyTable:
    index: dict[str, dict[str, dict[Sizes, Best]]] = {}
    overall: dict[str, dict[str, Best]] = {}
    refused: dict[str, dict[str, str]] = {}
    by_definition: dict[str, list[Trace]] = {}
    for trace in dataset.traces():
        by_definition.setdefault(trace.definition, []).append(trace)
    for name, traces in by_definition.items():
        if name not in dataset.definitions:
            continue
        chosen = _Choice(configs.get(name), dataset, tuple(dataset.definitions[name].var_axes))
        chosen.read(traces)
        index[name], overall[name], refused[name] = chosen.index, chosen.overall, chosen.refused
    return ApplyTable(digest, index, overall, refused)


class _Choice:
    """The choice for one definition. A solution that failed at some sizes is not chosen there."""

    def __init__(self, config: ApplyConfig, dataset: TraceSet, axes: tuple[str, ...]) -> None:
        self._config, self._dataset, self._axes = config, dataset, axes
        self.index: dict[str, dict[Sizes, Best]] = {}
        self.overall: dict[str, Best] = {}
        self.refused: dict[str, str] = {}

    def read(self, traces: Iterable[Trace]) -> None:
        last = {
            (trace.solution, trace.evaluation.environment.hardware, trace.workload.uuid): trace
            for trace in traces
            if trace.solution and trace.evaluation
        }
        passed: dict[tuple[str, Sizes, str], list[float]] = {}
        failed: set[tuple[str, Sizes, str]] = set()
        for (name, hardware, _), trace in last.items():
            assert name is not None
            reason = self._reason(self._dataset.get_solution(name), trace)
            key = hardware, self._sizes(trace), name
            if reason:
                self.refused[name] = reason
                failed.add(key)
            else:
                passed.setdefault(key, []).append(speedup(trace))
        self._choose({key: times for key, times in passed.items() if key not in failed}, failed)

    def _choose(
        self,
        passed: Mapping[tuple[str, Sizes, str], list[float]],
        failed: set[tuple[str, Sizes, str]],
    ) -> None:
        overall: dict[tuple[str, str], list[float]] = {}
        for (hardware, sizes, name), factors in passed.items():
            best = self._best(name, min(factors))
            there = self.index.setdefault(hardware, {})
            there[sizes] = max(there.get(sizes, best), best, key=_rank)
            overall.setdefault((hardware, name), []).extend(factors)
        wrong = {(hardware, name) for hardware, _, name in failed}
        for (hardware, name), factors in overall.items():
            if (hardware, name) not in wrong:
                best = self._best(name, sum(factors) / len(factors))
                self.overall[hardware] = max(self.overall.get(hardware, best), best, key=_rank)

    def _best(self, name: str, factor: float) -> Best:
        solution = self._dataset.get_solution(name)
        assert solution is not None
        return Best(name, solution.hash(), factor)

    def _sizes(self, trace: Trace) -> Sizes:
        return tuple((axis, trace.workload.axes.get(axis, -1)) for axis in self._axes)

    def _reason(self, solution: Solution | None, trace: Trace) -> str:
        """Say why this evaluation is none to choose by; '' if it is."""
        config, evaluation = self._config, trace.evaluation
        assert evaluation is not None
        if solution is None:
            return "the dataset does not have it"
        if not trace.is_successful():
            return f"it was {evaluation.status.value} on workload {trace.workload.uuid}"
        known = (evaluation.fictl or {}).get("solution_hash")
        if known != solution.hash() and (known is not None or not config.any_hash):
            return (
                "its sources have changed since it was evaluated"
                if known
                else "its evaluation does not say of which sources it is (any_hash accepts that)"
            )
        limits = (config.max_atol or float("inf"), config.max_rtol or float("inf"))
        if limits != (float("inf"),) * 2 and not is_within(trace, *limits):
            return "its errors are above max_atol or max_rtol"
        for patterns, value in (
            (config.authors, solution.author),
            (config.languages, solution.spec.language.value),
        ):
            if patterns and not any(fnmatchcase(value, pattern) for pattern in patterns):
                return f"{value} is not among {', '.join(patterns)}"
        return ""


def _rank(best: Best) -> tuple[float, str]:
    return best.speedup, best.solution


def _fastest(candidates: Iterable[Best]) -> Best | None:
    return max(candidates, key=_rank, default=None)


def _of_hardware(by_hardware: Mapping[str, Any], patterns: Iterable[str]) -> Iterator[Any]:
    wanted = tuple(patterns)
    for hardware, value in by_hardware.items():
        if any(fnmatchcase(hardware.lower(), pattern.lower()) for pattern in wanted):
            yield value


def _digest(dataset: TraceSet, configs: ApplyConfigRegistry) -> str:
    digest = hashlib.sha256(f"{_FORMAT} {configs.text()}".encode())
    files = dataset.files
    for path in (*files.definitions(), *files.solutions(), *files.traces()):
        data = read_bytes(path, 1 << 34)
        name = str(Path(path).relative_to(dataset.root)).encode()
        digest.update(b"%d:%b%d:" % (len(name), name, len(data)))
        digest.update(data)
    return digest.hexdigest()


def _encoded(table: ApplyTable) -> dict[str, Any]:
    index = {
        definition: {
            hardware: {json.dumps(sizes): vars(best) for sizes, best in of_sizes.items()}
            for hardware, of_sizes in of_hardware.items()
        }
        for definition, of_hardware in table.index.items()
    }
    best = {
        definition: {hardware: vars(one) for hardware, one in of_hardware.items()}
        for definition, of_hardware in table.best.items()
    }
    return {
        "format": _FORMAT,
        "digest": table.digest,
        "index": index,
        "def_best": best,
        "refused": table.refused,
    }


def _decoded(digest: str, record: Mapping[str, Any]) -> ApplyTable:
    if record["format"] != _FORMAT or record["digest"] != digest:
        raise ValueError("another table")
    index = {
        definition: {
            hardware: {_sizes(text): Best(**best) for text, best in of_sizes.items()}
            for hardware, of_sizes in of_hardware.items()
        }
        for definition, of_hardware in record["index"].items()
    }
    best = {
        definition: {hardware: Best(**one) for hardware, one in of_hardware.items()}
        for definition, of_hardware in record["def_best"].items()
    }
    return ApplyTable(digest, index, best, record["refused"])


def _sizes(text: str) -> Sizes:
    return tuple((str(axis), int(size)) for axis, size in json.loads(text))
