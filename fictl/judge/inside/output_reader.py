"""Reads outputs while the clock runs: all elements, or a random sample of large outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Longer outputs are not copied while the clock runs: after reporting `done`, a solution could
# continue to write just ahead of the copy.
_SHORT = 1 << 16
_WORD, _PLACES = 8, 256


class OutputReader:
    """Reads the outputs of one turn: `read` is timed, `taken` is compared afterwards."""

    def __init__(self, places: Mapping[str, Any], device: str) -> None:
        self._places, self._device = places, device
        self._copies: dict[str, Any] = {}
        self._words: dict[str, Any] = {}
        self._samples: dict[str, Any] = {}
        for name, place in places.items():
            size = place.numel() * place.element_size()
            if device == "cuda" or size <= _SHORT:
                self._copies[name] = place.clone()  # SharedMemory that has been touched.
            else:
                self._words[name] = _random(size // _WORD)

    def read(self) -> None:
        for name, copy in self._copies.items():
            copy.copy_(self._places[name])
        for name, where in self._words.items():
            self._samples[name] = _words_of(self._places[name])[where]
        if self._device == "cuda":
            import torch

            torch.cuda.synchronize()

    def taken(self) -> tuple[dict[str, Any], str]:
        """Return private copies, and the name of an output that changed after it was read."""
        import torch

        for name, where in self._words.items():
            self._copies[name] = self._places[name].clone()
            if not torch.equal(_words_of(self._copies[name])[where], self._samples[name]):
                return self._copies, name
        return {name: self._copies[name] for name in self._places}, ""


def _random(count: int) -> Any:
    """Draw positions from a generator of its own: torch's sequence could be predicted."""
    import secrets

    import torch

    generator = torch.Generator().manual_seed(secrets.randbits(62))
    return torch.randint(count, (_PLACES,), generator=generator)


def _words_of(tensor: Any) -> Any:
    import torch

    flat = tensor.reshape(-1).view(torch.uint8)
    return flat[: flat.numel() // _WORD * _WORD].view(torch.int64)
