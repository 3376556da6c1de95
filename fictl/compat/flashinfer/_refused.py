"""Stand-ins for names that an engine imports with its files: they can be imported, not called."""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from fictl.compat.flashinfer._names import VERSION, below, spelled, theirs
from fictl.errors import FictlError


class NotServed(FictlError, NotImplementedError):
    """A call of what FlashInfer has and fictl does not."""

    code = "not-served"


@cache
def stand_in(module: str, name: str) -> Any:
    """Return a function, or a class where the name is a class's, whose call is refused in words."""
    from fictl.compat.flashinfer._missing import instead

    place = spelled(below(theirs(module), name))
    refusal = (f"{place}: FlashInfer {VERSION} has it, fictl does not", instead(name))
    if name.lstrip("_")[:1].isupper():
        return _Refusing(name, (), {"__module__": module, "__doc__": refusal[0], "_why": refusal})

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise NotServed(*refusal)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__, refuse.__doc__ = module, refusal[0]
    return refuse


class _Refusing(type):
    """Type of stand-ins of classes: annotations and subclasses may name them."""

    _why: tuple[str, str]

    def __call__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise NotServed(*cls._why)

    def __getattr__(cls, name: str) -> NoReturn:
        message, hint = cls._why
        raise AttributeError(f"no {name!r}: {message}; {hint}", name=name, obj=cls)
