"""Parser of compute capabilities: 90, '9.0a', [80, 90], '>=8.0'."""

from __future__ import annotations

from collections.abc import Iterable

from fictl.arch import Arch, ArchRule
from fictl.errors import InvalidValue, WrongType

_FORMS = "write 90, '9.0a' or an Arch"


def capability(value: object) -> Arch:
    """Parse one capability: 90, '9.0a' or an Arch."""
    if isinstance(value, Arch):
        return value
    # Why not float: 10.0 and 9.10 are not numbers, and True is an int.
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise WrongType(f"{value!r} is not a compute capability", _FORMS)
    return Arch.parse(str(value))


def arch_rule(value: object) -> ArchRule:
    """Parse the architectures of a function: '>=8.0', '9.0a 10.0f', 90, or a list of these."""
    if isinstance(value, ArchRule):
        return value
    if isinstance(value, str):
        return ArchRule.parse(value)
    if isinstance(value, Iterable):
        words = [arch_rule(word).text for word in value]
        if not words:
            raise InvalidValue("an empty list of compute capabilities", _FORMS)
        return ArchRule.parse(" ".join(words))
    return ArchRule.parse(str(capability(value)).removesuffix("+PTX"))
