"""Evaluation of solutions: whether their results match the definition, and how fast they are."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.judge.config import EvalConfig
    from fictl.judge.config_file import layers
    from fictl.judge.evaluators.choose import evaluator_for
    from fictl.judge.inputs import make_inputs
    from fictl.judge.solution_judge import Judge, judge

__all__ = ["EvalConfig", "Judge", "evaluator_for", "judge", "layers", "make_inputs"]

__getattr__ = lazy(
    __name__,
    {
        "EvalConfig": "config",
        "Judge": "solution_judge",
        "evaluator_for": "evaluators.choose",
        "judge": "solution_judge",
        "layers": "config_file",
        "make_inputs": "inputs",
    },
)
