"""Launchers in a CUDA text, and a generated binding for a text without one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fictl.errors import UsageError

FORM = "void scale(const Launch& launch, View out, View input, double factor)"

_LAUNCH = r"const\s+(?:::)?(?:fictl::)?Launch\s*&\s*\w*"
_TOKEN = re.compile(
    rf"""
    "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])'            # braces in quotes do not count
    | \bnamespace\s*(?P<namespace>[\w:]*)\s*\{{
    | (?P<hidden>\btemplate\s*<[^;{{}}]*>\s*|\bstatic\s+|\binline\s+)?
      \bvoid\s+(?P<name>\w+)\s*\(\s*{_LAUNCH}\s*(?:,(?P<parameters>[^()]*))?\)\s*\{{
    | (?P<brace>[{{}}])
    """,
    re.VERBOSE,
)
_SIGNATURE = re.compile(
    rf"\s*(?:void\s+)?(?P<name>[\w:]+)\s*\(\s*(?:{_LAUNCH}\s*,)?(?P<parameters>[^()]*)\)\s*;?\s*"
)
_PARAMETER = re.compile(r"\s*(?P<type>[\w:<>,&*\s]*[\w:>&*]\s*?)(?:\s+|(?<=[&*]))(?P<name>\w+)\s*")
_VIEW = re.compile(r"(?:const\s+)?(?:::)?(?:fictl::)?View(?:\s+const)?\s*&?")
_COMMA = re.compile(r",(?![^<]*>)")


@dataclass(frozen=True)
class Launcher:
    """One launcher. `parameters`: (type, name) of each after `const Launch&`."""

    namespace: str
    name: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, path: str, parameters: str) -> Launcher:
        """Parse a launcher; `path` as in `mine::scale`."""
        namespace, _, name = path.removeprefix("::").rpartition("::")
        matches = [_PARAMETER.fullmatch(text) for text in _COMMA.split(parameters) if text.strip()]
        for match in matches:
            if match is None:
                raise UsageError(
                    f"{path}({parameters}): cannot read its parameters", f"as in {FORM}"
                )
        return cls(namespace, name, tuple((m["type"].strip(), m["name"]) for m in matches if m))

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(name for kind, name in self.parameters if _VIEW.fullmatch(kind))

    @property
    def declared(self) -> str:
        return ", ".join(f"{kind} {name}" for kind, name in self.parameters)


def launchers(code: str) -> Iterator[Launcher]:
    """Yield launchers that other files can call: not in a class, anonymous namespace or function.

    `code` has no comments.
    """
    scopes: list[str] = []  # For every open brace the namespace that it opens, else ''.
    for match in _TOKEN.finditer(code):
        if match["brace"] == "}":
            del scopes[-1:]
        elif match["name"]:
            if all(scopes) and not match["hidden"]:
                yield Launcher.parse("::".join((*scopes, match["name"])), match["parameters"] or "")
            scopes.append("")
        elif match["namespace"] is not None or match["brace"]:
            scopes.append(match["namespace"] or "")


def chosen(code: str, functions: Iterable[str]) -> tuple[Launcher, ...]:
    """Return all launchers of a text, or these: by name, or by signature if only included."""
    known = {launcher.name: launcher for launcher in launchers(code)}
    picked = tuple(_pick(function, known) for function in functions) or tuple(known.values())
    if not picked:
        raise UsageError("no launcher is defined in this text", f"define one, as in {FORM}")
    for launcher in picked:
        if not launcher.views:
            raise UsageError(
                f"{launcher.name} takes no View, so that nothing says on which device it runs",
                "pass a binding= that says it",
            )
    return picked


def _pick(function: str, known: dict[str, Launcher]) -> Launcher:
    if function in known:
        return known[function]
    signature = _SIGNATURE.fullmatch(function)
    if signature is None:
        names = ", ".join(known) or "none"
        raise UsageError(
            f"there is no launcher {function!r}; those found: {names}", f"write {FORM!r}"
        )
    return Launcher.parse(signature["name"], signature["parameters"])


def binding(exported: Iterable[Launcher]) -> str:
    """Write C++ that checks that all tensors are on one device, and calls the launcher there."""
    return "#include <binding/ffi.h>\n" + "".join(map(_export, exported))


def _export(launcher: Launcher) -> str:
    name, (first, *others) = launcher.name, launcher.views
    calls = [f'::fictl::check_device(__func__, "{view}", {view});' for view in launcher.views]
    calls += [
        f'::fictl::check_same_device(__func__, "{other}", {other}, "{first}", {first});'
        for other in others
    ]
    checks = "\n  ".join(calls)
    arguments = ", ".join(argument for _, argument in launcher.parameters)
    path = f"::{launcher.namespace}::{name}" if launcher.namespace else f"::{name}"
    opening = f"namespace {launcher.namespace} {{\n" if launcher.namespace else ""
    return f"""
{opening}using namespace fictl;
void {name}(const Launch& launch, {launcher.declared});
{"}" if opening else ""}
namespace fictl::inline_binding {{
void {name}({launcher.declared}) {{
  {checks}
  ::fictl::call(__func__, {first}, {path}, {arguments});
}}
}}
TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, fictl::inline_binding::{name});
"""
