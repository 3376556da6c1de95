"""Settings that ops declare, among them the one that forces a backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fictl.errors import InvalidValue, UsageError
from fictl.op.ffi.dynamo import constant_to_dynamo
from fictl.settings import Setting

_declared: dict[str, Setting[str]] = {}


def declare_settings(settings: Mapping[str, str]) -> None:
    """Register the settings of `@op(settings=…)`: name -> description."""
    _declared.update({name: Setting(name, "text", str, "", doc) for name, doc in settings.items()})


@constant_to_dynamo
def setting(name: str) -> str:
    """Return the value of a setting that an imported op declares; '' if it is unset.

    It is read at every call, but torch.compile fixes the value at trace time.
    """
    declared = _declared.get(name)
    if declared is None:
        raise UsageError(
            f"no op that is imported declares the setting {name!r}",
            f'write @op(…, settings={{"{name}": "what it does"}})',
        )
    return declared.get().strip()


def backend_variable(op: str) -> str:
    """Return the variable that forces a backend of `op`, if the op declares it."""
    return f"FICTL_{op.upper()}_BACKEND"


def forced_backend(op: str, declared: Sequence[str], backends: Sequence[str]) -> str:
    """Return the backend that a setting forces; '' if none does."""
    name = backend_variable(op)
    if name not in declared:
        return ""
    value = setting(name)
    if value and value != "auto" and value not in backends:
        raise InvalidValue(
            f"{name}={value!r}: {op} has no such backend", f"one of {', '.join(backends)} or auto"
        )
    return "" if value == "auto" else value
