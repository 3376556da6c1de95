"""The compiler of the emulated device: preprocess, rewrite, compile. ninja runs it as a program.

python compile.py g++ FLAGS... -c launcher.cu -o launcher.o
"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

if __name__ == "__main__":  # Started by path: fictl may not be on sys.path.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from fictl.errors import FictlError

HEADERS = Path(__file__).resolve().parent / "include"


def compile_unit(words: list[str]) -> int:
    """Run a compile command, given as words; return the compiler's exit code."""
    from fictl.emu.rewrite import rewrite

    at = words.index("-c")
    compiler, source, output = words[:at], words[at + 1], words[at + 3]
    preprocess = [*compiler, "-x", "c++", "-E", source]
    preprocessed = subprocess.run(preprocess, stdout=subprocess.PIPE)
    if preprocessed.returncode:
        return preprocessed.returncode
    text = preprocessed.stdout.decode("utf-8", "surrogateescape")
    system = [folder for word, folder in pairwise(compiler) if word == "-isystem"]
    rewritten = rewrite(text, [str(HEADERS), *system])
    # The preprocessed text already contains the -include files.
    flags = _without(compiler, "-include")
    return subprocess.run(
        [*flags, *_main_file(flags, source), "-x", "c++-cpp-output", "-c", "-", "-o", output],
        input=rewritten.encode("utf-8", "surrogateescape"),
    ).returncode


def _main_file(flags: list[str], source: str) -> tuple[str, ...]:
    """Return options that give clang the source's name, which it ignores in line markers."""
    is_clang = "-fno-delayed-template-parsing" in flags
    return ("-Xclang", "-main-file-name", "-Xclang", source) if is_clang else ()


def _without(words: list[str], option: str) -> list[str]:
    """Remove each occurrence of an option, and its value."""
    drop = {
        place + offset for place, word in enumerate(words) if word == option for offset in (0, 1)
    }
    return [word for place, word in enumerate(words) if place not in drop]


def main() -> int:
    try:
        return compile_unit(sys.argv[1:])
    except FictlError as error:
        raise SystemExit(error.message) from None


if __name__ == "__main__":
    raise SystemExit(main())
