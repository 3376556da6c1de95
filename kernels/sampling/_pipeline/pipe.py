"""LogitsPipe: processors in a row, as one function from logits or probabilities to tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .compiler import compile_pipeline
from .fusion import FusionRule
from .legalization import LegalizationError, infer_initial_type, legalize_processors
from .processors import LogitsProcessor
from .tensors import TaggedTensor, TensorType
from .typed_op import Op
from .validity import CompileError, ValidityCheck


class LogitsPipe:
    """A pipeline: `LogitsPipe([Temperature(), Softmax(), TopK(), Sample()])(logits, top_k=40, …)`.

    Numbers as temperature and top_k are arguments of the call, of processors that lack them. Its
    result is the tensor alone.

    processors: what is done, in this order.
    compile: fuse neighbours for which there is one kernel; compile() does it later.
    input_type: what the pipeline is given: needed where the first processor takes both logits and
        probabilities.
    custom_fusion_rules, custom_validity_checks: applied beside the default ones.
    """

    def __init__(
        self,
        processors: Sequence[LogitsProcessor],
        compile: bool = True,
        input_type: TensorType | None = None,
        custom_fusion_rules: Sequence[FusionRule] | None = None,
        custom_validity_checks: Sequence[ValidityCheck] | None = None,
    ) -> None:
        if not processors:
            raise ValueError("Pipeline cannot be empty: pass processors")
        self.processors = list(processors)
        self.compiled_ops: list[Op] | None = None
        try:
            self._initial_type = input_type or infer_initial_type(self.processors)
            self.ops = legalize_processors(self.processors, self._initial_type)
            if compile:
                self.compile(custom_fusion_rules, custom_validity_checks)
        except (LegalizationError, CompileError) as error:
            raise ValueError(f"Pipeline creation failed: {error}") from error

    def compile(
        self,
        custom_fusion_rules: Sequence[FusionRule] | None = None,
        custom_validity_checks: Sequence[ValidityCheck] | None = None,
    ) -> None:
        """Check the steps, and fuse neighbours."""
        try:
            self.compiled_ops = compile_pipeline(
                self.ops, custom_fusion_rules, custom_validity_checks
            )
        except CompileError as error:
            raise ValueError(f"Compilation failed: {error}") from error

    @property
    def initial_type(self) -> TensorType:
        return self._initial_type

    def __call__(self, x: torch.Tensor | TaggedTensor, **kwargs: Any) -> torch.Tensor:
        """Compute; an argument that no step has is ignored."""
        tagged = x if isinstance(x, TaggedTensor) else TaggedTensor(x, self._initial_type)
        for place, op in enumerate(self.ops if self.compiled_ops is None else self.compiled_ops):
            try:
                tagged = op(tagged, **kwargs)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"Error executing operator {place} ({type(op).__name__}): {error}"
                ) from error
        return tagged.data

    def __repr__(self) -> str:
        parts = (self.processors, self.ops, self.compiled_ops or [])
        names = (" -> ".join(type(one).__name__ for one in part) for part in parts)
        return "LogitsPipe([{}], ops=[{}], compiled_ops=[{}])".format(*names)
