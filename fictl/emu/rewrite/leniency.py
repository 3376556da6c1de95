"""Code that nvcc's front end accepts and a host compiler does not."""

from __future__ import annotations

import re

# A template of a dependent type is called without saying `template`.
_DEPENDENT = re.compile(r"(>::|\)\s*\.)(?!template\b)(\w+<[^<>;(){}]*>\()")
# A qualifier of CUDA's outside of the attributes that host headers write it in, which a macro would
# change, too. The word comes first: a search that begins with what is before it takes ten times as
# long.
_NO_INLINE = re.compile(r"__noinline__\b(?<![\w(,]__noinline__)(?<![(,]\s__noinline__)(?!\s*[,)])")


def strict(text: str) -> str:
    text = _NO_INLINE.sub("__attribute__((noinline))", text)
    return _DEPENDENT.sub(r"\1template \2", text)
