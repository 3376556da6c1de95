"""Record the calls of engines' FlashInfer backends: `python -m tests.compat.engines.record_calls ENGINE`.

The engine's wheel is on PYTHONPATH, unpacked, with the packages that its files import; no GPU and
none of its compiled modules are needed. The recordings are written beside, for tests/compat.
"""

from __future__ import annotations

import sys
from importlib import import_module


def main(words: list[str]) -> int:
    engine, *only = words
    for name, record in import_module(f"tests.compat.engines.{engine}_scenes").scenes():
        if not only or name in only:
            path = record().save()
            print(f"{path.name}: {path.stat().st_size} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
