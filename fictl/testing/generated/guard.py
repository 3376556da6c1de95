"""Tensors between guard bytes, which reveal writes and reads outside of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl import settings
from fictl.case.poison import POISON_BYTE, bytes_of_elements, fill_unwritten
from fictl.testing.generated.layout import MemoryLayout

if TYPE_CHECKING:
    import torch

# An ordinary number in every format, so that a NaN read and written back is detected.
_CANARY = 0xA5
# Guard bytes on either side: how far a block of threads may reach beyond the tensor.
_MARGIN = 4096


def beside_poison(tensor: torch.Tensor) -> torch.Tensor:
    """Copy a tensor, contiguous, to memory with NaN (-1 in integers) on both sides of it, which a
    kernel that reads too far then has in its results.
    """
    return Guarded.of("", tensor, MemoryLayout.CONTIGUOUS, written=False).tensor


class Guarded:
    """A tensor inside memory whose every byte is known.

    The bytes around an input are poison; an output is filled with what tells later that it was
    never written. A bare tensor (FICTL_BARE_TENSORS) has no bytes around it and is not filled: compute-sanitizer then detects
    accesses beyond its end, and reads of elements that were never written.
    """

    def __init__(
        self,
        name: str,
        shape: Sequence[int],
        dtype: torch.dtype,
        device: torch.device | str,
        layout: MemoryLayout = MemoryLayout.CONTIGUOUS,
        written: bool = False,
    ) -> None:
        import torch

        size, place = dtype.itemsize, layout.place(shape, dtype.itemsize)
        self.name = name
        self._bare = settings.BARE_TENSORS.get()
        self._beside = _CANARY if written else POISON_BYTE
        margin = 0 if self._bare else _MARGIN
        self._start = margin + place.start * size
        self._end = self._start + place.span(shape) * size
        self._memory = torch.empty(self._end + margin, dtype=torch.uint8, device=device)
        inside = self._memory[self._start : self._end].view(dtype)
        self.tensor = inside.as_strided([*shape], place.strides)
        self._bytes = bytes_of_elements(self.tensor)
        if not self._bare:
            self._memory.fill_(self._beside)
            fill_unwritten(self.tensor)

    @classmethod
    def of(cls, name: str, value: torch.Tensor, layout: MemoryLayout, written: bool) -> Guarded:
        """A guarded copy of `value`."""
        guarded = cls(name, value.shape, value.dtype, value.device, layout, written)
        guarded.tensor.copy_(value)
        return guarded

    def check_unchanged(self, value: torch.Tensor) -> None:
        """Raise an AssertionError unless it equals `value` bit by bit."""
        differs = (self._bytes != bytes_of_elements(value)).any(dim=-1)
        if bool(differs.any()):
            at = tuple(differs.nonzero()[0].tolist())
            raise AssertionError(
                f"{self.name} was written, which mutates= does not name: {int(differs.sum())} of "
                f"{differs.numel()} elements, the first at {at}: {value[at].item():.9g} became "
                f"{self.tensor[at].item():.9g}"
            )

    def check_outside(self) -> None:
        """Raise an AssertionError if a guard byte was written; this destroys the elements."""
        if self._bare:
            return
        self._bytes.fill_(self._beside)
        written = (self._memory != self._beside).nonzero()
        if not len(written):
            return
        first, size = int(written[0]), self.tensor.element_size()
        element = (first - self._start) // size
        at = self._start + element * size
        value = self._memory[at : at + size].view(self.tensor.dtype)
        raise AssertionError(
            f"{self.name} was written outside: {len(written)} bytes, the first "
            f"{self._where(first)}, at element {element} from its start: {value.item():.9g} "
            f"({self.name} has shape {tuple(self.tensor.shape)} and strides {self.tensor.stride()})"
        )

    def _where(self, byte: int) -> str:
        if byte < self._start:
            return "before its start"
        return "past its end" if byte >= self._end else "between its elements"
