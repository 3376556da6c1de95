"""PASSED"""

import os
import sys

CALLS = []


def run(x, s):
    CALLS.append(1)
    if len(CALLS) == 1:
        sys.stdout.write("{}\n" * (1 << 20))
        sys.stdout.flush()
        for _ in range(64):
            os.write(2, b"x" * (1 << 17))
    return x * s
