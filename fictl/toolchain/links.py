"""Links between the GPUs of a machine, as `nvidia-smi topo -m` draws them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping

from fictl.errors import FictlError
from fictl.process import run

_PROGRAM = "nvidia-smi"
_SECONDS = 15.0
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_GPU = re.compile(r"GPU([0-9]{1,4})")
_LINK = re.compile(r"NV[0-9]{1,3}|PIX|PXB|PHB|NODE|SYS")
# Best first; any number of NVLinks is better than all of these.
_BUSES = ("PIX", "PXB", "PHB", "NODE", "SYS")

# The link of two GPUs, by their numbers of nvidia-smi, the smaller first.
Links = Mapping[tuple[int, int], str]


def read_links() -> Links:
    """Return the links between all GPUs; none if nvidia-smi does not tell."""
    if shutil.which(_PROGRAM) is None:
        return {}
    try:
        done = run([_PROGRAM, "topo", "-m"], timeout=_SECONDS)
    except FictlError:
        return {}
    return {} if done.code else links_in(done.output)


def links_in(text: str) -> dict[tuple[int, int], str]:
    """Read the matrix: a line of names, then a line for each GPU, network card or switch."""
    links: dict[tuple[int, int], str] = {}
    columns: list[str] = []
    for line in _COLOURS.sub("", text).splitlines():
        cells = [cell.strip() for cell in line.split("\t")]
        row = _GPU.fullmatch(cells[0])
        if row is None:
            columns = cells if any(map(_GPU.fullmatch, cells[1:])) else columns
            continue
        for name, link in zip(columns[1:], cells[1:], strict=False):
            column = _GPU.fullmatch(name)
            if column and _LINK.fullmatch(link):
                one, other = sorted((int(row[1]), int(column[1])))
                links[one, other] = link
    return links


def speed(link: str) -> int:
    """Rank a link: more is faster, 0 is unknown."""
    if link.startswith("NV"):
        return len(_BUSES) + int(link.removeprefix("NV"))
    return len(_BUSES) - _BUSES.index(link) if link in _BUSES else 0
