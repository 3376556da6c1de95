"""Evaluates a dataset, every solution on every workload, on all GPUs of a machine; writes
reports.
"""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.dataset.run_jobs import run_dataset
    from fictl.dataset.run_options import RunOptions
    from fictl.dataset.summary import Summary

__all__ = ["RunOptions", "Summary", "run_dataset"]

__getattr__ = lazy(
    __name__, {"RunOptions": "run_options", "Summary": "summary", "run_dataset": "run_jobs"}
)
