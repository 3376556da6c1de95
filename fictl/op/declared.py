"""Op: the declaration of a public function by `@op`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from fictl.arch import Arch, ArchRule
from fictl.dtype import DType
from fictl.errors import UsageError
from fictl.project.python_source import running
from fictl.trace import TraceTemplate


@dataclass(frozen=True)
class Op:
    """Declaration of an op: architectures, devices, dtypes and more. `module` is its op.py."""

    name: str
    archs: ArchRule
    dtypes: tuple[DType, ...]
    devices: tuple[str, ...]
    mutates: tuple[str, ...]
    uses: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    module: str = ""
    trace: TraceTemplate | None = field(default=None, compare=False, repr=False)

    def supports(self, gpu: Arch) -> bool:
        return self.archs.supports(gpu)

    @property
    def package(self) -> str:
        """Import name of its project; the module's own name if it is outside of any project."""
        package, *rest = self.module.removeprefix("fictl.kernels.").rsplit(".", 3)
        if self.module.startswith("fictl.kernels."):
            return "fictl"
        return package if len(rest) == 3 else self.module

    @property
    def api(self) -> str:
        """The op's name in user code: `fictl.ops.<name>`."""
        return f"{self.package}.ops.{self.name}"

    @cached_property
    def template(self) -> TraceTemplate:
        """The op's trace: `trace=` of the declaration, else its name in trace.py beside op.py."""
        if self.trace is not None:
            return self.trace
        beside = f"{self.module.rpartition('.')[0]}.trace"
        template = getattr(self._trace_module(beside), self.name, None)
        if template is None:
            raise UsageError(
                f"{self.name} has no trace",
                "give @op a trace=, or write one of its name in trace.py beside op.py",
            )
        if not isinstance(template, TraceTemplate):
            raise UsageError(f"{beside}.{self.name} is not a TraceTemplate but {template!r}")
        return template

    def _trace_module(self, name: str) -> ModuleType | None:
        """Import a module beside op.py; None if the file is missing. Errors name their line."""
        own = sys.modules.get(self.module)
        path = Path(getattr(own, "__file__", None) or self.module).with_name("trace.py")
        with running(path):
            try:
                return import_module(name)
            except ModuleNotFoundError as error:
                if error.name and name.startswith(error.name):
                    return None
                raise


def declaration(api: Any) -> Op:
    """Return the declaration of a public function, or of a class whose `run` is decorated."""
    op = getattr(api, "op", None) or getattr(getattr(api, "run", None), "op", None)
    if not isinstance(op, Op):
        raise UsageError(
            f"{api!r} is not an op",
            "pass a function, or a class with plan and run, that @op declares",
        )
    return op
