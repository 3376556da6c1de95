"""Enumerations of mixtures of experts, which engines import with their files; values are FlashInfer's."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from fictl.errors import InvalidValue

__all__ = [
    "DEFAULT_SITU_BETA",
    "DEFAULT_SITU_LINEAR_BETA",
    "DEFAULT_SWIGLU_ALPHA",
    "DEFAULT_SWIGLU_BETA",
    "DEFAULT_SWIGLU_LIMIT",
    "ActivationType",
    "Fp8QuantizationType",
    "GatedActType",
    "RoutingInputMode",
    "RoutingMethodType",
    "WeightLayout",
    "is_gated_activation",
    "normalize_activation_type",
]

DEFAULT_SWIGLU_ALPHA = 1.0
DEFAULT_SWIGLU_BETA = 0.0
DEFAULT_SWIGLU_LIMIT = (2 - 2**-23) * 2.0**127  # The largest float32.
DEFAULT_SITU_BETA = 4.0
DEFAULT_SITU_LINEAR_BETA = 25.0


class _Spelled(IntEnum):
    """Members whose repr is an expression, as in keys of engines' caches."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class RoutingMethodType(_Spelled):
    """Routing of tokens to experts: what becomes of the router's logits."""

    Default = 0
    Renormalize = 1
    DeepSeekV3 = 2
    Llama4 = 3
    RenormalizeNaive = 4
    TopK = 5
    SigmoidRenorm = 6
    MiniMax2 = 7
    Sigmoid = 8
    TopKSigmoid = 9
    Unspecified = 10


class RoutingInputMode(_Spelled):
    """Form of the routing that a layer is given."""

    FromLogits = 0
    PackedPrecomputed = 1
    UnpackedPrecomputed = 2


class ActivationType(_Spelled):
    """Activation between the two products of an expert."""

    Gelu = 0
    Relu = 1
    Silu = 2
    Swiglu = 3
    Geglu = 4
    SwigluBias = 5
    Relu2 = 6
    SwigluStep = 7
    GegluTanh = 8
    Identity = 9
    Situ = 10
    InvalidType = 11
    ClampedRelu2 = 12

    @property
    def is_gated(self) -> bool:
        """True if one half of the first product gates the other."""
        return self.name in _GATED


_GATED = {"Swiglu", "Geglu", "SwigluBias", "SwigluStep", "GegluTanh", "Situ"}


class GatedActType(IntEnum):
    """Gated activations by number."""

    SwiGlu = 0
    GeGlu = 1


class WeightLayout(IntEnum):
    """Order of a weight's elements: rows, columns, or blocks of 128 bytes of rows."""

    MajorK = 0
    MajorMn = 1
    BlockMajorK = 2


class Fp8QuantizationType(IntEnum):
    """Scales of 8-bit weights."""

    NoneFp8 = 0
    DeepSeekFp8 = 1
    MxFp8 = 2
    PerTensorFp8 = 3
    PerChannelFp8 = 4


def normalize_activation_type(activation_type: Any) -> ActivationType:
    """Convert a number to its member."""
    try:
        return ActivationType(activation_type)
    except ValueError:
        listed = ", ".join(f"{kind.name} {kind.value}" for kind in ActivationType)
        raise InvalidValue(f"{activation_type!r} is not an activation", listed) from None


def is_gated_activation(activation_type: Any) -> bool:
    """Tell whether one half of an expert's first product gates the other."""
    return normalize_activation_type(activation_type).is_gated
