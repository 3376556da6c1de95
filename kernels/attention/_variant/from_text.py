"""Variants that a user has written in C++."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .scalar import Scalar
from .user_variant import UserVariant

_STRUCT = re.compile(r"\bstruct\s+(?:alignas\([^)]*\)\s+)?([A-Za-z_]\w*)\s*(?:final\s*)?:")


def from_text(text: str, scalars: Sequence[str]) -> tuple[UserVariant, tuple[Scalar, ...]]:
    """Take C++ as it is; the last struct in it that derives from something is the variant."""
    names = _STRUCT.findall(text)
    if not names:
        raise ValueError(
            "define_variant: argument 'text' has no struct that derives from "
            "fictl::attention::Plain; write `struct Mine : fictl::attention::Plain { … };`"
        )
    name = str(names[-1])
    if not re.search(rf"static\s+{name}\s+of\s*\(\s*const\s+double\s*\*", text):
        raise ValueError(
            f"define_variant: argument 'text' does not say how a {name} is made of its scalars; "
            f"write `static {name} of(const double* scalars) {{ … }}` in it"
        )
    for scalar in scalars:
        if not scalar.isidentifier():
            raise ValueError(
                f"define_variant: argument 'scalars' has {scalar!r}, which is not a Python name"
            )
    return UserVariant(name, text, tuple(scalars)), tuple(map(Scalar, scalars))
