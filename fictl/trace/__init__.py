"""What an op computes, said once: shapes, dtypes, constraints and the one reference."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy
from fictl.trace.case import Case
from fictl.trace.template import TOLERANCES, Const, Expr, Scalar, Tensor, TraceTemplate, Var

if TYPE_CHECKING:
    from fictl.trace.axis import AxisConst, AxisExpr, AxisVar
    from fictl.trace.build_spec import (
        BuildSpec,
        CompileOptions,
        SupportedBindings,
        SupportedLanguages,
    )
    from fictl.trace.definition import Definition
    from fictl.trace.evaluation import (
        Correctness,
        Environment,
        Evaluation,
        EvaluationStatus,
        Performance,
    )
    from fictl.trace.record import Trace
    from fictl.trace.solution import Solution
    from fictl.trace.source_file import SourceFile
    from fictl.trace.tensor_spec import TensorSpec
    from fictl.trace.trace_set import TraceSet
    from fictl.trace.traced_call import fictl_trace
    from fictl.trace.workload import (
        CustomInput,
        InputSpec,
        RandomInput,
        SafetensorsInput,
        ScalarInput,
        Tolerance,
        Workload,
    )

__all__ = [
    "TOLERANCES", "AxisConst", "AxisExpr", "AxisVar", "BuildSpec", "Case", "CompileOptions",
    "Const", "Correctness", "CustomInput", "Definition", "Environment", "Evaluation",
    "EvaluationStatus", "Expr", "InputSpec", "Performance", "RandomInput", "SafetensorsInput",
    "Scalar", "ScalarInput", "Solution", "SourceFile", "SupportedBindings", "SupportedLanguages",
    "Tensor", "TensorSpec", "Tolerance", "Trace", "TraceSet", "TraceTemplate", "Var", "Workload",
    "fictl_trace",
]  # fmt: skip

_HOMES = {
    "axis": ("AxisConst", "AxisExpr", "AxisVar"),
    "build_spec": ("BuildSpec", "CompileOptions", "SupportedBindings", "SupportedLanguages"),
    "definition": ("Definition",),
    "evaluation": ("Correctness", "Environment", "Evaluation", "EvaluationStatus", "Performance"),
    "record": ("Trace",),
    "solution": ("Solution",),
    "source_file": ("SourceFile",),
    "tensor_spec": ("TensorSpec",),
    "trace_set": ("TraceSet",),
    "traced_call": ("fictl_trace",),
    "workload": (
        "CustomInput", "InputSpec", "RandomInput", "SafetensorsInput", "ScalarInput", "Tolerance",
        "Workload",
    ),
}  # fmt: skip

__getattr__ = lazy(__name__, {name: home for home, names in _HOMES.items() for name in names})
