"""BuilderRegistry: the builders in order, and the solutions built by this process."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import ClassVar

from fictl import settings
from fictl.errors import FictlError
from fictl.runnable.alone import alone
from fictl.runnable.builder import Builder
from fictl.runnable.discovered import shipped, third_party
from fictl.runnable.error import BuildError, machine_error
from fictl.runnable.runnable import Runnable
from fictl.trace import BuildSpec, Definition, Solution, SourceFile, SupportedLanguages


@dataclass
class _Kept:
    """Result of one solution; its lock is held while it is built."""

    lock: Lock = field(default_factory=Lock)
    outcome: Runnable | BuildError | None = None


class BuilderRegistry:
    """Uses the first builder that accepts a solution, and builds each solution once."""

    _instance: ClassVar[BuilderRegistry | None] = None
    _instance_lock: ClassVar[Lock] = Lock()

    def __init__(self, builders: list[Builder]) -> None:
        if not builders:
            raise ValueError("a registry needs at least one builder")
        self._builders = [*builders]
        self._cache: dict[tuple[str, str], _Kept] = {}
        self._lock = Lock()

    @classmethod
    def get_instance(cls) -> BuilderRegistry:
        """Return the registry of this process: builders of installed packages, then Triton,
        TileLang, Python, TVM-FFI and Torch, if they were available at the first call.
        """
        with cls._instance_lock:
            if cls._instance is None:
                kinds = [*third_party(), *(kind for kind in shipped() if kind.is_available())]
                cls._instance = cls([kind() for kind in kinds])  # type: ignore[call-arg]
            return cls._instance

    @property
    def builders(self) -> tuple[Builder, ...]:
        return (*self._builders,)

    def build(self, definition: Definition, solution: Solution) -> Runnable:
        """Return the solution, built now or before; BuildError if no builder can, or if it fails.

        A failure is remembered by this process, unless the machine is at fault. Processes that
        build the same solution do so one after the other.
        """
        key = solution.hash()
        with self._lock:
            kept = self._cache.setdefault((key, settings.DEVICE.get()), _Kept())
        with kept.lock:
            outcome = kept.outcome
            if isinstance(outcome, BuildError):
                raise outcome.again()
            if outcome is None or outcome.is_clean:
                outcome = kept.outcome = self._first_build(key, definition, solution, kept)
            return _as_asked(outcome, definition, solution)

    def build_reference(self, definition: Definition) -> Runnable:
        """Build the reference of a definition, as a solution that returns its outputs."""
        return self.build(definition, reference_solution(definition))

    def cleanup(self) -> None:
        """Release everything that was built, even if some of it fails."""
        with self._lock:
            kept, self._cache = [*self._cache.values()], {}
        for runnable in kept:
            if isinstance(runnable.outcome, Runnable):
                with suppress(Exception):
                    runnable.outcome.cleanup()

    def _first_build(
        self, key: str, definition: Definition, solution: Solution, kept: _Kept
    ) -> Runnable:
        builder = self._builder_of(solution)
        try:
            with nullcontext() if builder.is_process_safe else alone(key):
                return builder.build(definition, solution)
        except BuildError as error:
            kept.outcome = None if error.is_of_machine else error.again()
            raise
        except FictlError as error:
            raise BuildError.of(solution.name, error) from error
        except Exception as error:  # A third-party builder should raise BuildError, but may not.
            what = f"{type(builder).__name__} failed with {type(error).__name__}: {error}"
            raise BuildError(f"{solution.name}: {what}") from error

    def _builder_of(self, solution: Solution) -> Builder:
        registered = next(
            (candidate for candidate in self._builders if candidate.can_build(solution)), None
        )
        if registered is not None:
            return registered
        binding = solution.spec.binding
        what = f"language {solution.spec.language.value}"
        what += f", binding {binding.value}" if binding else ""
        for kind in shipped():
            builder: Builder = kind()  # type: ignore[call-arg]
            if builder.can_build(solution) and not kind.is_available():
                raise machine_error(f"{solution.name} cannot be built here: {what}", kind.needs)
        names = ", ".join(type(candidate).__name__ for candidate in self._builders)
        raise BuildError(f"there is no builder for {solution.name}: {what}", f"there are {names}")


def reference_solution(definition: Definition) -> Solution:
    """Make a solution of a definition's reference, as flashinfer-bench does."""
    return Solution(
        name=f"{definition.name}__reference",
        definition=definition.name,
        author="__builtin__",
        spec=BuildSpec(
            language=SupportedLanguages.PYTHON,
            target_hardware=("cpu", "cuda"),
            entry_point="main.py::run",
            destination_passing_style=False,
        ),
        sources=(SourceFile(path="main.py", content=definition.reference),),
    )


def _as_asked(built: Runnable, definition: Definition, solution: Solution) -> Runnable:
    """Runnable under the name of the requested solution, if its content was built before."""
    metadata = built.metadata
    if metadata.solution_name == solution.name and _is_the_same(metadata.definition, definition):
        return built
    changed = {"solution_name": solution.name, "definition_name": definition.name}
    if metadata.definition is not None:
        changed["definition"] = definition  # type: ignore[assignment]
    return built.renamed(metadata.model_copy(update=changed))


def _is_the_same(known: Definition | None, asked: Definition) -> bool:
    """Compare also the order of inputs and outputs, which the call uses and == ignores."""
    return known is None or (
        known == asked
        and [*known.inputs] == [*asked.inputs]
        and [*known.outputs] == [*asked.outputs]
    )
