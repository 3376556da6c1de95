"""The torch op of a binding's function: its out-variant FFI call, which torch can trace."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.library import Library, register_fake

from fictl.errors import UsageError
from fictl.op.ffi.schema import Schema
from fictl.op.gradient.refusal import NoGradient
from fictl.op.gradient.wanted import wanted_of


@dataclass
class _Defined:
    """A defined op. `owner` is the module that exports it; a reload replaces `run`."""

    owner: str
    text: str
    library: Any
    run: Callable[..., Any]


_defined: dict[tuple[str, str], _Defined] = {}
_defining = threading.Lock()


def op_name(function: str, parameters: Iterable[Hashable]) -> str:
    """Return the op's name: `decode` of `kernel[torch.float16, 128]` is decode_float16_128."""
    suffix = (
        re.sub(r"\W+", "_", str(parameter).removeprefix("torch.")) for parameter in parameters
    )
    return "_".join([function, *suffix])


def define(
    project: str, name: str, owner: str, schema: Schema, run: Callable[..., Any]
) -> tuple[str, str]:
    """Have `torch.ops.<project>.<name>` call `run`; return its two names in torch.ops."""
    key = re.sub(r"\W", "_", project), name
    text = schema.text(name)
    with _defining:
        old = _defined.get(key)
        if old and old.owner != owner:
            raise UsageError(
                f"{project}: {old.owner} and {owner} both export {name!r}",
                "torch knows a project's functions by name: give one of them another",
            )
        if old and old.text == text:
            old.run = run
        else:
            if old:  # Edited since: torch does not accept a second schema.
                old.library._destroy()  # noqa: SLF001
            _defined[key] = _registered(key, owner, schema, run)
    return key


def overload(key: tuple[str, str]) -> Any:
    """Look up through attributes of torch.ops, because Dynamo recognises ops that way."""
    project, name = key
    return getattr(getattr(torch.ops, project), name).default


def refuse_gradients(name: str, parameters: Sequence[str] | None, arguments: Sequence[Any]) -> None:
    """Refuse gradients of any tensor; a written tensor would lose its history, too."""
    names = parameters or [f"argument {place}" for place in range(1, len(arguments) + 1)]
    for parameter, value in zip(names, arguments, strict=True):
        wanted = wanted_of(value)
        if wanted:
            raise NoGradient(name, parameter, wanted)


def _registered(
    key: tuple[str, str], owner: str, schema: Schema, run: Callable[..., Any]
) -> _Defined:
    project, name = key
    library: Any = Library(project, "FRAGMENT")  # type: ignore[no-untyped-call]
    defined = _Defined(owner, schema.text(name), library, run)

    def launch(*arguments: Any) -> None:
        defined.run(*arguments)

    parameters = [parameter.name for parameter in schema.parameters]

    def below_autograd(*arguments: Any) -> None:
        refuse_gradients(name, parameters, arguments)
        with torch._C._AutoDispatchBelowAutograd():  # noqa: SLF001
            overload(key)(*arguments)

    library.define(defined.text)
    library.impl(name, launch, "CompositeExplicitAutograd")
    library.impl(name, below_autograd, "Autograd")
    register_fake(f"{project}::{name}", _nothing, lib=library)
    return defined


def _nothing(*arguments: Any) -> None:
    """Do nothing: with fake tensors a call allocates and returns nothing."""
