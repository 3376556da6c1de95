from __future__ import annotations

import pytest

from fictl.dtype import DTYPES, parse_dtype
from fictl.errors import InvalidValue


@pytest.mark.parametrize("name", ["bfloat16", "bf16", "torch.bfloat16", " BF16 "])
def test_every_name_of_a_dtype_parses(name):
    assert parse_dtype(name) is DTYPES["bfloat16"]


def test_a_torch_dtype_as_text_parses():
    torch = pytest.importorskip("torch")
    assert parse_dtype(str(torch.float8_e4m3fn)).short == "e4m3"


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_every_full_name_is_torchs(dtype):
    torch = pytest.importorskip("torch")
    assert getattr(torch, dtype.name).itemsize == dtype.bytes


@pytest.mark.parametrize(
    ("name", "size"), [("float64", 8), ("f32", 4), ("f16", 2), ("e4m3", 1), ("e2m1", 1), ("b8", 1)]
)
def test_bytes_of_one_element(name, size):
    assert parse_dtype(name).bytes == size


def test_names_are_unique():
    names = [name for dtype in DTYPES.values() for name in (dtype.name, dtype.short)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["", "half", "float", "fp16x2"])
def test_an_unknown_dtype_is_quoted_beside_the_known_ones(name):
    with pytest.raises(InvalidValue) as caught:
        parse_dtype(name)
    assert repr(name) in caught.value.message
    assert "bf16 (bfloat16)" in caught.value.hint
