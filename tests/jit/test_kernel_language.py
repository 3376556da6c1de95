from __future__ import annotations

from pathlib import Path

import pytest

from fictl.jit.kernel_language import CUTE, TRITON, KernelLanguage, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("import triton\n", TRITON),
        ("import cutlass\n", CUTE),
        ("from cutlass import cute\n", CUTE),
        ("import cutlass.cute as cute\n", CUTE),
        ("# import cutlass\nimport triton\n", TRITON),
        ("import cutlass_library\n", TRITON),
        ("", TRITON),
    ],
)
def test_a_kernel_is_in_what_it_imports(
    tmp_path: Path, text: str, language: KernelLanguage
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(text)
    assert language_of(path) is language


def test_a_missing_file_is_for_the_build_to_say(tmp_path: Path) -> None:
    assert language_of(tmp_path / "kernel.py") is TRITON
