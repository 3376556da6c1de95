"""A call's values in JSON: tensors by key, and a tag for values that JSON lacks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from numbers import Integral, Real
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from fictl.op.watch.dump.record import Refused
from fictl.op.watch.dump.tensors import stored_bytes

Enums = Mapping[tuple[str, str], type[Enum]]

_DEEPEST = 8
_PLAIN = (torch.Tensor, torch.nn.Parameter)


@dataclass(frozen=True)
class Opaque:
    """A value that a dump does not store; only its type is known."""

    type: str


class Encoder:
    """Values of one file: `encode` returns JSON and keeps the tensors, each once."""

    def __init__(self) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self._keys: dict[tuple[Any, ...], str] = {}

    @property
    def size(self) -> int:
        return sum(map(stored_bytes, self.tensors.values()))

    def encode(self, value: Any, path: str, depth: int = 0) -> Any:
        """Encode a value. `path` is its position, as in 'pages.0', and the key of a tensor."""
        simple = _encode_simple(value)
        if simple is not None or value is None:
            return simple
        if depth < _DEEPEST and isinstance(value, list | tuple):
            items = [self.encode(item, f"{path}.{i}", depth + 1) for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if depth < _DEEPEST and isinstance(value, dict) and all(type(k) is str for k in value):
            pairs = {k: self.encode(item, f"{path}.{k}", depth + 1) for k, item in value.items()}
            return {"dict": pairs}
        tensor = _as_tensor(value)
        if tensor is not None:
            return {"tensor": self._keep(tensor, path)}
        return {"opaque": f"{type(value).__module__}.{type(value).__qualname__}"}

    def _keep(self, tensor: torch.Tensor, path: str) -> str:
        """Keep a tensor once, even under two names, as `out` and `input` of an in-place call."""
        same = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor.device)
        if same not in self._keys:
            while path in self.tensors:
                path += "_"
            self.tensors[path], self._keys[same] = tensor, path
        return self._keys[same]


def _encode_simple(value: Any) -> Any:
    if isinstance(value, Enum):
        kind = type(value)
        if kind.__members__.get(value.name) is not value:  # Several flags combined.
            return None
        return {"enum": [kind.__module__, kind.__qualname__, value.name]}
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {"float": str(number)}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    return {"device": str(value)} if isinstance(value, torch.device) else None


def _as_tensor(value: Any) -> torch.Tensor | None:
    """Return a tensor of torch or DLPack; None for other values, fake or distributed tensors."""
    if isinstance(value, torch.Tensor):
        owns = type(value) in _PLAIN and value.layout == torch.strided and not value.is_meta
        return value.detach() if owns else None
    if not hasattr(value, "__dlpack__"):
        return None
    try:
        return from_dlpack(value)
    except Exception:  # A foreign object may raise anything.
        return None


@dataclass
class Decoder:
    """Values of one file. Only enums of the op are accepted: names in a file import nothing."""

    tensors: Mapping[str, torch.Tensor]
    enums: Enums
    device: str
    opaque: list[str] = field(default_factory=list)

    def decode(self, value: Any, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise Refused(f"values are nested deeper than {_DEEPEST}")
        if isinstance(value, list):
            return [self.decode(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            raise Refused(f"a value has the keys {sorted(value)[:5]}, and needs one")
        ((tag, inner),) = value.items()
        if tag == "tuple" and isinstance(inner, list):
            return tuple(self.decode(item, depth + 1) for item in inner)
        if tag == "dict" and isinstance(inner, dict):
            return {name: self.decode(item, depth + 1) for name, item in inner.items()}
        return self._leaf(tag, inner)

    def _leaf(self, tag: str, inner: Any) -> Any:
        if tag == "enum":
            return self._enum(inner)
        if not isinstance(inner, str):
            raise Refused(f"a value of the kind {tag!r:.40} is not text")
        if tag == "tensor":
            if inner not in self.tensors:
                raise Refused(f"the tensor {inner!r:.80} is in no file")
            return self.tensors[inner]
        if tag == "float" and inner in ("nan", "inf", "-inf"):
            return float(inner)
        if tag == "dtype":
            return dtype_named(inner)
        if tag == "device":
            return self._device(inner)
        if tag == "opaque":
            self.opaque.append(inner)
            return Opaque(inner)
        raise Refused(f"a value is of the unknown kind {tag!r:.40}")

    def _device(self, text: str) -> torch.device:
        """Return the replay's device if the recorded one was a GPU."""
        if not re.fullmatch(r"[a-z]+(:\d{1,3})?", text):
            raise Refused(f"{text!r:.80} is not a device")
        return torch.device(self.device if text.startswith("cuda") else text)

    def _enum(self, inner: Any) -> Enum:
        if not (isinstance(inner, list) and [*map(type, inner)] == [str] * 3):
            raise Refused("an enum is a module, a class and a member")
        module, name, member = inner
        kind = self.enums.get((module, name))
        if kind is None or member not in kind.__members__:
            raise Refused(
                f"{module}.{name}.{member} is not an enum that the op knows",
                "an enum is known where op.py imports it or a parameter is annotated with it",
            )
        return kind[member]


def dtype_named(name: str) -> torch.dtype:
    dtype = getattr(torch, name, None) if name.isidentifier() else None
    if not isinstance(dtype, torch.dtype):
        raise Refused(f"{name!r:.80} is not a dtype of torch {torch.__version__}")
    return dtype
