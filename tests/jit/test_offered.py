"""Names of fictl.jit that families of the shipped ops offer."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fictl.jit
import fictl.ops


def test_attention_variants_are_defined_under_this_name() -> None:
    from fictl.jit import define_variant

    assert define_variant is fictl.ops.define_variant is fictl.jit.define_variant


@pytest.mark.parametrize("name", ["define_variants", "rmsnorm", "TopKTieBreak", "_secret"])
def test_another_name_is_an_attribute_that_is_missing(name: str) -> None:
    assert not hasattr(fictl.jit, name)


def test_a_module_is_imported_without_a_look_at_the_ops() -> None:
    code = (
        "from fictl.jit import JitSpec, build, store; import sys; "
        "print('fictl.project.shared' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
