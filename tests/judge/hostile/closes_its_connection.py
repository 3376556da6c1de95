"""RUNTIME_ERROR"""

import os


def run(x, s):
    os.closerange(3, 256)
    return x * s
