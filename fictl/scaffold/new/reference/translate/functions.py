"""Torch's functions in the language of expressions."""

from __future__ import annotations

# `{0}` is what it is called on, or its first argument; a name is a keyword with its default.
FORMULAS: dict[str, str] = {
    **{
        name: f"{name}({{0}})"
        for name in (
            "exp",
            "log",
            "sqrt",
            "rsqrt",
            "sin",
            "cos",
            "erf",
            "abs",
            "floor",
            "ceil",
            "tanh",
            "sigmoid",
            "relu",
            "silu",
            "softplus",
        )
    },
    "neg": "-{0}",
    "negative": "-{0}",
    "reciprocal": "1 / {0}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "multiply": "{0} * {1}",
    "div": "{0} / {1}",
    "true_divide": "{0} / {1}",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "where": "where({0}, {1}, {2})",
    "relu6": "min(max({0}, 0), 6)",
    "hardswish": "{0} * min(max({0} + 3, 0), 6) / 6",
    "mish": "{0} * tanh(softplus({0}))",
    "exp2": "exp(0.6931471805599453 * {0})",
}

GELU = {
    "none": "gelu({0})",
    "tanh": "gelu_tanh({0})",
}

# Of a row, as long as the row.
ROWS = {
    "softmax": "exp({0} - max({0})) / sum(exp({0} - max({0})))",
    "log_softmax": "{0} - max({0}) - log(sum(exp({0} - max({0}))))",
}
# Of a row, one value.
REDUCTIONS = {
    "sum": "sum({0})",
    "mean": "mean({0})",
    "amax": "max({0})",
    "amin": "min({0})",
    "logsumexp": "max({0}) + log(sum(exp({0} - max({0}))))",
}

# What leaves the values as they are.
CASTS = frozenset(
    [
        "float",
        "double",
        "half",
        "bfloat16",
        "to",
        "type_as",
        "type",
        "contiguous",
        "clone",
        "detach",
        "as_tensor",
    ]
)
