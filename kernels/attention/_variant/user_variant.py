"""UserVariant: what a user does to scores, as the C++ that a module is built with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UserVariant:
    """C++ of a variant.

    `text` stands outside of any namespace, and defines the struct `name`, which derives from
    fictl::attention::Plain; `name::of(const double*)` makes one from the values of `scalars`.
    """

    name: str
    text: str
    scalars: tuple[str, ...] = ()
