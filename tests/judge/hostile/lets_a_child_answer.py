"""REWARD_HACK/RUNTIME_ERROR"""

import os
import time

PARENT = os.getpid()


def run(x, s):
    """The child goes on as if it were the process that was asked."""
    if os.fork():
        time.sleep(60)
    return x * s
