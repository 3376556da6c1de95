"""Steps of a pipeline that say what they take and what they give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .tensors import TaggedTensor, TensorType


class Op(ABC):
    """A step from tensors of the type IN to tensors of the type OUT, which a subclass has."""

    IN: TensorType
    OUT: TensorType

    def __init__(self) -> None:
        lacking = [name for name in ("IN", "OUT") if getattr(self, name, None) is None]
        if lacking:
            raise ValueError(
                f"the operator {type(self).__name__} has no {' and no '.join(lacking)}: "
                "it must define IN and OUT tensor types"
            )

    @abstractmethod
    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        """Compute; `kwargs` are all arguments of the pipeline's call, also those of other steps."""
        raise NotImplementedError

    def _validate_input_type(self, tensor: TaggedTensor) -> TensorType:
        """Return OUT, if the tensor is what the step takes."""
        if tensor.type != self.IN:
            raise ValueError(
                f"Operator {type(self).__name__} cannot accept input type {tensor.type}. "
                f"Expected: {self.IN}"
            )
        return self.OUT

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.IN} -> {self.OUT})"


class ParameterizedOp(Op):
    """A step with parameters: of the pipeline's call, otherwise those it is constructed with."""

    def __init__(self, **default_params: Any) -> None:
        super().__init__()
        self.default_params = default_params

    def _get_param(self, name: str, kwargs: dict[str, Any], required: bool = True) -> Any:
        if name in kwargs:
            return kwargs.pop(name)
        if name in self.default_params:
            return self.default_params[name]
        if required:
            raise ValueError(
                f"Required parameter '{name}' not provided for {type(self).__name__}: "
                f"pass {name}= to the pipeline's call"
            )
        return None
