"""Pipelines of logits, under FlashInfer's names: LogitsPipe, its processors, and their steps."""

from __future__ import annotations

from ._pipeline.compiler import Compiler, compile_pipeline
from ._pipeline.fused import (
    FusedProbsMinPSampleOp,
    FusedProbsTopKSampleOp,
    FusedProbsTopKTopPSampleOp,
    FusedProbsTopPSampleOp,
    FusedTemperatureSoftmaxOp,
)
from ._pipeline.fusion import FusionRule
from ._pipeline.legalization import LegalizationError, legalize_processors
from ._pipeline.operators import (
    LogitsSampleOp,
    LogitsTopKOp,
    MinPOp,
    ProbsSampleOp,
    ProbsTopKOp,
    SoftmaxOp,
    TemperatureOp,
    TopPOp,
)
from ._pipeline.pipe import LogitsPipe
from ._pipeline.processors import LogitsProcessor, MinP, Sample, Softmax, Temperature, TopK, TopP
from ._pipeline.tensors import TaggedTensor, TensorType
from ._pipeline.typed_op import Op, ParameterizedOp
from ._pipeline.validity import CompileError, ValidityCheck

__all__ = [
    "CompileError",
    "Compiler",
    "FusedProbsMinPSampleOp",
    "FusedProbsTopKSampleOp",
    "FusedProbsTopKTopPSampleOp",
    "FusedProbsTopPSampleOp",
    "FusedTemperatureSoftmaxOp",
    "FusionRule",
    "LegalizationError",
    "LogitsPipe",
    "LogitsProcessor",
    "LogitsSampleOp",
    "LogitsTopKOp",
    "MinP",
    "MinPOp",
    "Op",
    "ParameterizedOp",
    "ProbsSampleOp",
    "ProbsTopKOp",
    "Sample",
    "Softmax",
    "SoftmaxOp",
    "TaggedTensor",
    "Temperature",
    "TemperatureOp",
    "TensorType",
    "TopK",
    "TopP",
    "TopPOp",
    "ValidityCheck",
    "compile_pipeline",
    "legalize_processors",
]
