"""The table of what check mode finds and does not: each row is on the page, and is true."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from fictl.emu.device import Watched

from .claims import CLAIMS, HEAD, table
from .planted import COPIES, MEMORY, RACES, SYNC
from .planted_warps import LANES, MASKS, MORE, PARTS

PAGE = Path(__file__).parents[2] / "docs" / "emulation.md"
UNSEEN = Path(__file__).with_name("kernels") / "defects_unseen.cu"
PLANTED = {
    defect.name: defect.kind
    for defects in (MEMORY, RACES, COPIES, SYNC, LANES, MASKS, PARTS, MORE)
    for defect in defects
}


def test_the_page_has_the_rows_that_are_held_and_no_others() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = text[text.index(HEAD) :].partition("\n\n")[0]
    assert shown == table(), f"docs/emulation.md should have\n{table()}"


def test_every_row_is_held() -> None:
    assert all(claim.kernels for claim in CLAIMS)
    assert len({claim.defect for claim in CLAIMS}) == len(CLAIMS)


def test_what_is_found_is_planted_under_that_kind() -> None:
    found = {name: claim.kind for claim in CLAIMS if claim.kind for name in claim.kernels}
    assert found == PLANTED


def test_what_is_not_found_is_each_a_kernel() -> None:
    names = set(
        re.findall(r"^(?:DEFECT\(|extern \"C\" int )(\w+)", UNSEEN.read_text(), re.MULTILINE)
    )
    assert names == {name for claim in CLAIMS if not claim.kind for name in claim.kernels}


@pytest.mark.parametrize("bug", [True, False], ids=["bug", "twin"])
@pytest.mark.parametrize(
    "name", [name for claim in CLAIMS if not claim.kind for name in claim.kernels]
)
def test_what_is_not_found_passes_unseen(
    emulate, device, schedule, monkeypatch, name: str, bug: bool
) -> None:
    """One that is found from now on moves to another row."""
    monkeypatch.setenv("FICTL_EMU_TIMEOUT", "10")
    memory = {name: (ctypes.c_float * 1024)(*range(1024)) for name in "xy"}
    flags = (ctypes.c_int * 64)()
    device.watch(
        [
            *(
                Watched(n, ctypes.addressof(m), 4, (1024,), (1,), n == "y")
                for n, m in memory.items()
            ),
            Watched("flags", ctypes.addressof(flags), 4, (64,), (1,), True),
        ]
    )
    library = emulate("defects_unseen.cu", checked=True)
    device.run_under(schedule)
    assert getattr(library, name)(bug, memory["x"], memory["y"], flags, 128) == 0
    assert [report.text() for report in device.take_reports()] == []
