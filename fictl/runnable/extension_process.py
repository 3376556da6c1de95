"""The process that compiles an extension: python -m fictl.runnable.extension_process FOLDER."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def build(folder: Path) -> None:
    """Compile as the request in the folder says; ninja's output goes to stdout, the caller's log."""
    from torch.utils import cpp_extension

    from fictl.runnable.extension import REQUEST, Request

    request = Request(**json.loads((folder / REQUEST).read_text(encoding="utf-8")))
    cpp_extension.load(
        name=request.name,
        sources=[*request.sources],
        extra_cflags=[*request.cflags],
        extra_cuda_cflags=[*request.cuda_cflags],
        extra_ldflags=[*request.ldflags],
        extra_include_paths=[*request.includes],
        build_directory=str(folder),
        verbose=True,
    )


def main() -> str | None:
    """Return the error for stderr, with which the process fails; None on success."""
    try:
        build(Path(sys.argv[1]))
    except (RuntimeError, ImportError, OSError) as error:
        return f"error: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
