"""Launch of a kernel that nothing launches yet: as said, else guessed from its body."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fictl.errors import UsageError
from fictl.scaffold.new.brought.kernel_source import KernelSource
from fictl.scaffold.new.brought.launch_sizes import block_sizes, grid_sizes, to_paste
from fictl.scaffold.new.brought.sizes import Sizes
from fictl.scaffold.new.guess import Guess
from fictl.scaffold.new.request import NewOpRequest

_NOISE = re.compile(
    r"static_cast<[^<>]*>|\((?:u?int(?:32|64)?_t|int|long long|long|size_t)\)|[()\s]"
)
_THREAD = re.compile(
    r"blockIdx\.x\*([\w.]+)\+threadIdx\.x|threadIdx\.x\+blockIdx\.x\*([\w.]+)"
    r"|([\w.]+)\*blockIdx\.x\+threadIdx\.x|threadIdx\.x\+([\w.]+)\*blockIdx\.x"
)
_WARP = r"(?:/(?:32|warpSize|k?_?WARP_?SIZE)\b|>>5\b)"
# The number of a warp in a grid: of a thread's number, in place or by name, or of its block's warps.
_WARP_OF_THREAD = re.compile(_WARP, re.IGNORECASE)
_WARP_OF_BLOCK = re.compile(
    rf"blockIdx\.x\*(?:blockDim\.x{_WARP}|(\w+))\+threadIdx\.x{_WARP}", re.IGNORECASE
)
# A bracket makes the difference: (blockIdx.x * 256 + threadIdx.x) / 32 divides a thread's number.
_WHOLE_THREAD = re.compile(r"threadIdx\.x\s*\)\s*(?:/|>>)")
_NAMED_THREAD = re.compile(
    r"(\w+)\s*=[^;=]*\b(?:blockIdx|threadIdx)\.x[^;=]*(?:blockIdx|threadIdx)\.x"
)
_MORE_DIMENSIONS = re.compile(r"(?:blockIdx|threadIdx|blockDim|gridDim)\.[yz]")
_DYNAMIC = re.compile(r"\bextern\s+__shared__")
_THREADS = "256"
_WARP_THREADS = 32
_HOST = "point --kernel at the host function that launches it"
_WORDS = {"element": "a thread an element", "warp": "a warp a row", "row": "a block a row"}


@dataclass(frozen=True)
class KernelUnit:
    """A guess from a kernel's body: a thread an `element`, a `warp` or a block (`row`)
    a row. `threads` of a block are a C++ expression.
    """

    name: str
    threads: str

    @property
    def per_row(self) -> bool:
        return self.name != "element"

    @property
    def words(self) -> str:
        return _WORDS[self.name]


@dataclass(frozen=True)
class KernelLaunch:
    """Sizes of grid and block as C++ expressions; `guesses` are about those that nothing said."""

    unit: KernelUnit
    grid: tuple[str, ...]
    block: tuple[str, ...]
    guesses: tuple[Guess, ...]


def unit_of(source: KernelSource) -> KernelUnit | None:
    """None for a host function, which knows how it launches."""
    function = source.function
    if not function.is_global:
        return None
    body = _NOISE.sub("", function.body)
    warps, thread = _WARP_OF_BLOCK.search(body), _THREAD.search(body)
    if warps and not _WHOLE_THREAD.search(function.body):
        from_warps = f"{_of_scope(source, warps[1])} * {_WARP_THREADS}" if warps[1] else ""
        return KernelUnit("warp", _of_scope(source, function.bounds) or from_warps or _THREADS)
    multiple = next(filter(None, thread.groups()), "") if thread else ""
    threads = (multiple if multiple != "blockDim.x" else "") or function.bounds
    name = "row" if thread is None else _unit(function.body, body, thread)
    return KernelUnit(name, _of_scope(source, threads) or _THREADS)


def _of_scope(source: KernelSource, threads: str) -> str:
    """A number of threads, or the name of a constant, as the launcher can write it."""
    threads = source.given.get(threads, threads)
    named = threads and not threads.isdecimal() and "::" not in threads
    return source.function.scope + threads if named else threads


def launch_of(source: KernelSource, request: NewOpRequest, sizes: Sizes) -> KernelLaunch | None:
    """The launch that --grid and --block say, and the rest as the kernel's body lets one guess."""
    unit = unit_of(source)
    if unit is None:
        return None
    block = block_sizes(request.block) if request.block else (unit.threads,)
    threads = " * ".join(block)
    grid = grid_sizes(request.grid, sizes) if request.grid else (_grid(unit.name, threads, sizes),)
    return KernelLaunch(unit, grid, block, _guesses(request, unit, grid, block, sizes))


def _unit(text: str, body: str, thread: re.Match[str]) -> str:
    """`body` is the text without spaces and brackets, where `thread` is a thread's number."""
    named = _NAMED_THREAD.search(text)
    of_name = named and re.search(rf"\b{named[1]}\s*{_WARP}", text.replace(" ", ""), re.IGNORECASE)
    return "warp" if of_name or _WARP_OF_THREAD.match(body[thread.end() :]) else "element"


def _grid(unit: str, threads: str, sizes: Sizes) -> str:
    if unit == "row":
        return sizes.rows
    if unit == "element":
        return f"device::ceil_div({sizes.count}, {threads})"
    return f"device::ceil_div({sizes.rows} * {_WARP_THREADS}, {threads})"


def checked_launch(source: KernelSource, request: NewOpRequest) -> KernelSource:
    """The kernel; refuses sizes that a host function has no use for, and a launch that nothing tells."""
    if source.function.is_global:
        _refuse_unseen(source, request)
    elif request.grid or request.block:
        raise UsageError(
            f"{source.at} is a host function, which launches its kernel itself",
            "leave --grid and --block out, or name the kernel",
        )
    return source


def _refuse_unseen(source: KernelSource, request: NewOpRequest) -> None:
    body = source.function.body
    dynamic = _DYNAMIC.search(body)
    if dynamic:
        raise UsageError(
            f"{source.at} has {dynamic[0]}, and its size cannot be seen from it", _HOST
        )
    dimensions = _MORE_DIMENSIONS.search(body)
    unseen = dimensions[0] if dimensions else "" if "blockIdx.x" in body else "no blockIdx.x"
    needs_block = re.search(r"(?:threadIdx|blockDim)\.[yz]", body) and not request.block
    if unseen and (needs_block or not request.grid):
        raise UsageError(
            f"{source.at} has {unseen}, so how it is launched cannot be seen from it",
            f"say it over the op's axes, as in --grid rows,heads --block 32,8; or {_HOST}",
        )


def _guesses(
    request: NewOpRequest,
    unit: KernelUnit,
    grid: tuple[str, ...],
    block: tuple[str, ...],
    sizes: Sizes,
) -> tuple[Guess, ...]:
    about = tuple(
        name for name, text in (("grid", request.grid), ("block", request.block)) if not text
    )
    if not about:
        return ()
    values = {"grid": ", ".join(grid), "block": ", ".join(block)}
    shown = ", ".join(f"{name} = {values[name]}" for name in about)
    are = f"{' and '.join(about)} {'are' if len(about) > 1 else 'is'} a guess"
    why = f"{unit.words}: " if "grid" in about else ""
    other = "element" if unit.name == "row" else "warp" if unit.name == "element" else "row"
    return (Guess(about, f"{are}, {why}{shown}; another, as in", to_paste(other, sizes)),)
