"""Ops of a few lines on the CPU, with traces, and datasets whose solutions leave a mark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from fictl.op import op
from fictl.trace import Const, Definition, Scalar, Tensor, TraceSet, TraceTemplate, Var, fictl_trace

from ..apply.samples import HERE, solution, trace

MARK = 100.0
_AXES = {"rows": Var("tokens"), "hidden": Const("width", "h")}
_ROWS = ("rows", "hidden")


def _twice(input: torch.Tensor, factor: float) -> torch.Tensor:
    return input * 2 * factor


def _added(input: torch.Tensor, residual: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (input + residual) * 2, input + residual


def _gathered(q: torch.Tensor, kv_indptr: torch.Tensor) -> torch.Tensor:
    return q + (kv_indptr[1:] - kv_indptr[:-1])[:, None]


TWICE = TraceTemplate(
    axes=_AXES,
    inputs={"input": Tensor(_ROWS), "factor": Scalar("float32", 1.0)},
    outputs={"out": Tensor(_ROWS, dtype_from="input")},
    reference=_twice,
)
ADDED = TraceTemplate(
    axes=_AXES,
    inputs={"input": Tensor(_ROWS), "residual": Tensor(_ROWS, dtype_from="input")},
    outputs={"input": Tensor(_ROWS), "residual": Tensor(_ROWS, dtype_from="input")},
    reference=_added,
)
GATHERED = TraceTemplate(
    axes={**_AXES, "offsets": Var("rows + 1")},
    inputs={"q": Tensor(_ROWS), "kv_indptr": Tensor(("offsets",), dtype="int32")},
    outputs={"out": Tensor(_ROWS, dtype_from="q")},
    reference=_gathered,
)


def twice() -> Any:
    @op(archs=">=8.0", dtypes="f32", mutates="out", trace=TWICE)
    def twice(
        input: torch.Tensor,
        factor: float = 1.0,
        out: torch.Tensor | None = None,
        backend: str = "auto",
        enable_pdl: bool | None = None,
    ) -> torch.Tensor:
        result = input * 2 * factor
        return result if out is None else out.copy_(result)

    return twice


def added() -> Any:
    @op(archs=">=8.0", dtypes="f32", mutates="input residual", trace=ADDED)
    def added(input: torch.Tensor, residual: torch.Tensor, eps: float = 1e-5) -> None:
        residual.add_(input)
        input.copy_(residual * 2)

    return added


def gathered() -> Any:
    class Gathered:
        def plan(self, kv_indptr: torch.Tensor, causal: bool = False) -> None:
            self.steps = kv_indptr.diff()

        @op(archs=">=8.0", dtypes="f32", mutates="out", trace=GATHERED)
        def run(self, q: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
            return q + self.steps[:, None]

    return Gathered


def dataset_of(root: Path, definition: Definition, code: str, rows: int) -> TraceSet:
    """One solution, evaluated with this number of rows."""
    own = solution("own", code, of=definition.name)
    root.mkdir(parents=True)
    made = TraceSet(root)
    made.add_definition(definition)
    made.add_solution(own)
    axes = dict.fromkeys(definition.var_axes, rows)
    if "offsets" in axes:
        axes["offsets"] = rows + 1
    evaluated = trace(own, rows, 2.0)
    workload = evaluated.workload.model_copy(update={"axes": axes})
    made.add_traces([evaluated.model_copy(update={"workload": workload})])
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o022)
    return TraceSet.from_path(root)


def definition_of(api: Any, *args: Any, **kwargs: Any) -> Definition:
    return fictl_trace(api)(*args, **kwargs)


__all__ = ["HERE", "MARK", "added", "dataset_of", "definition_of", "gathered", "twice"]
