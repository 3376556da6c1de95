"""Choice of tactics by measurement: the tuner, its file, and tuning over an op's cases."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.tune.autotune import autotune

__all__ = ["autotune"]

__getattr__ = lazy(__name__, {"autotune": "autotune"})
