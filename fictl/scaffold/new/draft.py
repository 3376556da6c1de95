"""Draft: an op that is not there yet, as templates see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fictl.dtype import DType, parse_dtype
from fictl.project import Project
from fictl.scaffold.kinds.imports import import_block
from fictl.scaffold.kinds.kind import Kind
from fictl.scaffold.kinds.match import Bound
from fictl.scaffold.new.expression import Expression, Score
from fictl.scaffold.new.guess import Guess
from fictl.scaffold.new.names import title
from fictl.scaffold.new.signature import Signature
from fictl.scaffold.new.spelling import Spelling

if TYPE_CHECKING:
    from fictl.scaffold.new.reference import ReadReference, Reference

# What fp32 cannot hold exactly is computed in fp64.
_WIDE = ("float64", "int32", "int64")
_HEADER_FP8 = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn_x2")


@dataclass(frozen=True)
class Draft:
    """Everything that is known of it. `roles` are the axes that the kind's patterns name; `guesses`
    are what nothing said; `read` is what --from read.
    """

    project: Project
    family: str
    name: str
    kind: Kind
    signature: Signature
    dtypes: tuple[DType, ...]
    archs: str
    devices: str
    roles: Bound
    expression: Expression | None = None
    reference: Reference | None = None
    doc: str = ""
    more: Mapping[str, Any] | None = None
    guesses: tuple[Guess, ...] = ()
    read: ReadReference | None = None

    @property
    def title(self) -> str:
        return title(self.name)

    @property
    def is_wide(self) -> bool:
        return any(dtype.name in _WIDE for dtype in self.dtypes)

    @property
    def has_integers(self) -> bool:
        return any(not _is_floating(dtype) for dtype in self.dtypes)

    @property
    def reference_code(self) -> str:
        """Torch code that computes the outputs from the tensors."""
        if self.expression is None:
            return ""
        tensors = [tensor.name for tensor in self.signature.inputs]
        keep = self.kind.expression in ("rows", "weights")
        cast = ".double()" if self.has_integers else ""
        return self.expression.torch(tensors, keep, cast)

    @property
    def call(self) -> str:
        """Signature and computation in one line."""
        signature = self.signature
        taken = ", ".join(map(str, (*signature.inputs, *signature.scalars)))
        sign = "~" if self.kind.expression == "weights" else "="
        given = f" {sign} {self.expression}" if self.expression else ""
        return f"{self.name}({taken}) -> {', '.join(map(str, signature.outputs))}{given}"

    def to_dict(self) -> dict[str, Any]:
        """The signature and the computation, for --json."""
        signature = self.signature
        return {
            "call": self.call,
            "inputs": [tensor.to_dict() for tensor in signature.inputs],
            "scalars": [scalar.to_dict() for scalar in signature.scalars],
            "outputs": [tensor.to_dict() for tensor in signature.outputs],
            "computes": str(self.expression) if self.expression else None,
            "dtypes": [dtype.name for dtype in self.dtypes],
        }

    @property
    def description(self) -> str:
        """One sentence on what it computes."""
        if self.doc:
            return self.doc if self.doc.endswith(".") else f"{self.doc}."
        how = {"pointwise": "element by element", "rows": "row by row", "reduction": "of every row"}
        if self.expression is None:
            return self.kind.summary[0].upper() + self.kind.summary[1:] + "."
        if isinstance(self.expression, Score):
            what = "to keys where" if self.expression.is_mask else "whose logits are"
            return f"Attention {what} {self.expression}."
        if self.kind.expression == "weights":
            return f"A token of every row, drawn by the weights {self.expression}."
        return f"{self.expression}, {how[self.kind.expression]}."

    @property
    def about(self) -> str:
        """The description behind a colon."""
        return self.doc[:1].lower() + self.description[1:] if self.doc else self.description

    @cached_property
    def context(self) -> dict[str, Any]:
        """The names that a template may use."""
        signature = self.signature
        return {
            "project": self.project.name,
            "package": self.project.package,
            "family": self.family,
            "name": self.name,
            "title": self.title,
            "kind": self.kind.name,
            "inputs": signature.inputs,
            "scalars": signature.scalars,
            "outputs": signature.outputs,
            "tensors": (*signature.outputs, *signature.inputs),
            "axes": signature.axes,
            "spelled": Spelling(signature),
            "description": self.description,
            "about": self.about,
            "summary": self.kind.summary,
            "roles": self.roles,
            "dtypes": self.dtypes,
            "is_wide": self.is_wide,
            "has_integers": self.has_integers,
            "has_fp8": any(dtype.name in _HEADER_FP8 for dtype in self.dtypes),
            "archs": self.archs,
            "devices": self.devices,
            "expression": self.expression,
            "reference": self.reference,
            "reference_code": self.reference_code,
            "import_block": import_block,
            "parse_dtype": parse_dtype,
            **(self.more or {}),
        }


def _is_floating(dtype: DType) -> bool:
    return dtype.name.startswith(("float", "bfloat"))
