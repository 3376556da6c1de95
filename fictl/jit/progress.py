"""Observers of a build: the library logs its progress, the command line draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from fictl import settings
from fictl.log import logger
from fictl.paths import friendly
from fictl.redact import hide_secrets


@dataclass(frozen=True)
class Started:
    """A build about to start. `eta` is estimated from the module's last builds, 0 if unknown."""

    module: str
    archs: str
    origin: str
    units: int
    cached: int
    jobs: int
    eta: float
    log: Path


class BuildObserver(Protocol):
    """Receives the events of one build, from the thread that builds."""

    @property
    def verbose(self) -> bool: ...
    def started(self, build: Started) -> None: ...
    def advanced(self, done: int, total: int, what: str) -> None: ...
    def finished(self, module: str, seconds: float, why: str = "") -> None: ...
    def note(self, text: str) -> None: ...
    def command(self, line: str) -> None: ...


@dataclass(frozen=True)
class LogObserver:
    """Log one line at the start and one at the end of a build; `verbose` adds its whole output."""

    verbose: bool = field(default_factory=settings.JIT_VERBOSE.get)

    def started(self, build: Started) -> None:
        logger().info("%s", start_line(build))

    def advanced(self, done: int, total: int, what: str) -> None:
        logger().debug("%d/%d %s", done, total, what)

    def finished(self, module: str, seconds: float, why: str = "") -> None:
        logger().info("%s", end_line(module, seconds, why))

    def note(self, text: str) -> None:
        logger().warning("%s", text)

    def command(self, line: str) -> None:
        if self.verbose:
            logger().info("%s", hide_secrets(line))


def end_line(module: str, seconds: float, why: str = "") -> str:
    return f"built {module} in {seconds:.1f} s{f' ({why})' if why else ''}"


def start_line(build: Started) -> str:
    units = f"{build.units} unit{'s' * (build.units != 1)}"
    cached = f" ({build.cached} cached)" if build.cached else ""
    eta = f", about {build.eta:.0f} s" if build.eta >= 1 else ""
    return f"building {build.module} for {build.archs or 'the emulated device'}: {units}{cached}{eta}; log {friendly(build.log)}"
