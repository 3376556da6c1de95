"""INCORRECT_NUMERICAL sandboxed"""

import os


def run(x, s):
    for number in (1, os.getppid()):
        try:
            with open(f"/proc/{number}/mem", "rb+", buffering=0) as memory:
                memory.write(b"0")
                return x * s
        except OSError:
            continue
    return x * 0
