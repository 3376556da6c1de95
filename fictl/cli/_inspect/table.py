"""The table of a module: a row for each kernel and architecture."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.inspect.metrics import (
    BOUNDS,
    GIVEN,
    LAUNCHER,
    LaunchSize,
    assumed_block,
    occupancy_of,
)
from fictl.inspect.mnemonics import pipe_of
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.inspect.inspected import Inspected
    from fictl.inspect.kernel import InspectedKernel

_COLUMNS = (
    "kernel",
    "arch",
    "registers",
    "spill B",
    "local B",
    "shared B",
    "barriers",
    "occupancy",
    "instructions",
    "mix",
)


def show_table(out: Console, one: Inspected, launch: LaunchSize) -> None:
    origin = f" ({one.origin})" if one.origin else ""
    title = f"{one.module}  {' '.join(one.archs)}{origin}".rstrip()
    out.print(title, style="bold", markup=False, soft_wrap=True)
    for mark, text in (("[yellow]![/]", one.warning), ("[yellow]![/]", one.note)):
        if text:
            out.print(f"  {mark}", end=" ")
            out.print(text, markup=False, soft_wrap=True)
    if one.kernels:
        names = short_names(one.kernels)
        rows = [_row(names[kernel.mangled], kernel, launch) for kernel in one.kernels]
        console.print_table(console.Table(_COLUMNS, rows))
        for kernel in one.kernels:
            for remark in kernel.remarks or ():
                out.print("  [yellow]![/]", end=" ")
                text = f"{names[kernel.mangled]}  {kernel.arch}: ptxas {remark}"
                out.print(text, markup=False, soft_wrap=True)


def short_names(kernels: Iterable[InspectedKernel]) -> dict[str, str]:
    """Short names by mangled name, without the namespace that all share."""
    names = {kernel.mangled: kernel.name for kernel in kernels}
    spaces = {_namespace(name) for name in names.values()}
    common = spaces.pop() if len(spaces) == 1 else ""
    if not common:
        return names
    return {mangled: name.replace(f"{common}::", "") for mangled, name in names.items()}


def _namespace(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[0]


def _row(name: str, kernel: InspectedKernel, launch: LaunchSize) -> tuple[str, ...]:
    occupancy = occupancy_of(kernel, launch)
    block = assumed_block(kernel, launch)
    occupied = "- (unknown block size: --threads)"
    if occupancy and block:
        size = f"of {block.threads}{_SIZES[block.origin]}"
        blocks = f"{counted(occupancy.blocks, 'block')} {size}"
        occupied = f"{occupancy.share:.0%} {blocks}: {', '.join(occupancy.limits)}"
    return (
        name,
        kernel.arch,
        _registers(kernel),
        _known(kernel.spill_bytes),
        str(kernel.local),
        str(kernel.shared),
        _known(kernel.barriers),
        occupied,
        str(kernel.instructions),
        _mix(kernel),
    )


# Launch bounds are the most threads that a block may have.
_SIZES = {GIVEN: "", LAUNCHER: "", BOUNDS: " at most"}


def _registers(kernel: InspectedKernel) -> str:
    """Registers at entry, and those that warpgroups have after setmaxnreg."""
    after = "/".join(map(str, kernel.setmaxnreg))
    return f"{kernel.registers} → {after}" if after else str(kernel.registers)


def _mix(kernel: InspectedKernel) -> str:
    """`tensor(HGMMA:8) TMA(UTMALDG:2) LDS.128:4`: instructions of a pipe beside the warps together."""
    words = []
    for pipe, counts in groupby(kernel.mix.items(), lambda item: pipe_of(item[0])):
        text = " ".join(f"{what}:{count}" for what, count in counts)
        words.append(f"{pipe}({text})" if pipe else text)
    return " ".join(words)


def _known(value: int | None) -> str:
    return "-" if value is None else str(value)
