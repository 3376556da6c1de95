"""What an op computes, said once: shapes, dtypes, constraints and the one reference."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy
from fictl.trace.case import Case
from fictl.trace.template import TOLERANCES, Const, Expr, Scalar, Tensor, TraceTemplate, Var

if TYPE_CHECKING:
    from fictl.trace.definition import Definition
    from fictl.trace.traced_call import fictl_trace

__all__ = [
    "TOLERANCES", "Case", "Const", "Definition", "Expr", "Scalar", "Tensor", "TraceTemplate", "Var",
    "fictl_trace",
]  # fmt: skip

__getattr__ = lazy(__name__, {"Definition": "definition", "fictl_trace": "traced_call"})
