"""Rewrites code that nvcc accepts and a host compiler rejects."""

from __future__ import annotations

import re

# A member template of a dependent type, called without the keyword `template`.
_DEPENDENT = re.compile(r"(>::|\)\s*\.)(?!template\b)(\w+<[^<>;(){}]*>\()")
# CUDA's __noinline__, but not inside __attribute__((__noinline__)) of host headers, which a macro
# would change too. The word comes before its lookbehinds: the other order is ten times as slow.
_NO_INLINE = re.compile(r"__noinline__\b(?<![\w(,]__noinline__)(?<![(,]\s__noinline__)(?!\s*[,)])")


def strict(text: str) -> str:
    text = _NO_INLINE.sub("__attribute__((noinline))", text)
    return _DEPENDENT.sub(r"\1template \2", text)
