"""Definitions whose calls are collected."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from fictl.trace import Definition, Trace, TraceSet


def definition(name: str, axis: str = "n", **inputs: Mapping[str, Any]) -> Definition:
    spec = {"shape": [axis], "dtype": "float32"}
    return Definition.model_validate(
        {
            "name": name,
            "op_type": "op",
            "axes": {axis: {"type": "var"}},
            "inputs": inputs or {"x": spec},
            "outputs": {"y": spec},
            "reference": f"def run({', '.join(inputs or ['x'])}):\n    return x\n",
        }
    )


PAGED = Definition.model_validate(
    {
        "name": "paged",
        "op_type": "gqa",
        "axes": {name: {"type": "var"} for name in ("batch", "offsets", "pages")},
        "inputs": {
            "q": {"shape": ["batch"], "dtype": "float32"},
            "kv_indptr": {"shape": ["offsets"], "dtype": "int32"},
            "kv_indices": {"shape": ["pages"], "dtype": "int32"},
            "sm_scale": {"shape": None, "dtype": "float32"},
        },
        "outputs": {"out": {"shape": ["batch"], "dtype": "float32"}},
        "reference": "def run(q, kv_indptr, kv_indices, sm_scale):\n    return q\n",
    }
)


def paged(*lengths: int) -> tuple[Any, ...]:
    """The arguments of a call with sequences of these lengths."""
    offsets = torch.tensor([0, *lengths]).cumsum(0).int()
    return torch.ones(len(lengths)), offsets, torch.arange(sum(lengths)).int(), 0.5


def folder(root: Path, *definitions: Definition) -> Path:
    root.mkdir(mode=0o755)
    for one in definitions:
        TraceSet(root).add_definition(one)
    return root


def workloads(root: Path, name: str | None = None) -> list[Trace]:
    return [*TraceSet.from_path(root).workloads(name)]
