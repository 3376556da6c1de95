"""A device that is not here: tensors for a GPU are on the CPU, and what was meant for where is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_DEVICE = torch.Tensor.device.__get__  # type: ignore[attr-defined]
GPU, PINNED = "cuda", "pinned"
_HOME = (torch.Tensor.cpu, torch.Tensor.tolist, torch.Tensor.item, torch.Tensor.numpy)


class Away(TorchFunctionMode):
    """While it is on, `device="cuda"` and pinned memory are the CPU's; `place` says what was meant."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[int, str] = {}
        self._alive: list[Any] = []
        self._truths = 0

    @contextmanager
    def truth(self) -> Iterator[None]:
        """Let tensors say that they are on the CPU: for fictl, which runs there."""
        self._truths += 1
        try:
            yield
        finally:
            self._truths -= 1

    def place(self, tensor: torch.Tensor) -> str:
        return self._places.get(tensor.untyped_storage()._cdata, "cpu")

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func == _DEVICE and not self._truths and self.place(args[0]) == GPU:
            return torch.device(GPU, 0)
        kwargs = dict(kwargs or {})
        place = self._asked(func, args, kwargs)
        if kwargs.pop("pin_memory", False) or func is torch.Tensor.pin_memory:
            place = PINNED
        if func in (torch.Tensor.pin_memory, torch.Tensor.cuda):
            return self._put(args[0].clone(), place or GPU)
        if func is torch.Tensor.is_pinned:
            return self.place(args[0]) == PINNED
        if func is torch.Tensor.to:
            args = tuple("cpu" if _is_gpu(arg) else arg for arg in args)
        if _is_gpu(kwargs.get("device")):
            kwargs["device"] = "cpu"
        result = func(*args, **kwargs)
        if func is torch.Tensor.to and place is not None and result is args[0]:
            result = result.clone() if place != self.place(args[0]) else result
        if func in _HOME or place == "cpu":
            return result
        if place is None and any(self.place(tensor) == GPU for tensor in _tensors((args, kwargs))):
            place = GPU
        for tensor in _tensors(result):
            if place and not self._is_known(tensor):
                self._put(tensor, place)
        return result

    def _asked(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """Return the place that a call names; None if it names none."""
        named = [kwargs.get("device"), *(args[1:] if func is torch.Tensor.to else ())]
        for word in named:
            if isinstance(word, str | torch.device):
                return GPU if _is_gpu(word) else "cpu"
        return None

    def _is_known(self, tensor: torch.Tensor) -> bool:
        return tensor.untyped_storage()._cdata in self._places

    def _put(self, tensor: torch.Tensor, place: str) -> torch.Tensor:
        storage = tensor.untyped_storage()
        self._places[storage._cdata] = place
        self._alive.append(storage)
        return tensor


def _is_gpu(word: Any) -> bool:
    return isinstance(word, str | torch.device) and str(word).startswith("cuda")


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors([*value.values()])
