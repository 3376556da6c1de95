"""GPUs for ranks: one for each."""

from __future__ import annotations

from fictl.errors import SetupError
from fictl.toolchain import visible_gpus


def require_gpus(ranks: int) -> None:
    """Raise SetupError if there are GPUs, and too few for these ranks."""
    here = len(visible_gpus())
    if 0 < here < ranks:
        raise SetupError(
            f"needs {ranks} GPUs, {here} {'is' if here == 1 else 'are'} visible",
            "--device emu runs the ranks on the emulated device",
        )
