"""TileLangBuilder: a solution whose Python launches TileLang kernels."""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar

from fictl.runnable.builders.python import PythonBuilder


class TileLangBuilder(PythonBuilder):
    language: ClassVar[str] = "tilelang"
    needs: ClassVar[str] = 'TileLang is not installed: pip install "fictl[tilelang]"'

    @staticmethod
    def is_available() -> bool:
        return find_spec("tilelang") is not None
