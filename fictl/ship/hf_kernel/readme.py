"""README.md of an export: the card of a kernel on the hub, and how its functions are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fictl.ship.hf_kernel.raw_function import RawFunction
from fictl.version import VERSION

FILE = "README.md"
_NOTE = (
    "Every argument is given. Where the words below speak of defaults, or of outputs that are "
    "allocated, they speak of the op's own Python function."
)
# The newest libraries that the hub lets a kernel need.
_GLIBC, _GLIBCXX = (2, 28), (3, 4, 24)


@dataclass(frozen=True)
class Card:
    """`variants` are names of folders; `needs` the versions of C libraries that were measured."""

    name: str
    licence: str
    op: str
    functions: Sequence[RawFunction]
    stems: Sequence[str]
    layers: Sequence[str]
    left_out: Sequence[str]
    variants: Sequence[str]

    def text(self) -> str:
        return "\n".join([*self._head(), *self._use(), *self._listed(), *self._tail()]) + "\n"

    def _head(self) -> list[str]:
        return [
            "---",
            f"license: {self.licence.lower()}",
            "library_name: kernels",
            "tags:",
            "- kernel",
            "---",
            "",
            f"# {self.name}",
            "",
            f"`{self.op}`, compiled by fictl {VERSION}. The argument checks are compiled in; "
            "outputs are arguments, which the caller allocates.",
            "",
        ]

    def _use(self) -> list[str]:
        where = "kernel" if len(self.stems) == 1 else f"kernel.{self.stems[0]}"
        function = self.functions[0]
        names = ", ".join(name for name, _ in function.parameters)
        return [
            "```python",
            "from pathlib import Path",
            "from kernels import get_local_kernel",
            "",
            'kernel = get_local_kernel(Path("."))',
            f"{where}.{function.name}({names})",
            "```",
            "",
        ]

    def _listed(self) -> list[str]:
        lines = ["## Functions", "", _NOTE, ""]
        if len(self.stems) > 1:
            modules = ", ".join(f"`{stem}`" for stem in self.stems)
            lines += [f"Each of the modules {modules} has these:", ""]
        for function in self.functions:
            lines += [f"### `{function.signature}`", "", "```text", *_words(function), "```", ""]
        if self.layers:
            lines += ["## Layers", "", *(f"- `layers.{name}`" for name in self.layers), ""]
        if self.left_out:
            lines += ["## Left out", "", *(f"- {why}" for why in self.left_out), ""]
        return lines

    def _tail(self) -> list[str]:
        return ["## Builds", "", *(f"- `{variant}`" for variant in self.variants)]


def too_new(glibc: tuple[int, ...] | None, glibcxx: tuple[int, ...] | None) -> str:
    """Say which libraries a build needs that the hub's machines may lack; '' if none."""
    pairs = (("glibc", glibc, _GLIBC), ("libstdc++", glibcxx, _GLIBCXX))
    newer = [
        f"{name} {_dots(floor)} (the hub asks for {_dots(most)} at most)"
        for name, floor, most in pairs
        if floor is not None and floor > most
    ]
    return ", ".join(newer)


def _words(function: RawFunction) -> list[str]:
    return [line.rstrip() for line in function.doc.replace("```", "'''").splitlines()]


def _dots(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
