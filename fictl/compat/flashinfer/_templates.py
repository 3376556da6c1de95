"""FlashInfer's parts of a trace template, converted to fictl's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fictl import trace
from fictl.errors import InvalidValue

__all__ = ["Const", "Scalar", "Tensor", "TraceTemplate", "Var"]


def Var(description: str = "") -> trace.Var:  # noqa: N802 a class there
    """An axis whose size changes from call to call."""
    return trace.Var(description)


def Const(  # noqa: N802
    description: str = "", abbrev: str | None = None, value: int | None = None
) -> trace.Const:
    """An axis that a model fixes."""
    return trace.Const(description, abbrev or "", value)


def Tensor(  # noqa: N802
    dim_names: Sequence[str],
    *,
    param: str | None = None,
    tuple_idx: int | None = None,
    dtype: str | None = None,
    dtype_from: str | None = None,
    dtype_from_scalar: str | None = None,
    optional: bool = False,
    description: str = "",
) -> trace.Tensor:
    """A tensor over named axes."""
    _refuse("Tensor", tuple_idx=tuple_idx, dtype_from_scalar=dtype_from_scalar)
    return trace.Tensor(
        tuple(dim_names), dtype or "", dtype_from or "", optional, description, param or ""
    )


def Scalar(  # noqa: N802
    dtype: str = "float32",
    *,
    param: str | None = None,
    optional: bool = False,
    description: str = "",
) -> trace.Scalar:
    """A number passed by value."""
    _refuse("Scalar", param=param, optional=optional or None)
    return trace.Scalar(dtype, doc=description)


def TraceTemplate(  # noqa: N802
    op_type: str,
    axes: Mapping[str, trace.Var | trace.Const],
    inputs: Mapping[str, trace.Tensor | trace.Scalar],
    outputs: Mapping[str, trace.Tensor],
    *,
    name_prefix: str | None = None,
    reference: Callable[..., Any] | None = None,
    check: Callable[..., Any] | None = None,
    init: Callable[..., Any] | None = None,
    constraints: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    description: str = "",
) -> trace.TraceTemplate:
    """fictl's template, with `check` and `init` in place of `judge` and `init`'s other names."""
    _refuse("TraceTemplate", name_prefix=name_prefix, check=check, init=init)
    if reference is None:
        raise InvalidValue("TraceTemplate: reference is None", "say what the op computes, in torch")
    return trace.TraceTemplate(
        axes,
        inputs,
        outputs,
        reference,
        tuple(constraints or ()),
        op_type=op_type,
        description=description,
        tags=tuple(tags or ()),
    )


def _refuse(function: str, **values: object) -> None:
    for name, value in values.items():
        if value is not None:
            raise InvalidValue(
                f"{function}: {name}={value!r} is not supported here",
                f"fictl.trace.{function} shows the supported parameters",
            )
