"""Variant: what kernels of attention are compiled with, and the scalars that they get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from .scalar import Scalar, scalar_value
from .user_variant import UserVariant


@dataclass(frozen=True)
class Variant:
    """Masks and scores of a user's own. `causal`: keys after a query's own are masked, too."""

    user: UserVariant
    scalars: tuple[Scalar, ...]
    causal: bool

    def values(self, op: str, given: Mapping[str, object]) -> torch.Tensor | None:
        """Order the scalars as the C++ has them, in fp64 on the CPU; None where there are none."""
        names = [scalar.name for scalar in self.scalars]
        for name in given:
            if name not in names:
                raise TypeError(
                    f"{op}: {self.user.name} has no scalar {name!r}; "
                    f"it has {', '.join(names) or 'none'}"
                )
        numbers = [
            scalar_value(op, scalar, given.get(scalar.name, scalar.default))
            for scalar in self.scalars
        ]
        return torch.tensor(numbers, dtype=torch.float64) if numbers else None
