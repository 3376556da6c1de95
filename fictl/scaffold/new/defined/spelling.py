"""A definition's axes and arguments as a trace spells them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from fictl.scaffold.new.defined.read import Defined
from fictl.scaffold.new.signature import Axis
from fictl.scaffold.new.spelling import Spelling


@dataclass(frozen=True)
class DefinedSpelling(Spelling):
    """Spelling with the definition's roles of axes: variable, constant, or derived."""

    defined: Defined

    def axis_role(self, axis: Axis) -> str:
        definition = self.defined.definition
        if axis.name in self.defined.expressions:
            return "Expr"
        return "Var" if axis.name in definition.var_axes else "Const"

    @property
    def trace_names(self) -> list[str]:
        definition = self.defined.definition
        roles = {"Var"} if self.defined.free else set()
        roles |= {"Expr"} if self.defined.expressions else set()
        roles |= {"Const"} if definition.const_axes or self._digits else set()
        scalars = {"Scalar"} if self.signature.scalars else set()
        return sorted({"Tensor", "TraceTemplate"} | roles | scalars)

    @property
    def traced_axes(self) -> list[str]:
        definition = self.defined.definition
        texts = []
        for name, axis in definition.axes.items():
            doc = json.dumps(axis.description or self._usual(name), ensure_ascii=False)
            if name in definition.const_axes:
                text = f"Const({doc}, value={definition.const_axes[name]})"
            elif name in self.defined.expressions:
                text = f"Expr({json.dumps(self.defined.expressions[name])}, {doc})"
            else:
                text = f"Var({doc})"
            texts.append(f'"{name}": {text}')
        return [*texts, *(f'"{a.name}": Const("fixed", value={a.size})' for a in self._digits)]

    def _usual(self, name: str) -> str:
        if name in self.defined.definition.const_axes:
            return "fixed by the definition"
        follows = name in self.defined.expressions
        return "follows from the others" if follows else "changes from call to call"

    @property
    def _digits(self) -> list[Axis]:
        """Sizes that a shape of the definition has in digits."""
        return [
            axis for axis in self.signature.axes if axis.name not in self.defined.definition.axes
        ]

    @property
    def constraints(self) -> list[str]:
        return [json.dumps(text) for text in self.defined.constraints]

    @property
    def tags(self) -> list[str]:
        """Tags without the one of the defined function: this is another."""
        tags = self.defined.definition.tags
        return [json.dumps(tag) for tag in tags if not tag.startswith("fi_api:")]
