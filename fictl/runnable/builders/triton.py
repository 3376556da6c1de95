"""TritonBuilder: a solution whose Python launches Triton kernels."""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar

from fictl.runnable.builders.python import PythonBuilder


class TritonBuilder(PythonBuilder):
    language: ClassVar[str] = "triton"
    needs: ClassVar[str] = 'Triton is not installed: pip install "fictl[triton]"'

    @staticmethod
    def is_available() -> bool:
        return find_spec("triton") is not None
