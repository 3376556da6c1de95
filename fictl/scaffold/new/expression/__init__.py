"""A line such as `x * rsqrt(mean(x * x) + eps)`: read once, written as C++, torch or Triton."""

from fictl.scaffold.new.expression.expression import Expression, Stage
from fictl.scaffold.new.expression.score import Score

__all__ = ["Expression", "Score", "Stage"]
