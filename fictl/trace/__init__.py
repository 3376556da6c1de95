"""Traces: declarations of what an op computes, by shapes, dtypes, constraints and a reference."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy
from fictl.trace.case import Case
from fictl.trace.template import TOLERANCES, Const, Expr, Scalar, Tensor, TraceTemplate, Var

if TYPE_CHECKING:
    from fictl.trace.dataset.trace_set import TraceSet
    from fictl.trace.documents.axis import AxisConst, AxisExpr, AxisVar
    from fictl.trace.documents.build_spec import (
        BuildSpec,
        CompileOptions,
        SupportedBindings,
        SupportedLanguages,
    )
    from fictl.trace.documents.definition import Definition
    from fictl.trace.documents.evaluation import (
        Correctness,
        Environment,
        Evaluation,
        EvaluationStatus,
        Performance,
    )
    from fictl.trace.documents.record import Trace
    from fictl.trace.documents.solution import Solution
    from fictl.trace.documents.source_file import SourceFile
    from fictl.trace.documents.tensor_spec import TensorSpec
    from fictl.trace.documents.workload import (
        CustomInput,
        InputSpec,
        RandomInput,
        SafetensorsInput,
        ScalarInput,
        Tolerance,
        Workload,
    )
    from fictl.trace.traced_call import fictl_trace

__all__ = [
    "TOLERANCES",
    "AxisConst",
    "AxisExpr",
    "AxisVar",
    "BuildSpec",
    "Case",
    "CompileOptions",
    "Const",
    "Correctness",
    "CustomInput",
    "Definition",
    "Environment",
    "Evaluation",
    "EvaluationStatus",
    "Expr",
    "InputSpec",
    "Performance",
    "RandomInput",
    "SafetensorsInput",
    "Scalar",
    "ScalarInput",
    "Solution",
    "SourceFile",
    "SupportedBindings",
    "SupportedLanguages",
    "Tensor",
    "TensorSpec",
    "Tolerance",
    "Trace",
    "TraceSet",
    "TraceTemplate",
    "Var",
    "Workload",
    "fictl_trace",
]

_HOMES = {
    "documents.axis": ("AxisConst", "AxisExpr", "AxisVar"),
    "documents.build_spec": (
        "BuildSpec",
        "CompileOptions",
        "SupportedBindings",
        "SupportedLanguages",
    ),
    "documents.definition": ("Definition",),
    "documents.evaluation": (
        "Correctness",
        "Environment",
        "Evaluation",
        "EvaluationStatus",
        "Performance",
    ),
    "documents.record": ("Trace",),
    "documents.solution": ("Solution",),
    "documents.source_file": ("SourceFile",),
    "documents.tensor_spec": ("TensorSpec",),
    "dataset.trace_set": ("TraceSet",),
    "traced_call": ("fictl_trace",),
    "documents.workload": (
        "CustomInput",
        "InputSpec",
        "RandomInput",
        "SafetensorsInput",
        "ScalarInput",
        "Tolerance",
        "Workload",
    ),
}

__getattr__ = lazy(__name__, {name: home for home, names in _HOMES.items() for name in names})
