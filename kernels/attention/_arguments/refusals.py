"""Arguments that attention has no kernel for, refused in words."""

from __future__ import annotations

import torch

OTHER_KERNELS = "it makes kernels of another library; pass variant=define_variant(...)"


def refuse_given(op: str, why: str, **arguments: object) -> None:
    """Refuse arguments that FlashInfer has and fictl does not; their defaults are accepted."""
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) or (value is not None and value != 0):
            raise NotImplementedError(f"{op}: argument '{name}' is given; {why}")


def unknown(op: str, name: str, value: object, known: tuple[str, ...]) -> ValueError:
    """Make the error for a word that is not among those known."""
    return ValueError(f"{op}: argument '{name}' is {value!r}; it is one of {', '.join(known)}")
