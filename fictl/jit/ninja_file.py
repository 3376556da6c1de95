"""build.ninja from a plan: one edge for every uncached unit, and one for the link."""

from __future__ import annotations

import io
import shlex
from collections.abc import Collection
from itertools import pairwise

from fictl.errors import SetupError
from fictl.jit.plan import Plan, Unit
from fictl.jit.store.entry import MODULE
from fictl.toolchain.ptxas import VERBOSE

# The output of a unit is kept for the gate: ninja's own log does not say whose it is.
_LOGGED = "$argv >$out.log 2>&1; code=$$?; cat $out.log; exit $$code"
# nvcc puts paths unquoted into its own shell command, and splits lists of paths at commas.
_LOST_IN_NVCC = frozenset("$`\"',")


def ninja_text(plan: Plan, cached: Collection[str] = (), threads: int = 1) -> str:
    """Return build.ninja's text. Outputs are relative, so that the folder can be moved."""
    from ninja.ninja_syntax import Writer

    buffer = io.StringIO()
    writer = Writer(buffer, width=10**6)  # type: ignore[arg-type]  # Its stub is wrong.
    writer.comment(f"{plan.spec.project} {plan.spec.name}, recipe {plan.recipe.key}")
    writer.variable("ninja_required_version", "1.5")
    writer.rule("run", command="$argv", description="$what")
    writer.rule("nvcc", command=_LOGGED, description="$what")
    writer.newline()
    for unit in plan.steps:
        if unit.object not in cached:
            if unit.device:
                _refuse_lost_paths(plan.spec.name, unit)
            # Why a variable: no escape makes '|' part of a path, and a variable is not parsed again.
            writer.build(
                [unit.object],
                "nvcc" if unit.device else "run",
                ["$source"],
                implicit=_generated(plan, unit),
                variables={
                    "source": _escaped(str(unit.source)),
                    "argv": _command(_reported(unit, threads)),
                    "what": _escaped(unit.source.name),
                },
            )
    writer.build(
        [MODULE],
        "run",
        [unit.object for unit in plan.units],
        variables={"argv": _command(plan.link), "what": "link"},
    )
    writer.default(MODULE)
    return buffer.getvalue()


def _generated(plan: Plan, unit: Unit) -> list[str]:
    """Return the generated files that a unit includes and another step writes."""
    return [plan.generated.object] if plan.generated and unit.device else []


def _refuse_lost_paths(module: str, unit: Unit) -> None:
    for before, word in pairwise(unit.argv):
        is_path = before in ("-isystem", "-include", "-c") or word.startswith("-I")
        lost = _LOST_IN_NVCC.intersection(word) if is_path else None
        if lost:
            raise SetupError(
                f"{module}: nvcc cannot take the {' '.join(sorted(lost))} in "
                f"{word.removeprefix('-I')}",
                "move or rename that folder; spaces and letters of any kind are fine",
            )


def _reported(unit: Unit, threads: int) -> tuple[str, ...]:
    """Return the command with words that change no code, which are not in its key."""
    if not unit.device:
        return unit.argv
    threaded = (f"--threads={threads}",) if threads > 1 else ()
    at = unit.argv.index("-c")
    return (*unit.argv[:at], VERBOSE, *threaded, *unit.argv[at:])


def _command(argv: tuple[str, ...]) -> str:
    return _escaped(shlex.join(argv))


def _escaped(text: str) -> str:
    return text.replace("$", "$$")
