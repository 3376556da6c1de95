"""Settings that attention declares."""

from __future__ import annotations

from fictl.op import setting

VERBOSE = "FICTL_ATTENTION_VERBOSE"
VALIDATE = "FICTL_VALIDATE_INPUTS"
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("", "0", "false", "no", "off")


def is_on(name: str) -> bool:
    """Read a setting that is on or off."""
    value = setting(name).lower()
    if value not in _TRUE + _FALSE:
        raise ValueError(f"{name}={value!r}: expected one of {', '.join(_TRUE + _FALSE[1:])}")
    return value in _TRUE
