"""Tensors amid bytes that nobody may write, and few may read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl import settings
from fictl.testing.generated.layout import Layout

if TYPE_CHECKING:
    import torch

# NaN in every format of floating point, -1 in integers: a result that was made of it shows it.
_POISON = 0xFF
# An ordinary number in all of them: what writes the NaN that it has read is seen as well.
_CANARY = 0xA5
# On either side: what a block of threads that goes too far can reach.
_MARGIN = 4096


class Guarded:
    """A tensor in the middle of memory that is known byte by byte.

    What is beside one that is only read is poison; what is in one that is to be written, too.
    A bare one has nothing beside it: a tool that knows where its memory ends sees more than these
    bytes, and what they would fill never counts as unwritten.
    """

    def __init__(
        self,
        name: str,
        shape: Sequence[int],
        dtype: torch.dtype,
        device: torch.device | str,
        layout: Layout = Layout.CONTIGUOUS,
        written: bool = False,
    ) -> None:
        import torch

        size, place = dtype.itemsize, layout.place(shape, dtype.itemsize)
        self.name = name
        self._bare = settings.BARE_TENSORS.get()
        self._beside = _CANARY if written else _POISON
        margin = 0 if self._bare else _MARGIN
        self._start = margin + place.start * size
        self._end = self._start + place.span(shape) * size
        self._memory = torch.empty(self._end + margin, dtype=torch.uint8, device=device)
        inside = self._memory[self._start : self._end].view(dtype)
        self.tensor = inside.as_strided([*shape], place.strides)
        self._bytes = self._memory.as_strided(
            [*shape, size], [*(stride * size for stride in place.strides), 1], self._start
        )
        if not self._bare:
            self._memory.fill_(self._beside)
            self._bytes.fill_(_POISON)

    @classmethod
    def of(cls, name: str, value: torch.Tensor, layout: Layout, written: bool) -> Guarded:
        """A copy of `value`."""
        made = cls(name, value.shape, value.dtype, value.device, layout, written)
        made.tensor.copy_(value)
        return made

    def check_unchanged(self, value: torch.Tensor) -> None:
        """That it holds, bit by bit, what `value` does."""
        differs = (self._bytes != _bytes_of(value)).any(dim=-1)
        if bool(differs.any()):
            at = tuple(differs.nonzero()[0].tolist())
            raise AssertionError(
                f"{self.name} was written, which mutates= does not name: {int(differs.sum())} of "
                f"{differs.numel()} elements, the first at {at}: {value[at].item():.9g} became "
                f"{self.tensor[at].item():.9g}"
            )

    def check_outside(self) -> None:
        """That nothing beside it was written. What it holds is lost."""
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


def _bytes_of(value: torch.Tensor) -> torch.Tensor:
    import torch

    flat = value.contiguous().flatten().view(torch.uint8)
    return flat.view(*value.shape, value.element_size())
