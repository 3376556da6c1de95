"""What an op computes, said once: shapes, dtypes, constraints and the one reference."""

from fictl.trace.case import Case
from fictl.trace.template import Const, Scalar, Tensor, TraceTemplate, Var

__all__ = ["Case", "Const", "Scalar", "Tensor", "TraceTemplate", "Var"]
