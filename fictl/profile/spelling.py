"""Names of kernels as NVIDIA's tools spell them."""

from __future__ import annotations

import re

from fictl.toolchain.kernel_name import readable

_CAST = re.compile(r"\((?:unsigned |signed )?(?:int|bool|long|short|char)\)(?=[-\w])")


def respelt(kernel: str) -> str:
    """Spell a kernel as people do: `a::K<8>` for `void a::K<(int)8>(float *)`."""
    return readable(_CAST.sub("", kernel))
