"""Which remarks of ptxas fail a build."""

from __future__ import annotations

import pytest

from fictl.errors import InvalidValue
from fictl.jit.gate.refused import ANY, checked_bytes, checked_codes, cure, is_refused
from fictl.toolchain.ptxas import Remark

_WORDS = "Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
_IGNORED = "Potential Performance Loss: 'setmaxnreg' ignored"


@pytest.mark.parametrize(
    "text",
    [
        f"{_IGNORED}; unable to determine register count at entry.",
        f"{_IGNORED} to maintain compatibility into 'extern' call.",
        f"{_WORDS}the presence of Extern calls in the function 'f'",
        f"{_WORDS}wgmma pipeline crossing function boundary at a function call in the function 'f'",
        f"{_WORDS}insufficient register resources for the wgmma pipeline in the function 'f'",
        f"{_WORDS}non wgmma instructions defining input registers of a wgmma between start and end",
        f"{_WORDS}non wgmma instructions reading accumulator registers of  a wgmma between start",
        f"{_WORDS}non wgmma instructions defining accumulator registers of a wgmma between start",
        f"{_WORDS}ill formed pipeline stage in the function 'f'",
        f"{_WORDS}program dependence on compiler-inserted WG.DP in divergent path in the function 'f'",
        "warpgroup.arrive is injected in around line 9 by compiler to allow use of registers in GMMA",
        "warpgroup.wait is injected in around line 9 by compiler to allow use of registers defined by "
        "GMMA in function 'f'",
    ],
)
def test_every_remark_on_wgmma_and_setmaxnreg_has_a_cure_whatever_its_number(text) -> None:
    remark = Remark("C9999", text)
    assert is_refused(remark, ())
    assert cure(remark)
    assert not is_refused(remark, ("C9999",))
    assert not is_refused(remark, (ANY,))
    assert is_refused(remark, ("C7508",))


@pytest.mark.parametrize("code", ["C7508", "C7510", "C7515", "C7519"])
def test_a_known_number_is_refused_whatever_its_words(code) -> None:
    assert is_refused(Remark(code, "other words"), ())


@pytest.mark.parametrize("code", ["C7504", "C7522", "C0001", "C75100"])
def test_other_remarks_pass(code) -> None:
    assert not is_refused(Remark(code, "something about textures"), ())


@pytest.mark.parametrize("codes", ["C7519", ("7519",), (7519,), ("C75",), ("all",)])
def test_what_is_no_list_of_numbers_is_refused(codes) -> None:
    with pytest.raises(InvalidValue, match="allowed_remarks="):
        checked_codes(codes)


def test_lists_of_numbers_are_taken() -> None:
    assert checked_codes(["C7519", ANY]) == ("C7519", ANY)
    assert checked_codes(()) == ()


@pytest.mark.parametrize("count", [-1, True, 1.5, "0"])
def test_what_is_no_number_of_bytes_is_refused(count) -> None:
    with pytest.raises(InvalidValue, match="max_spill_bytes="):
        checked_bytes(count)


def test_limits_on_spills_are_taken() -> None:
    assert [checked_bytes(count) for count in (None, 0, 64)] == [None, 0, 64]
