"""TracingRuntime: collects calls by policies, and writes them to a dataset."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, ClassVar
from weakref import WeakSet

import torch

from fictl import settings
from fictl.errors import FictlError, UsageError
from fictl.log import logger, warn_once
from fictl.trace import Definition, TraceSet
from fictl.trace.dataset.trusted import require_own_folder
from fictl.tracing.config import TracingConfig, TracingConfigRegistry
from fictl.tracing.entry import WorkloadEntry
from fictl.tracing.policies import KeepAll
from fictl.tracing.saving_at_end import save_at_end
from fictl.tracing.values import lengths_of, snapshot
from fictl.tracing.written import Written, write_entries

# Entries that hold no tensors are small, but not nothing.
_MOST_ENTRIES = 1000
_MEGABYTE = 1 << 20
# A part of all memory that one call may take.
_PART = 4

AnyConfig = TracingConfig | Mapping[str, TracingConfig] | TracingConfigRegistry | None


@dataclass(frozen=True)
class CollectResult:
    """Result of one call: accepted, or the reason why not."""

    accepted: bool
    reason: str = ""


class TracingRuntime:
    """Collects into one folder. Runtimes are nested: the one that was started last collects.

    Memory is bounded: entries are written when they take FICTL_TRACING_MAX_MB, and those of a
    policy that decides at the end are left out beyond that. Errors never reach the program's calls.
    """

    _stack: ClassVar[list[TracingRuntime]] = []
    _all: ClassVar[WeakSet[TracingRuntime]] = WeakSet()

    def __init__(self, root: Path | str | TraceSet, config: AnyConfig = None) -> None:
        """Open a folder to collect into, which need not exist; its definitions are known."""
        self.root = root.root if isinstance(root, TraceSet) else Path(root).absolute()
        require_own_folder(self.root)
        is_there = os.path.isdir(self.root)
        self.definitions = dict(TraceSet(self.root).definitions) if is_there else {}
        self.configs = _registry(config)
        self.policies: dict[str, KeepAll] = {}
        self.written = Written()
        self._most = settings.TRACING_MAX_MB.get() * _MEGABYTE
        self._order = 0
        self._lock = RLock()
        for name in self.configs.per_definition:
            if name not in self.definitions:
                logger().warning("tracing: %s has no definition %s yet", self.root, name)
        TracingRuntime._all.add(self)

    @classmethod
    def current(cls) -> TracingRuntime | None:
        return cls._stack[-1] if cls._stack else None

    def start(self) -> TracingRuntime:
        """Make it the one that collects; what it holds is written when the program ends."""
        save_at_end(TracingRuntime.flush_all, _after_fork)
        if TracingRuntime.current() is not self:
            TracingRuntime._stack.append(self)
        return self

    def stop(self) -> None:
        """Write what is held, and restore the runtime before; only the current one can be stopped."""
        if TracingRuntime.current() is not self:
            raise UsageError(
                "tracing: another runtime is the current one", "runtimes stop in LIFO order"
            )
        TracingRuntime._stack.pop()
        self.flush()

    def __enter__(self) -> TracingRuntime:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def define(self, definition: Definition) -> None:
        """Add a definition to those that are collected."""
        self.definitions.setdefault(definition.name, definition)

    def collect(
        self, definition: str, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
    ) -> CollectResult:
        """Collect one call by its inputs; outputs after them are left out. Nothing is raised."""
        try:
            known = self.definitions.get(definition)
            if known is None:
                return CollectResult(False, f"there is no definition {definition!r}")
            values = known.merge_kwargs_to_args(args, kwargs or {})
            inputs, outputs = len(known.inputs), len(known.outputs)
            if len(values) not in (inputs, inputs + outputs):
                return CollectResult(
                    False, f"{len(values)} arguments, instead of {inputs} or {inputs + outputs}"
                )
            axes = known.get_axes_values_from_inputs(values[:inputs])
            return self.submit(known, axes, dict(zip(known.inputs, values, strict=False)))
        except Exception as error:
            warn_once(f"tracing: a call of {definition} is not collected: {error}")
            return CollectResult(False, str(error))

    def submit(
        self, definition: Definition, axes: Mapping[str, int], inputs: Mapping[str, Any]
    ) -> CollectResult:
        """Collect a call whose sizes are known; values are copied only if the policy wants it."""
        config = self.configs.get(definition.name)
        if config is None:
            return CollectResult(False, "tracing_not_configured")
        with self._lock:
            policy = self._policy(definition.name, config)
            if not policy.needs_lengths and not policy.wants(axes, {}):
                return CollectResult(False, "the policy has enough of these")
            entry = self._entry(definition, config, axes, inputs)
            if entry is None:
                return CollectResult(False, "a CUDA graph is captured: values cannot be copied")
            if policy.needs_lengths and not policy.wants(axes, entry.lengths):
                return CollectResult(False, "the policy has enough of these")
            return self._kept(policy, entry)

    def flush(self) -> Written:
        """Write all that is held, also what a policy keeps for the end.

        What cannot be written is held on, and the error is raised.
        """
        with self._lock:
            held = {name: policy.drain() for name, policy in self.policies.items()}
            try:
                written = write_entries(self.root, self.definitions, self.policies, held)
            except FictlError:
                for name, entries in held.items():
                    self.policies[name].entries[:0] = entries
                raise
            self.written = self.written.and_(written)
            return written

    @classmethod
    def flush_all(cls) -> None:
        """Write what every runtime holds; for the end of the program."""
        for runtime in list(cls._all):
            try:
                runtime.flush()
            except FictlError as error:
                logger().warning("tracing: %s", error.message)

    def forget_parent(self) -> None:
        """Forget what the parent of this forked process holds: the parent writes it."""
        self._lock = RLock()
        for policy in self.policies.values():
            policy.drain()

    def _policy(self, name: str, config: TracingConfig) -> KeepAll:
        if name not in self.policies:
            self.policies[name] = config.create_filter_policy()
        return self.policies[name]

    def _entry(
        self,
        definition: Definition,
        config: TracingConfig,
        axes: Mapping[str, int],
        inputs: Mapping[str, Any],
    ) -> WorkloadEntry | None:
        names = config.inputs_to_dump(inputs)
        if names and _captures():
            return None
        tensors = snapshot(inputs, names)
        self._order += 1
        numbers = {
            name: inputs[name]
            for name, spec in definition.inputs.items()
            if spec.shape is None and isinstance(inputs.get(name), bool | int | float)
        }
        return WorkloadEntry(
            definition.name, dict(axes), tensors, numbers, lengths_of(tensors), self._order
        )

    def _kept(self, policy: KeepAll, entry: WorkloadEntry) -> CollectResult:
        if entry.size > self._most // _PART:
            warn_once(
                f"tracing: calls of {entry.definition} with {entry.size} bytes of values are not "
                f"collected: {settings.TRACING_MAX_MB.name} is {self._most // _MEGABYTE}"
            )
            return CollectResult(False, "its values are too large")
        if self._is_full(entry):
            self._make_room()
            if policy.is_at_end and self._is_full(entry):
                warn_once(f"tracing: a sample is full: {settings.TRACING_MAX_MB.name}")
                return CollectResult(False, "memory is full")
        return CollectResult(policy.submit(entry))

    def _is_full(self, entry: WorkloadEntry) -> bool:
        held = [one for policy in self.policies.values() for one in policy.entries]
        return len(held) >= _MOST_ENTRIES or sum(one.size for one in held) + entry.size > self._most

    def _make_room(self) -> None:
        """Write what is decided, in the thread of the call that fills the memory."""
        final = {n: policy for n, policy in self.policies.items() if not policy.is_at_end}
        held = {name: policy.drain() for name, policy in final.items()}
        try:
            written = write_entries(self.root, self.definitions, final, held)
            self.written = self.written.and_(written)
        except FictlError as error:
            lost = sum(map(len, held.values()))
            warn_once(f"tracing: {lost} workloads are lost: {error.message}")


def _registry(config: AnyConfig) -> TracingConfigRegistry:
    if config is None:
        policy = settings.TRACING_POLICY.get()
        kwargs = {"k": 100} if policy == "keep_first_k" else {}
        return TracingConfigRegistry(
            TracingConfig(filter_policy=policy, filter_policy_kwargs=kwargs)
        )
    if isinstance(config, TracingConfig):
        return TracingConfigRegistry(config)
    if isinstance(config, TracingConfigRegistry):
        return config
    return TracingConfigRegistry(per_definition=dict(config))


def _captures() -> bool:
    ready = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return bool(ready and torch.cuda.is_current_stream_capturing())


def _after_fork() -> None:
    for runtime in list(TracingRuntime._all):  # noqa: SLF001
        runtime.forget_parent()
