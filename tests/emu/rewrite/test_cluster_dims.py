"""`__cluster_dims__` becomes the first statement of the kernel."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.cluster_dims import CLUSTER_DIMS, cluster_dims
from fictl.emu.rewrite.scan import apply


def rewritten(code: str) -> str:
    code = code.replace("DIMS", CLUSTER_DIMS)
    return apply(code, cluster_dims(code, code.index(CLUSTER_DIMS)))


@pytest.mark.parametrize(
    ("code", "result"),
    [
        (
            "void DIMS(2, 1, 1) k() { f(); }",
            "void  k() { ::fictl_emu_cluster_dims(2, 1, 1); f(); }",
        ),
        ("DIMS(N) void k(T x = {}) {}", " void k(T x = {}) { ::fictl_emu_cluster_dims(N);}"),
        ("void DIMS(2) k(); void g() {}", "void  k(); void g() {}"),
    ],
    ids=["before the name", "before the type", "a declaration"],
)
def test_the_attribute_moves_into_the_body(code: str, result: str) -> None:
    assert rewritten(code) == result


def test_no_line_moves() -> None:
    code = "void DIMS(2,\n  1) k() {\n  f();\n}"
    assert rewritten(code).splitlines()[2] == "  f();"
