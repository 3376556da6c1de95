"""The evaluator that fits a definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fictl.judge.evaluators.default import DefaultEvaluator
from fictl.judge.evaluators.sampling import SamplingEvaluator, is_sampling
from fictl.judge.evaluators.speculative import SpeculativeEvaluator, is_speculative

if TYPE_CHECKING:
    from fictl.judge.config import EvalConfig
    from fictl.judge.evaluators.evaluator import Evaluator
    from fictl.trace import Definition, TensorSpec

# In such a format, rounding the other way gives another value with a large relative error.
_MOST = 0.95


def evaluator_for(definition: Definition, config: EvalConfig) -> Evaluator:
    """Create the evaluator of a definition, one for each evaluation: some count samples."""
    if is_sampling(definition):
        return SamplingEvaluator(definition, config)
    if is_speculative(definition):
        return SpeculativeEvaluator(definition, config)
    if definition.op_type == "moe":
        return DefaultEvaluator(definition, config, "moe", _MOST)
    if _is_low_bit(definition):
        return DefaultEvaluator(definition, config, "lowbit", _MOST)
    return DefaultEvaluator(definition, config)


def _is_low_bit(definition: Definition) -> bool:
    """Tell whether it computes with values of eight bits or less, and does more than move them."""
    read, written = _formats(definition.inputs), _formats(definition.outputs)
    low = {name for name in read | written if name.startswith(("float8", "float4"))}
    return definition.op_type == "lowbit" or bool(low & (read ^ written))


def _formats(specs: Mapping[str, TensorSpec]) -> set[str]:
    return {spec.dtype for spec in specs.values() if spec.shape is not None}
