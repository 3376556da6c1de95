"""The solutions of a dataset that run in this process: each built once, and struck out if it fails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from threading import Lock

from fictl.apply.table import Best
from fictl.errors import FictlError
from fictl.log import logger
from fictl.runnable import BuilderRegistry, Runnable
from fictl.trace import TraceSet


class AppliedSolutions:
    """Runnables by (definition, solution). A struck solution is not run again by this process."""

    def __init__(self, dataset: TraceSet) -> None:
        self._dataset = dataset
        self._built: dict[tuple[str, str], Runnable] = {}
        self._struck: dict[tuple[str, str], str] = {}
        self._lock = Lock()

    def is_built(self, definition: str, best: Best) -> bool:
        return (definition, best.solution) in self._built

    def struck(self, definition: str, best: Best) -> str:
        """Say why a solution is not run any more; '' if it may run."""
        return self._struck.get((definition, best.solution), "")

    def get(self, definition: str, best: Best) -> Runnable | None:
        """Build the solution if it is not built yet; None if that fails, with one warning."""
        key = definition, best.solution
        runnable = self._built.get(key)
        if runnable is not None or key in self._struck:
            return runnable
        with self._lock:
            if key not in self._built and key not in self._struck:
                try:
                    self._built[key] = self._build(definition, best)
                except FictlError as error:
                    self._strike(key, f"it does not build: {error.message}")
        return self._built.get(key)

    def strike(self, definition: str, best: Best, error: Exception) -> None:
        """Never run a solution again that has raised."""
        with self._lock:
            self._strike((definition, best.solution), f"it raised {type(error).__name__}: {error}")

    def build_ahead(self, winners: Sequence[tuple[str, Best]], ratio: float) -> None:
        """Build a share of the chosen solutions, those of the most sizes first."""
        for definition, best in winners[: math.ceil(ratio * len(winners))]:
            self.get(definition, best)

    def _build(self, definition: str, best: Best) -> Runnable:
        solution = self._dataset.get_solution(best.solution)
        if solution is None or solution.hash() != best.hash:
            raise FictlError(f"{best.solution} has changed since the dataset was opened")
        of = self._dataset.definitions[definition]
        return BuilderRegistry.get_instance().build(of, solution)

    def _strike(self, key: tuple[str, str], why: str) -> None:
        if key not in self._struck:
            self._struck[key] = why
            self._built.pop(key, None)
            logger().warning("solution %s of %s is not applied any more: %s", key[1], key[0], why)
