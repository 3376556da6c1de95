"""apply: evaluated solutions of a dataset in place of functions; the API of flashinfer_bench.apply."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.apply.api import apply, disable_apply, enable_apply
    from fictl.apply.config import ApplyConfig, ApplyConfigRegistry
    from fictl.apply.explanation import ApplyExplanation
    from fictl.apply.runtime import ApplyRuntime
    from fictl.apply.table import ApplyTable

__all__ = [
    "ApplyConfig",
    "ApplyConfigRegistry",
    "ApplyExplanation",
    "ApplyRuntime",
    "ApplyTable",
    "apply",
    "disable_apply",
    "enable_apply",
]

__getattr__ = lazy(
    __name__,
    {
        "ApplyConfig": "config",
        "ApplyConfigRegistry": "config",
        "ApplyExplanation": "explanation",
        "ApplyRuntime": "runtime",
        "ApplyTable": "table",
        "apply": "api",
        "disable_apply": "api",
        "enable_apply": "api",
    },
)
