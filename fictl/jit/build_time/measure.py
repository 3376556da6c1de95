"""Measure a cold build: each unit by itself, in a folder that is never published."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fictl import settings
from fictl.errors import FictlError, SetupError
from fictl.jit.build_time import device_trace
from fictl.jit.build_time.device_trace import DeviceTrace
from fictl.jit.build_time.included import Included, includes
from fictl.jit.build_time.last_edit import LastEdit, last_edit
from fictl.jit.build_time.phases import Phase, host_phases, nvcc_phases
from fictl.jit.build_time.report import BuildTime, Header, KernelTime
from fictl.jit.compile import generate, prepare
from fictl.jit.diagnose import diagnose
from fictl.jit.plan import Plan, Unit
from fictl.jit.progress import BuildObserver
from fictl.jit.recipe import reached_by
from fictl.jit.sources import portable_name
from fictl.jit.store.entry import Entry
from fictl.jit.store.staging import staging_folder
from fictl.jit.store.stores import writable_store
from fictl.jit.unit_command import compiler_and_flags
from fictl.process import Finished, stream
from fictl.toolchain import require_toolchain

# Each header costs a separate compile.
_TIMED_ALONE = 3


def measure(plan: Plan, built: Entry, observer: BuildObserver) -> BuildTime:
    """Compile every unit of `plan` again, whatever is cached."""
    if settings.DISABLE_JIT.get():
        raise SetupError(
            f"{settings.DISABLE_JIT.name} forbids to compile, which is what --time measures",
            "unset it",
        )
    spec = plan.spec
    with staging_folder(writable_store().module_dir(spec.project, spec.name)) as folder:
        prepare(plan, folder)
        generated = generate(plan, folder)
        bench = _Bench(plan, folder)
        for unit in plan.units:
            observer.note(f"{spec.name}: timing {unit.source.name}")
            bench.compile(unit)
        link = bench.run(plan.link).seconds
    generation = [Phase(plan.generated.source.name, "Triton", generated)] if plan.generated else []
    phases = (*generation, *bench.phases, Phase("", "link", link))
    return BuildTime(
        sum(phase.seconds for phase in phases),
        phases,
        tuple(bench.headers),
        tuple(bench.kernels),
        _named(last_edit(built), plan),
    )


class _Bench:
    """One measurement: its folder and the results so far."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._folder = folder
        self._toolchain = require_toolchain()
        self._traces = device_trace.supported(self._toolchain.nvcc)
        self.phases: list[Phase] = []
        self.headers: list[Header] = []
        self.kernels: list[KernelTime] = []

    def run(self, argv: Sequence[str]) -> Finished:
        done = self._try(argv)
        if done.code:
            diagnosis = diagnose(done.output)
            message = f"{self._plan.spec.name} cannot be timed: {diagnosis.first}"
            raise FictlError(message, diagnosis.hint)
        return done

    def compile(self, unit: Unit) -> None:
        """Time one unit. The preprocessor runs first, to bring headers into the file cache."""
        text = self._folder / f"{unit.object}.i"
        preprocessed = self.run([*self._front(unit), "-E", str(unit.source), "-o", str(text)])
        own = self._own(unit)
        included = includes(text.read_bytes(), own)
        trace = None
        if unit.device:
            trace = self._compile_device(unit)
        else:
            syntax = self.run([*self._front(unit), "-fsyntax-only", str(unit.source)]).seconds
            wall = self.run(self._cold(unit)).seconds
            self.phases += host_phases(unit.source.name, preprocessed.seconds, syntax, wall)
        self.headers += self._timed(unit, included, own, trace)

    def _compile_device(self, unit: Unit) -> DeviceTrace | None:
        table, base = self._folder / f"{unit.object}.csv", f"{unit.object}.trace"
        traced = [f"{device_trace.FLAG}={base}"] if self._traces else []
        wall = self.run([*self._cold(unit), f"--time={table.name}", *traced]).seconds
        text = table.read_text(encoding="utf-8", errors="replace") if os.path.isfile(table) else ""
        self.phases += nvcc_phases(text, unit.source, wall)
        trace = device_trace.read_trace(self._folder / f"{base}.json")
        if trace:
            names = sorted(trace.kernels, key=lambda name: -trace.kernels[name])
            shown = device_trace.demangled(names)
            self.kernels += [
                KernelTime(unit.source.name, plain, trace.kernels[name])
                for name, plain in zip(names, shown, strict=True)
            ]
        return trace

    def _timed(
        self, unit: Unit, included: list[Included], own: set[Path], trace: DeviceTrace | None
    ) -> list[Header]:
        headers = [self._header(unit, header, trace) for header in included]
        if trace is None:
            candidates = [
                (header.lines, at) for at, header in enumerate(included) if header.path not in own
            ]
            empty = self._alone(unit, "")
            for _, at in sorted(candidates, reverse=True)[:_TIMED_ALONE]:
                alone = self._alone(unit, f'#include "{included[at].path}"\n')
                if alone and empty:
                    took = max(0.0, alone - empty)
                    headers[at] = replace(headers[at], seconds=took, measured="alone")
        return sorted(headers, key=lambda header: (-(header.seconds or 0), -header.lines))

    def _header(self, unit: Unit, header: Included, trace: DeviceTrace | None) -> Header:
        seconds = trace.headers.get(header.path) if trace else None
        includer = self._spelt(header.includer) if header.includer else ""
        return Header(
            unit.source.name,
            self._spelt(header.path),
            includer,
            header.lines,
            seconds,
            "front end" if seconds is not None else "",
        )

    def _spelt(self, path: Path) -> str:
        """Return a header's name as an #include spells it."""
        if not path.is_absolute():
            return path.name  # Rendered into the build folder.
        spec = self._plan.spec
        include_dirs = tuple(folder.absolute() for folder in spec.include_dirs)
        name = portable_name(path, spec.base.absolute(), include_dirs).strip("<>")
        return name.rpartition("/include/")[2] or name

    def _alone(self, unit: Unit, text: str) -> float | None:
        """Return the seconds of a unit with only this text; None if it does not compile."""
        source = self._folder / f"alone{unit.source.suffix}"
        source.write_text(text, encoding="utf-8")
        what = "-c" if unit.device else "-fsyntax-only"
        done = self._try([*self._front(unit), what, str(source), "-o", "alone.o"])
        return None if done.code else done.seconds

    def _front(self, unit: Unit) -> tuple[str, ...]:
        """Return the command without launcher: otherwise a compiler cache would be timed."""
        return compiler_and_flags(unit, self._toolchain)

    def _cold(self, unit: Unit) -> tuple[str, ...]:
        return (*self._front(unit), "-c", str(unit.source), "-o", unit.object)

    def _own(self, unit: Unit) -> set[Path]:
        reached = reached_by(self._plan.spec, unit.source)
        return {Path(os.path.normpath(path)) for path in reached.files.values()}

    def _try(self, argv: Sequence[str]) -> Finished:
        return stream(argv, lambda _: None, cwd=self._folder)


def _named(edit: LastEdit | None, plan: Plan) -> LastEdit | None:
    """Name sources instead of objects."""
    if edit is None:
        return None
    sources = {unit.object: unit.source.name for unit in plan.units}
    units = {sources.get(name, name): seconds for name, seconds in edit.units.items()}
    return replace(edit, units=units)
