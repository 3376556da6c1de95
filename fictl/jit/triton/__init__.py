"""Kernels in Triton as a part of a build: compiled to cubins that a launcher includes.

Triton is needed to build such a module, and not to run it.
"""

from fictl.jit.triton.step import command, own_digest, require

__all__ = ["command", "own_digest", "require"]
