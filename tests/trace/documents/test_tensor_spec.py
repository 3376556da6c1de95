from __future__ import annotations

from fictl.dtype import DTYPES
from fictl.trace.documents.tensor_spec import ELEMENT_TYPES, published_name, torch_name


def test_every_dtype_of_ours_can_be_said_and_is_found_again() -> None:
    names = {name: published_name(name) for name in DTYPES}
    assert {*names.values()} <= {*ELEMENT_TYPES}
    assert [name for name, said in names.items() if torch_name(said) != name] == []
