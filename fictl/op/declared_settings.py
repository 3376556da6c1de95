"""The settings that ops declare: read by name, and the one that forces a backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fictl.errors import InvalidValue, UsageError
from fictl.op.ffi.dynamo import constant_to_dynamo
from fictl.settings import Setting

_declared: dict[str, Setting[str]] = {}


def declare_settings(settings: Mapping[str, str]) -> None:
    """Keep what `@op(settings=…)` declares: name -> what it does."""
    _declared.update({name: Setting(name, "text", str, "", doc) for name, doc in settings.items()})


@constant_to_dynamo
def setting(name: str) -> str:
    """The value of a setting that an imported op declares; '' where it is unset.

    It is read at every call. What torch.compile traces keeps the value of that time.
    """
    declared = _declared.get(name)
    if declared is None:
        raise UsageError(
            f"no op that is imported declares the setting {name!r}",
            f'write @op(…, settings={{"{name}": "what it does"}})',
        )
    return declared.get().strip()


def backend_variable(op: str) -> str:
    """The variable that forces a backend of `op`, if the op declares it."""
    return f"FICTL_{op.upper()}_BACKEND"


def forced_backend(op: str, declared: Sequence[str], backends: Sequence[str]) -> str:
    """The backend that a setting asks for; '' where none does."""
    name = backend_variable(op)
    if name not in declared:
        return ""
    value = setting(name)
    if value and value != "auto" and value not in backends:
        raise InvalidValue(
            f"{name}={value!r}: {op} has no such backend", f"one of {', '.join(backends)} or auto"
        )
    return "" if value == "auto" else value
