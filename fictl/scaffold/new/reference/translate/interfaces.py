"""Interfaces between the reader of expressions, torch's calls and the file of a reference."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Protocol

from fictl.scaffold.new.reference.translate.value import ReferenceValue


class ValueReader(Protocol):
    """The reader, as the calls of torch's functions see it."""

    @property
    def tensors(self) -> set[str]: ...

    def value(self, node: ast.expr) -> ReferenceValue: ...

    def joined(self, node: ast.expr, tree: ast.expr, *values: ReferenceValue) -> ReferenceValue: ...


class ReferenceFile(Protocol):
    """The file of a reference, as the reader of one of its functions sees it."""

    tensors: set[str]

    def constant(self, name: str) -> ast.expr | None: ...

    def function(self, name: str) -> ast.FunctionDef | None: ...

    def call(
        self,
        node: ast.Call,
        function: ast.FunctionDef,
        values: Mapping[str, ReferenceValue],
        depth: int,
    ) -> ReferenceValue: ...
