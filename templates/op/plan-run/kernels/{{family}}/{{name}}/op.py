{% set out, x, offsets = outputs[0].name, inputs[1].name, inputs[0].name %}
{% set rows, dim, segments = roles.rows[0], roles.dim[0], roles.segments[0] %}
"""{{ title }}: sum the rows of each segment of a ragged batch."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .plan import Sizes, make_plan

kernel = KernelModule(__file__)


class {{ title }}:
    """Compute {{ out }}[s] = {{ x }}[{{ offsets }}[s]:{{ offsets }}[s + 1]].sum(0), rounded once from fp32; 0 if empty.

    max_rows: allocate memory for plans of up to that many rows in the first plan; later ones, of as
        many segments, reuse it, so that a CUDA graph of run() stays valid. None allocates it for
        each plan.
    device: the device of run's tensors. None: that of plan's {{ offsets }}.
    """

    def __init__(
        self, max_rows: int | None = None, device: torch.device | str | None = None
    ) -> None:
        self._max_rows = max_rows
        self._device = device
        self._sizes: Sizes | None = None
        self._plan = torch.empty(0)

    def plan(self, {{ offsets }}: torch.Tensor) -> None:
        """Distribute the rows of the segments, for any number of run().

        {{ offsets }}: ({{ segments }} + 1,), int32: where each segment starts, and where the last one ends.
            It is read on the host: one that is on a GPU is waited for, one on the CPU is not.
        """
        host, room = _checked({{ offsets }}), None
        device = torch.device(self._device or {{ offsets }}.device)
        if self._max_rows is not None:
            room = self._sizes or Sizes.most(self._max_rows, len(host) - 1)
            _check_room(host, room)
        sizes, plan = make_plan(host, room, pin=device.type == "cuda")
        if room is None or self._sizes is None:
            self._sizes, self._plan = sizes, torch.empty_like(plan, device=device)
        self._plan.copy_(plan, non_blocking=True)

{{ py("    @op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("    def run(", ["self", x ~ ": torch.Tensor", out ~ ": torch.Tensor | None = None"], ") -> torch.Tensor:") }}
        """Compute the sums of the segments of the last plan().

        {{ x }}: ({{ rows }}, {{ dim }}); last dimension contiguous, any row stride. At least
            {{ offsets }}[-1] rows, or max_rows; those beyond belong to no segment.
        {{ out }}: ({{ segments }}, {{ dim }}), contiguous, not in {{ x }}. None allocates it.
        """
        if self._sizes is None:
            raise RuntimeError("{{ title }}: run() was called before plan()")
        sizes, columns = self._sizes, {{ x }}.shape[-1]
        if {{ out }} is None:
            {{ out }} = {{ x }}.new_empty((sizes.segments, columns))
        workspace = {{ x }}.new_empty((sizes.partials, columns), dtype=torch.float32)
{{ py("        kernel." ~ name ~ "(", [out, x, "self._plan", "workspace", "sizes.items", "sizes.rows", "sizes.segments"], ")") }}
        return {{ out }}


def _checked({{ offsets }}: torch.Tensor) -> torch.Tensor:
    """Check the offsets, and copy them to the host."""
    shape, dtype = tuple({{ offsets }}.shape), {{ offsets }}.dtype
    if dtype != torch.int32 or len(shape) != 1 or not shape[0]:
        raise ValueError(
            f"{{ title }}: argument '{{ offsets }}' has shape {shape} and dtype {dtype}; "
            "it is ({{ segments }} + 1,) of torch.int32"
        )
    host = {{ offsets }}.cpu()
    falls = host.diff() < 0
    if int(host[0]) != 0 or bool(falls.any()):
        at = int(falls.int().argmax()) if int(host[0]) == 0 else 0
        raise ValueError(
            f"{{ title }}: argument '{{ offsets }}' is {host[at : at + 2].tolist()} at {at}; "
            "it starts at 0 and never falls"
        )
    return host


def _check_room({{ offsets }}: torch.Tensor, room: Sizes) -> None:
    segments, rows = len({{ offsets }}) - 1, int({{ offsets }}[-1])
    if segments != room.segments or rows > room.rows:
        raise ValueError(
            f"{{ title }}: argument '{{ offsets }}' has {segments} segments of {rows} rows; there is "
            f"room for {room.segments} segments of up to {room.rows}: pad it with its last value, "
            "or make another {{ title }}(max_rows=…)"
        )
