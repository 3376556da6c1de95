"""An op folder for its tests: specs, traces, cases and functions, imported on demand."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fictl.builds.for_archs import for_archs
from fictl.jit import JitSpec
from fictl.op.folder_specs import folder_specs
from fictl.project import OpFolder
from fictl.testing.generated.seed import seed_of
from fictl.testing.generated.selection import variants
from fictl.testing.generated.variant import CaseVariant, choose
from fictl.trace import Case, TraceTemplate
from fictl.user_file import read_text

if TYPE_CHECKING:
    from fictl.jit.store.entry import Entry

_EXPORT = re.compile(r"TVM_FFI_DLL_EXPORT_TYPED_FUNC\(\s*(\w+)")


@dataclass(frozen=True)
class OpSuite:
    """The parts of an op that contract tests use."""

    folder: OpFolder

    @property
    def name(self) -> str:
        return self.folder.module

    @cached_property
    def specs(self) -> list[JitSpec]:
        return for_archs(folder_specs(self.folder), ())

    @cached_property
    def cases(self) -> list[Case]:
        return self.folder.cases()

    @cached_property
    def exported(self) -> set[str]:
        return set(_EXPORT.findall(read_text(self.folder.binding)))

    def template(self, case: Case) -> TraceTemplate:
        template = getattr(self.folder.load("trace"), case.function)
        assert isinstance(template, TraceTemplate)
        return template

    def function(self, case: Case) -> Any:
        return getattr(self.folder.load("op"), case.function)

    def variants(self, text: str = "", seed: int = 0) -> list[CaseVariant]:
        """Return the variants for generated tests; with `text`, those it names, with its seed."""
        named_seed = seed_of(text)
        seed = seed if named_seed is None else named_seed
        by_name: dict[str, CaseVariant] = {}
        for function in dict.fromkeys(case.function for case in self.cases):
            cases = [case for case in self.cases if case.function == function]
            own = variants(self.template(cases[0]), cases, seed)
            by_name |= {str(variant): variant for variant in own}
        every = [*by_name.values()]
        return choose(every, text) if text else every

    @staticmethod
    def exports_of(entry: Entry) -> set[str]:
        """Return the functions that a built module exports, read from its symbol table."""
        table = subprocess.run(
            ["nm", "-D", "--defined-only", str(entry.module)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return set(re.findall(r" T __tvm_ffi_(?!_)(\w+)", table))
