from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.rename.syntax import Syntax


def test_offsets_are_in_letters_not_in_bytes(twice) -> None:
    text = "é = 'ü'; f(twice, x.twice)\n"
    syntax = Syntax(text, Renaming(twice, replace(twice, module="thrice")), own=True)
    assert syntax.ours == {text.index("twice")}
    assert text.rindex("twice") in syntax.others


def test_an_empty_file_has_none(twice) -> None:
    syntax = Syntax("", Renaming(twice, replace(twice, module="thrice")), own=True)
    assert (syntax.ours, syntax.others) == (set(), set())


@pytest.mark.parametrize("own", [True, False])
def test_kernels_of_another_module_have_names_of_their_own(twice, own: bool) -> None:
    text = "kernel = KernelModule(module)\nkernel.twice(1)\n"
    syntax = Syntax(text, Renaming(twice, replace(twice, module="thrice")), own)
    assert (text.index("twice") in syntax.ours) is own
