"""Kernels in NVIDIA's CuTe DSL as a part of a build: compiled to cubins that a launcher includes.

The library is needed to build such a module, and not to run it.
"""

from fictl.jit.cute.step import LIBRARY, command, own_digest, require

__all__ = ["LIBRARY", "command", "own_digest", "require"]
